// adapters/models/wires/json_events.h: what the readers of all wires share: events whose data is
// JSON, read member by member. A member that is missing or of another type reads as nothing;
// providers leave out and add members as they like. An event that is no JSON object is a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <simdjson.h>

#include "adapters/models/wires/wire.h"

namespace agentrt::adapters {

using JsonElement = simdjson::dom::element;
using JsonMember = simdjson::simdjson_result<JsonElement>;

// Empty where there is no string.
std::string_view string_in(JsonMember member);
std::optional<std::uint64_t> count_in(JsonMember member);

class JsonEventReader : public WireReader {
 public:
  JsonEventReader(Answer& answer, const Subject& subject) : answer_(answer), subject_(subject) {}

  void on_event(std::string_view type, std::string_view data) override;
  // An answer that nobody ended was cut off.
  void on_end() override;

 protected:
  virtual void on_json(std::string_view type, JsonElement root) = 0;
  // The provider says that it failed; `described` says how.
  void fail_as_told(JsonElement described);

  Answer& answer() { return answer_; }

 private:
  Answer& answer_;
  const Subject& subject_;
  simdjson::dom::parser parser_;
};

// The text that a model wrote as arguments: its object, or what it wrote instead of one.
std::string args_text(const schema::Json& args);

// The bytes as base64, for images and documents within JSON.
std::string base64(std::string_view bytes);
// data:MEDIA/TYPE;base64,…
std::string data_url(const ports::Attachment& attachment);
bool is_image(const ports::Attachment& attachment);

}  // namespace agentrt::adapters
