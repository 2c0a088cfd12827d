// cli/views/envelope.h: an event as it came over the wire, as far as the command line looks into
// it.
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
  ActionId action_id;
  ModelRequestId model_request_id;
  ToolCallId tool_call_id;
  schema::Json payload{"{}"};

  bool operator==(const Envelope&) const = default;
};
BOOST_DESCRIBE_STRUCT(Envelope, (),
                      (type, timestamp, sequence, session_id, thread_id, turn_id, task_id,
                       action_id, model_request_id, tool_call_id, payload))

// Members it does not name are skipped: an event of a newer runtime is an event all the same.
Result<Envelope> read_envelope(std::string_view text);

}  // namespace agentrt::cli
