#include "validate/wire.h"

#include <algorithm>

namespace agentrt::validate {

void Head::clear() {
  boost::mp11::mp_for_each<schema::codec::Members<Head>>([this](auto d) {
    auto& member = this->*d.pointer;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, std::string>)
      member.clear();
    else
      member = {};
  });
}

bool Event::has_id(std::string_view wire_name) const {
  if (!met_head.has(wire_name)) return false;
  bool there = true;
  boost::mp11::mp_for_each<schema::codec::Members<Head>>([&](auto d) {
    const auto& member = head.*d.pointer;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, std::string>)
      if (schema::codec::kWireName<decltype(d)>.view() == wire_name) there = !member.empty();
  });
  return there;
}

std::optional<Timestamp> read_utc(std::string_view text) {
  constexpr std::size_t kSeconds = 19;  // 2026-05-08T02:30:00
  if (text.size() <= kSeconds) return std::nullopt;
  std::string_view rest = text.substr(kSeconds);
  std::string millis = "000";
  if (rest.front() == '.') {
    rest.remove_prefix(1);
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0) return std::nullopt;
    for (std::size_t i = 0; i < std::min<std::size_t>(digits, 3); ++i) millis[i] = rest[i];
    rest.remove_prefix(digits);
  }
  if (rest != "Z" && rest != "+00:00") return std::nullopt;
  return parse_timestamp(std::string(text.substr(0, kSeconds)) + "." + millis + "Z");
}

bool read_head(std::string_view text, Event& event, std::string& why) {
  event.head.clear();
  event.met_head.clear();
  event.met_payload.clear();
  if (auto sound = schema::check_json(text); !sound) {
    why = std::move(sound).error().message;
    return false;
  }
  if (!schema::read_loosely(text, event.head, event.met_head)) {
    why = "the line is not a JSON object";
    return false;
  }
  event.at = event.head.timestamp.empty() ? std::nullopt : read_utc(event.head.timestamp);
  return true;
}

}  // namespace agentrt::validate
