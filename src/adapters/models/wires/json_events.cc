#include "adapters/models/wires/json_events.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/base64.h"

namespace agentrt::adapters {

std::string_view string_in(JsonMember member) {
  std::string_view text;
  return member.get_string().get(text) ? std::string_view{} : text;
}

std::optional<std::uint64_t> count_in(JsonMember member) {
  std::uint64_t count = 0;
  if (member.get_uint64().get(count)) return std::nullopt;
  return count;
}

std::string object_in(JsonMember member) {
  JsonElement found;
  if (member.get(found) || !found.is_object()) return {};
  return simdjson::minify(found);
}

void JsonEventReader::on_event(std::string_view type, std::string_view data) {
  if (answer_.over() || !says_something(data)) return;  // some servers send blank keep-alive events
  JsonElement root;
  if (parser_.parse(data.data(), data.size()).get(root) || !root.is_object())
    return answer_.fail(wrong_answer(
        schema::FaultCause::malformed,
        fmt::format(
            "the provider sent an event that is not valid JSON; check {} and the provider setting",
            subject_.url_setting),
        Again::later));
  on_json(type, root);
}

void JsonEventReader::on_end() {
  answer_.fail(wrong_answer(schema::FaultCause::connection, "the answer broke off before its end",
                            Again::later));
}

void JsonEventReader::fail_as_told(JsonElement described) {
  answer_.fail(told_fault(read_provider_words(simdjson::minify(described)), subject_));
}

std::string args_object(const schema::Json& args) {
  return args.text.starts_with('{') ? args.text : fmt::format(R"({{"not_json":{}}})", args.text);
}

std::string plain_name(std::string_view name) {
  constexpr std::size_t kNameBytesMax = 64;
  if (name.empty()) return "unknown";
  std::string out(name.substr(0, kNameBytesMax));
  std::ranges::replace_if(
      out,
      [](char c) {
        return !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
               c != '_' && c != '-';
      },
      '_');
  return out;
}

const schema::Json* state_for(const Endpoint& endpoint, const ports::Message& message) {
  const auto& state = message.state;
  return state && state->provider == endpoint.provider && state->model == endpoint.model
             ? &state->state
             : nullptr;
}

std::string_view elements_of(const schema::Json& array) {
  return std::string_view(array.text).substr(1, array.text.size() - 2);
}

bool says_something(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\v\f") != std::string_view::npos;
}

std::string data_url(const ports::Attachment& attachment) {
  return fmt::format("data:{};base64,{}", attachment.media_type, base64(attachment.bytes));
}

bool is_image(const ports::Attachment& attachment) {
  return attachment.media_type.starts_with("image/");
}

}  // namespace agentrt::adapters
