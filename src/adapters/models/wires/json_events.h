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
// Its text; empty where there is no object.
std::string object_in(JsonMember member);

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

// A call as it is told again in the shape that every provider takes: the arguments as an object
// (what the model wrote in place of one stands in `not_json`), and a name of plain characters.
std::string args_object(const schema::Json& args);
std::string plain_name(std::string_view name);
// What this provider said with the message and wants to hear again; null: nothing of the kind.
const schema::Json* state_for(const Endpoint& endpoint, const ports::Message& message);
// A piece of a JSON array: the elements of another, without its brackets.
std::string_view elements_of(const schema::Json& array);
// Something that can be seen: providers refuse texts of white space alone.
bool says_something(std::string_view text);

// The bytes as base64, for images and documents within JSON.
std::string base64(std::string_view bytes);
// data:MEDIA/TYPE;base64,…
std::string data_url(const ports::Attachment& attachment);
bool is_image(const ports::Attachment& attachment);

}  // namespace agentrt::adapters
