// cli/views/envelope.h: the parts of a received event that the command line uses.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "schema/facts.h"

namespace agentrt::cli {

struct Envelope {
  std::string type;
  Timestamp timestamp;
  Sequence sequence = 0;
  SessionId session_id;
  ThreadId thread_id;
  TurnId turn_id;
  TaskId task_id;
  JobId job_id;
  ActionId action_id;
  SubagentId subagent_id;
  ModelRequestId model_request_id;
  ToolCallId tool_call_id;
  schema::Json payload{"{}"};

  bool operator==(const Envelope&) const = default;
};
BOOST_DESCRIBE_STRUCT(Envelope, (),
                      (type, timestamp, sequence, session_id, thread_id, turn_id, task_id, job_id,
                       action_id, subagent_id, model_request_id, tool_call_id, payload))

// Ignores unknown members, so that events of newer runtimes are accepted.
Result<Envelope> read_envelope(std::string_view text);

}  // namespace agentrt::cli
