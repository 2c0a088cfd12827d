// conversation/messages/question.h: the input of a turn as a message for a model.
#pragma once

#include <vector>

#include "ports/models.h"
#include "schema/facts/context.h"

namespace agentrt::conversation {

// `files`: the files of the input as its context.resolved lists them, with the refs of their stored
// copies or the reasons why they are missing. The message is the same whenever it is made.
ports::Message question_of(const SessionId& session, const std::vector<schema::InputPart>& input,
                           const std::vector<schema::ContextRef>& files);

// The message that replaces the part of a conversation that a compaction covers.
ports::Message continuation_message(const SessionId& session, const std::string& ref);

// "file:PATH" or "output:REF", as in ContextRef::ref.
std::string ref_of(const schema::InputPart& part);

}  // namespace agentrt::conversation
