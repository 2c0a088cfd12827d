#include "adapters/models/wires/answer.h"

#include <fmt/format.h>

#include "adapters/models/faults.h"

namespace agentrt::adapters {

using namespace schema;

namespace {

// Arguments as a call carries them: an object as it came, anything else as a JSON string, which the
// tool's own check refuses with a sentence that the model can act on.
Json args_of(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return Json{"{}"};
  if (text[begin] == '{' && check_json(text)) return Json{text};
  Json quoted{""};
  write_string(quoted.text, text);
  return quoted;
}

}  // namespace

void Answer::add_text(std::string_view text) {
  if (over_ || text.empty()) return;
  spoke_ = true;
  if (!said_.empty())
    if (auto* last = std::get_if<SaidText>(&said_.back())) {
      last->text += text;
      return;
    }
  said_.emplace_back(SaidText{std::string(text)});
}

void Answer::add_reasoning(std::string_view text) {
  if (over_ || text.empty()) return;
  spoke_ = true;
  if (!said_.empty())
    if (auto* last = std::get_if<SaidReasoning>(&said_.back())) {
      last->text += text;
      return;
    }
  said_.emplace_back(SaidReasoning{std::string(text)});
}

Answer::Call* Answer::call_at(std::uint64_t index) {
  if (over_) return nullptr;
  if (calls_.size() >= kStreamedCallsMax && !calls_.contains(index)) {
    fail(wrong_answer(
        fmt::format("the model asked for more than {} calls at once", kStreamedCallsMax),
        Again::never));
    return nullptr;
  }
  return &calls_[index];
}

void Answer::name_call(std::uint64_t index, std::string_view name) {
  if (Call* call = call_at(index); call && call->name.empty()) call->name = name;
}

void Answer::add_args(std::uint64_t index, std::string_view piece) {
  Call* call = call_at(index);
  if (!call) return;
  args_bytes_ += piece.size();
  if (args_bytes_ > kStreamedArgsBytesMax)
    return fail(wrong_answer(
        fmt::format("the model sent more than {} KiB of arguments", kStreamedArgsBytesMax >> 10),
        Again::never));
  call->args += piece;
}

void Answer::complete() {
  if (over_) return;
  const StopReason reason = stop_.value_or(StopReason::unknown);
  if (!spoke_ && calls_.empty() && reason != StopReason::content_filter)
    return fail(
        reason == StopReason::max_tokens
            ? wrong_answer("the answer was cut off before its first word; raise max_output_tokens, "
                           "or start a new thread",
                           Again::never)
            : wrong_answer("the model gave an empty answer; ask again, or choose another "
                           "model with --model",
                           Again::later));
  for (auto& [_, call] : calls_) said_.emplace_back(SaidCall{call.name, args_of(call.args)});
  said_.emplace_back(SaidEnd{calls_.empty() ? reason : StopReason::tool_use, usage_});
  over_ = true;
}

void Answer::fail(ports::ModelFault fault) {
  if (over_) return;
  said_.emplace_back(std::move(fault));
  over_ = true;
}

std::vector<Said> Answer::take() { return std::exchange(said_, {}); }

}  // namespace agentrt::adapters
