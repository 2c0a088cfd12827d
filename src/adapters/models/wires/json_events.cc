#include "adapters/models/wires/json_events.h"

#include <algorithm>

#include <fmt/format.h>

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

void JsonEventReader::on_event(std::string_view type, std::string_view data) {
  if (answer_.over()) return;
  JsonElement root;
  if (parser_.parse(data.data(), data.size()).get(root) || !root.is_object())
    return answer_.fail(wrong_answer(
        fmt::format("the provider sent an event that is not JSON in UTF-8; check {} and the kind "
                    "of the provider",
                    subject_.url_setting),
        Again::later));
  on_json(type, root);
}

void JsonEventReader::on_end() {
  answer_.fail(wrong_answer("the answer broke off before its end", Again::later));
}

void JsonEventReader::fail_as_told(JsonElement described) {
  answer_.fail(told_fault(read_provider_words(simdjson::minify(described)), subject_));
}

std::string args_text(const schema::Json& args) {
  if (!args.text.starts_with('"')) return args.text;
  simdjson::dom::parser parser;
  return std::string(string_in(parser.parse(args.text.data(), args.text.size())));
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    for (std::size_t i = 0; i < 4; ++i)
      out += i <= count ? kDigits[group >> (18 - 6 * i) & 63] : '=';
  }
  return out;
}

std::string data_url(const ports::Attachment& attachment) {
  return fmt::format("data:{};base64,{}", attachment.media_type, base64(attachment.bytes));
}

bool is_image(const ports::Attachment& attachment) {
  return attachment.media_type.starts_with("image/");
}

}  // namespace agentrt::adapters
