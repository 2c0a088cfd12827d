#include "channels/agui/agui_sessions.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/digest.h"

namespace agentrt::channels {
namespace {

constexpr std::size_t kIdDigits = 32;

std::string digits_of(std::string_view a, std::string_view b, std::string_view c) {
  std::string text;
  for (const std::string_view part : {a, b, c}) text += fmt::format("{}:{}", part.size(), part);
  return hex(bytes_of(sha256(text))).substr(0, kIdDigits);
}

}  // namespace

SessionId agui_session_of(const std::string& token, const std::string& thread) {
  return SessionId{"sess_agui_" + digits_of(token, thread, "")};
}

TurnId agui_turn_of(const std::string& token, const std::string& thread, const std::string& run) {
  return TurnId{"turn_agui_" + digits_of(token, thread, run)};
}

void AguiSession::take(Sequence sequence, const TurnId& turn, const AguiOrigin& origin) {
  messages.insert(origin.message_ids.begin(), origin.message_ids.end());
  turns[turn] = {sequence, origin};
  newest = turn;
}

std::optional<std::string> agui_digest(const AguiInput& input,
                                       const std::vector<std::string>& message_ids) {
  std::string text;
  for (const std::string& id : message_ids) {
    const auto found = std::ranges::find(input.messages, id, &AguiMessage::id);
    if (found == input.messages.end()) return std::nullopt;
    text += fmt::format("{}:{}\n", id, found->digest);
  }
  return hex(bytes_of(sha256(text)));
}

AguiSession& AguiSessions::of(const SessionId& session) {
  const auto found = kept_.find(session);
  if (found != kept_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second.at);
    return found->second.session;
  }
  while (kept_.size() >= kAguiSessionsMax) {
    kept_.erase(recent_.back());
    recent_.pop_back();
  }
  recent_.push_front(session);
  Kept& kept = kept_[session];
  kept.at = recent_.begin();
  return kept.session;
}

}  // namespace agentrt::channels
