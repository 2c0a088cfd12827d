// schema/sent.h: the facts from which the messages of model requests are made. The store lists them
// by thread, so that assembling a request reads these and no others.
#pragma once

#include <optional>
#include <string_view>

#include "schema/envelope.h"

namespace agentrt::schema {

bool is_sent(std::string_view type);
// The thread under which the event is listed; nullopt: it is not.
std::optional<ThreadId> sent_in(const StoredEvent& event);

}  // namespace agentrt::schema
