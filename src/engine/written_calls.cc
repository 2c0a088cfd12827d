#include "engine/written_calls.h"

#include <utility>

#include "schema/json.h"
#include "schema/tools.h"

namespace agentrt::engine {

using namespace schema;

void WrittenCalls::add(std::size_t number, std::string_view name, std::string_view piece) {
  if (number > calls_.size() || number >= kToolCallsMax || name.empty()) return;
  if (number == calls_.size())
    calls_.push_back({std::string(utf8_prefix(name, kToolNameBytesMax)), {}, 0, true});
  Call& call = calls_[number];
  call.bytes += piece.size();
  // An escape sequence of two bytes becomes one.
  const std::size_t room = 2 * kWrittenPreviewBytes - call.beginning.size();
  call.beginning += piece.substr(0, room);
  call.changed = news_ = true;
}

// Decoded, because a secret may be escaped in JSON. The end that may begin a secret is held back.
std::string WrittenCalls::preview_of(const Call& call) const {
  const std::string text = unescaped(call.beginning);
  std::string out;
  policy::RedactingStream(redactor_).put(utf8_prefix(text, text.size()), out);
  return std::string(utf8_prefix(out, kWrittenPreviewBytes));
}

std::vector<ReportFragments::WrittenCall> WrittenCalls::take() {
  std::vector<ReportFragments::WrittenCall> out;
  for (std::size_t number = 0; number < calls_.size(); ++number) {
    Call& call = calls_[number];
    if (std::exchange(call.changed, false))
      out.push_back({number, call.name, preview_of(call), call.bytes});
  }
  news_ = false;
  return out;
}

}  // namespace agentrt::engine
