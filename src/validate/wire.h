// validate/wire.h: decodes one line of an untrusted stream.
#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "schema/catalogue.h"
#include "schema/json_loose.h"

namespace agentrt::validate {

// The envelope as on the wire; absent and invalid members are empty.
struct Head {
  std::string type;
  std::string event_id;
  std::string schema_version;
  std::string timestamp;
  std::optional<std::uint64_t> sequence;
  std::string runtime_id;
  std::string session_id;
  std::string thread_id;
  std::string turn_id;
  std::string task_id;
  std::string run_id;
  std::string attempt_id;
  std::string step_id;
  std::string tool_call_id;
  std::string action_id;
  std::string subagent_id;
  std::string process_id;
  std::string channel_id;
  std::string job_id;
  std::string job_item_id;
  std::string artifact_id;
  std::string evidence_id;
  std::string request_id;
  std::string model_request_id;
  schema::Json payload;

  void clear();
};
BOOST_DESCRIBE_STRUCT(Head, (),
                      (type, event_id, schema_version, timestamp, sequence, runtime_id, session_id,
                       thread_id, turn_id, task_id, run_id, attempt_id, step_id, tool_call_id,
                       action_id, subagent_id, process_id, channel_id, job_id, job_item_id,
                       artifact_id, evidence_id, request_id, model_request_id, payload))

struct Event {
  std::uint64_t line = 0;
  Head head;
  schema::Met met_head;
  schema::Met met_payload;
  // nullptr: not a type of the standard (set by the judge)
  const schema::EventType* known = nullptr;
  std::optional<Timestamp> at;  // absent if the timestamp is invalid

  // An empty id counts as absent.
  bool has_id(std::string_view wire_name) const;
};

// Decodes the envelope into `event`, which is reused for every line. If the line is not one JSON
// object, returns false with the reason in `why`.
bool read_head(std::string_view text, Event& event, std::string& why);

// Parses an RFC 3339 timestamp in UTC with any number of fractional digits.
std::optional<Timestamp> read_utc(std::string_view text);

}  // namespace agentrt::validate
