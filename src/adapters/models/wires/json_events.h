// adapters/models/wires/json_events.h: shared base of the wires' readers: parses events whose data
// is JSON. A missing member or one of another type reads as empty, because providers omit and add
// members freely. An event that is not a JSON object is a failure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <simdjson.h>

#include "adapters/models/wires/wire.h"

namespace agentrt::adapters {

using JsonElement = simdjson::dom::element;
using JsonMember = simdjson::simdjson_result<JsonElement>;

// Empty: not a string.
std::string_view string_in(JsonMember member);
std::optional<std::uint64_t> count_in(JsonMember member);
// The object's JSON text; empty: not an object.
std::string object_in(JsonMember member);

class JsonEventReader : public WireReader {
 public:
  JsonEventReader(Answer& answer, const Subject& subject) : answer_(answer), subject_(subject) {}

  void on_event(std::string_view type, std::string_view data) override;
  // Reports an answer without an end as cut off.
  void on_end() override;

 protected:
  virtual void on_json(std::string_view type, JsonElement root) = 0;
  // Fails the answer with the error that the provider describes in `described`.
  void fail_as_told(JsonElement described);

  Answer& answer() { return answer_; }

 private:
  Answer& answer_;
  const Subject& subject_;
  simdjson::dom::parser parser_;
};

// Arguments and name of an earlier call in a form that every provider accepts: the arguments as an
// object (text that was not an object becomes its member `not_json`), the name in plain characters.
std::string args_object(const schema::Json& args);
std::string plain_name(std::string_view name);
// The message's provider state, if this endpoint's provider and model produced it; null: none.
const schema::Json* state_for(const Endpoint& endpoint, const ports::Message& message);
// The elements of a JSON array, without its brackets.
std::string_view elements_of(const schema::Json& array);
// Whether the text has visible characters: providers reject texts of only white space.
bool says_something(std::string_view text);

// data:MEDIA/TYPE;base64,…
std::string data_url(const ports::Attachment& attachment);
bool is_image(const ports::Attachment& attachment);

}  // namespace agentrt::adapters
