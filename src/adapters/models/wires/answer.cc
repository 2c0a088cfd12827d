#include "adapters/models/wires/answer.h"

#include <iterator>

#include <fmt/format.h>

#include "adapters/models/faults.h"

namespace agentrt::adapters {

using namespace schema;

namespace {

bool is_object(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos || text[begin] != '{') return false;
  return text[text.find_last_not_of(kBlank)] == '}' && check_json(text).has_value();
}

// The arguments of a call: an object unchanged, anything else as a JSON string. The tool's own
// validation rejects the string with a message that the model can act on.
Json args_of(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return Json{"{}"};
  if (is_object(text)) return Json{text};
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
        FaultCause::malformed,
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
  if (!call || !count_args(piece.size())) return;
  call->args += piece;
  show_piece(index, piece);
}

// Calls are numbered by their order in the answer.
void Answer::show_piece(std::uint64_t index, std::string_view piece) {
  const auto call = calls_.find(index);
  const auto number = static_cast<std::size_t>(std::distance(calls_.begin(), call));
  if (!said_.empty())
    if (auto* last = std::get_if<SaidCallPiece>(&said_.back()); last && last->number == number) {
      last->piece += piece;
      return;
    }
  said_.emplace_back(SaidCallPiece{number, call->second.name, std::string(piece)});
}

void Answer::set_args(std::uint64_t index, std::string whole) {
  Call* call = call_at(index);
  if (call && count_args(whole.size())) call->whole = std::move(whole);
}

bool Answer::count_args(std::size_t bytes) {
  args_bytes_ += bytes;
  if (args_bytes_ > kStreamedArgsBytesMax)
    fail(wrong_answer(
        FaultCause::malformed,
        fmt::format("the model sent more than {} KiB of arguments", kStreamedArgsBytesMax >> 10),
        Again::never));
  return !over_;
}

bool Answer::has_whole_args(std::uint64_t index) const {
  const auto found = calls_.find(index);
  return found != calls_.end() && is_object(found->second.args);
}

// The failure for an answer with neither text nor calls.
ports::ModelFault Answer::nothing_said(StopReason reason) {
  if (reason == StopReason::max_tokens)
    return wrong_answer(FaultCause::empty,
                        "the output limit was reached before the first word of the answer; raise "
                        "max_output_tokens, or start a new thread",
                        Again::never);
  if (reason == StopReason::content_filter)
    return wrong_answer(
        FaultCause::content,
        "the provider withheld the answer because of a content filter or a refusal; rephrase the "
        "request, or choose another model with --model",
        Again::never);
  return wrong_answer(
      FaultCause::empty,
      "the model gave an empty answer; try again, or choose another model with --model",
      Again::later);
}

void Answer::complete() {
  if (over_) return;
  StopReason reason = stop_.value_or(StopReason::unknown);
  if (!spoke_ && calls_.empty()) return fail(nothing_said(reason));
  for (auto& [_, call] : calls_)
    said_.emplace_back(SaidCall{call.name, args_of(call.args.empty() ? call.whole : call.args)});
  if (state_ && !calls_.empty()) said_.emplace_back(SaidState{*std::move(state_)});
  // Keep max_tokens, which may have cut off the last call; otherwise an answer with calls ends with
  // tool_use.
  if (!calls_.empty() && reason != StopReason::max_tokens) reason = StopReason::tool_use;
  said_.emplace_back(SaidEnd{reason, usage_});
  over_ = true;
}

void Answer::fail(ports::ModelFault fault) {
  if (over_) return;
  said_.emplace_back(std::move(fault));
  over_ = true;
}

std::vector<Said> Answer::take() { return std::exchange(said_, {}); }

}  // namespace agentrt::adapters
