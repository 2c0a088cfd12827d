#include "adapters/models/script.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>

#include "adapters/models/faults.h"
#include "base/descriptor.h"
#include "schema/codec.h"

namespace agentrt::adapters {

using namespace schema;

namespace {

constexpr std::uint64_t kDeltasMax = 100'000;
constexpr std::int64_t kDelayMaxMs = 3'600'000;
constexpr std::size_t kScriptBytesMax = 64 << 20;

struct FailMembers {
  std::uint64_t status = 500;
  std::optional<std::int64_t> retry_after_ms;
  std::optional<std::string> message;
};
BOOST_DESCRIBE_STRUCT(FailMembers, (), (status, retry_after_ms, message))

struct UsageMembers {
  std::optional<std::uint64_t> input_tokens;
  std::optional<std::uint64_t> output_tokens;
  std::optional<std::uint64_t> cached_tokens;
  std::optional<std::uint64_t> reasoning_tokens;
};
BOOST_DESCRIBE_STRUCT(UsageMembers, (),
                      (input_tokens, output_tokens, cached_tokens, reasoning_tokens))

struct CallMembers {
  std::string name;
  Json args;
};
BOOST_DESCRIBE_STRUCT(CallMembers, (), (name, args))

struct LineMembers {
  std::optional<std::string> text;
  std::optional<std::string> reasoning;
  std::optional<std::uint64_t> deltas;
  std::optional<std::uint64_t> arg_deltas;
  std::optional<std::int64_t> delta_ms;
  std::optional<std::int64_t> delay_ms;
  std::optional<StopReason> stop_reason;
  std::optional<std::vector<CallMembers>> tool_calls;
  std::optional<UsageMembers> usage;
  std::optional<FailMembers> fail;
};
BOOST_DESCRIBE_STRUCT(LineMembers, (),
                      (text, reasoning, deltas, arg_deltas, delta_ms, delay_ms, stop_reason,
                       tool_calls, usage, fail))

ports::ModelFault fault_of(const FailMembers& members) {
  const std::uint64_t status = members.status;
  ports::ModelFault fault;
  fault.provider_status = status;
  fault.ended_by_provider = true;
  fault.retry_after_ms = members.retry_after_ms;
  fault.error.category = category_of_status(status);
  fault.cause = cause_of_status(status);
  fault.error.retryable = again_after_status(status) == Again::later;
  fault.error.message = members.message
                            ? *members.message
                            : fmt::format("the provider answered with status {}", status);
  return fault;
}

ScriptLine line_of(const LineMembers& members) {
  ScriptLine line;
  line.text = members.text.value_or("");
  line.reasoning = members.reasoning.value_or("");
  line.deltas = std::clamp<std::uint64_t>(members.deltas.value_or(1), 1, kDeltasMax);
  line.arg_deltas = std::min(members.arg_deltas.value_or(0), kDeltasMax);
  line.delta_ms = std::clamp<std::int64_t>(members.delta_ms.value_or(0), 0, kDelayMaxMs);
  line.delay_ms = std::clamp<std::int64_t>(members.delay_ms.value_or(0), 0, kDelayMaxMs);
  line.stop_reason = members.stop_reason.value_or(StopReason::end_turn);
  if (members.usage)
    line.usage = {members.usage->input_tokens.value_or(0), members.usage->output_tokens.value_or(0),
                  members.usage->cached_tokens, members.usage->reasoning_tokens};
  for (const CallMembers& call : members.tool_calls.value_or(std::vector<CallMembers>{}))
    line.calls.push_back({call.name, call.args});
  if (members.fail) line.fault = fault_of(*members.fail);
  return line;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(is_shortage(errno) ? Code::overloaded : Code::unavailable,
                fmt::format("the script {} cannot be read: {}", path,
                            std::generic_category().message(errno)));
  std::string text;
  char chunk[64 * 1024];
  while (file.read(chunk, sizeof chunk) || file.gcount() > 0) {
    text.append(chunk, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kScriptBytesMax)
      return fail(Code::too_large,
                  fmt::format("the script {} is larger than {} MiB", path, kScriptBytesMax >> 20));
  }
  return text;
}

}  // namespace

Result<ScriptLine> read_script_line(std::string_view script, std::uint64_t number) {
  std::uint64_t at = 0;
  while (!script.empty()) {
    const std::size_t end = std::min(script.find('\n'), script.size());
    const std::string_view text = script.substr(0, end);
    script.remove_prefix(std::min(end + 1, script.size()));
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (++at != number) continue;
    LineMembers members;
    auto done = check_json(text);
    if (done) done = from_json(text, members, Unknown::refuse);
    if (!done)
      return fail(Code::invalid_params,
                  fmt::format("line {} of the script: {}", number, done.error().message));
    return line_of(members);
  }
  ScriptLine past_the_end;
  past_the_end.text = "done";
  return past_the_end;
}

std::vector<std::string> split_text(std::string_view text, std::uint64_t count) {
  std::vector<std::string> pieces;
  for (std::uint64_t left = count; left > 0 && !text.empty(); --left) {
    const std::size_t share = left == 1 ? text.size() : (text.size() + left - 1) / left;
    std::string_view piece = utf8_prefix(text, share);
    if (piece.empty()) piece = utf8_prefix(text, 4);  // a character is at most four bytes
    pieces.emplace_back(piece);
    text.remove_prefix(piece.size());
  }
  return pieces;
}

struct ScriptPlayer::Playing {
  std::shared_ptr<ports::ModelListener> listener;
  ScriptLine line;
  struct Piece {
    enum class Of { reasoning, text, call };
    Of of = Of::text;
    std::string text;
    std::size_t call = 0;  // its number, from 0
  };
  std::vector<Piece> pieces;
  std::size_t at = 0;  // pieces sent so far

  void add(Piece::Of of, std::string_view whole, std::uint64_t count, std::size_t call = 0) {
    for (std::string& text : split_text(whole, count))
      pieces.push_back({of, std::move(text), call});
  }
  void send(const Piece& piece) {
    if (piece.of == Piece::Of::reasoning) return listener->on_reasoning(piece.text);
    if (piece.of == Piece::Of::text) return listener->on_text(piece.text);
    listener->on_call_piece(piece.call, line.calls[piece.call].name, piece.text);
  }
};

void ScriptPlayer::start(const std::string& path, const ModelRequestId& id, std::uint64_t number,
                         std::shared_ptr<ports::ModelListener> listener) {
  auto playing = std::make_shared<Playing>();
  playing->listener = std::move(listener);
  playing_[id] = playing;
  const bool taken = worker_.run([this, path, id, number] {
    Result<ScriptLine> line = [&]() -> Result<ScriptLine> {
      TRY_ASSIGN(const std::string script, read_file(path));
      return read_script_line(script, number);
    }();
    loop_.post([this, id, line = std::move(line)]() mutable { play(id, std::move(line)); });
  });
  if (!taken) play(id, fail(Code::overloaded, "too many files are being read"));
}

void ScriptPlayer::play(const ModelRequestId& id, Result<ScriptLine> line) {
  const auto found = playing_.find(id);
  if (found == playing_.end()) return;
  const std::shared_ptr<Playing> playing = found->second;
  if (!line) {
    playing_.erase(found);
    const bool busy = line.error().code == Code::overloaded;
    return playing->listener->on_failed(
        {.error = {busy ? Category::unavailable : Category::invalid_input, line.error().message,
                   busy},
         .provider_status = {},
         .ended_by_provider = false,
         .retry_after_ms = {},
         .cause = busy ? FaultCause::overloaded : FaultCause::unknown_model});
  }
  playing->line = *std::move(line);
  using Of = Playing::Piece::Of;
  if (!playing->line.fault) {
    playing->add(Of::reasoning, playing->line.reasoning, playing->line.deltas);
    playing->add(Of::text, playing->line.text, playing->line.deltas);
  }
  for (std::size_t call = 0; call < playing->line.calls.size(); ++call)
    playing->add(Of::call, playing->line.calls[call].args.text, playing->line.arg_deltas, call);
  if (playing->line.delay_ms == 0) return next(id);
  loop_.after(playing->line.delay_ms, [this, id] { next(id); });
}

void ScriptPlayer::next(const ModelRequestId& id) {
  const auto found = playing_.find(id);
  if (found == playing_.end()) return;
  const std::shared_ptr<Playing> playing = found->second;
  const std::size_t pieces = playing->pieces.size();
  if (playing->at < pieces) {
    playing->send(playing->pieces[playing->at++]);
    if (playing->at < pieces || playing->line.delta_ms > 0) {
      loop_.after(playing->line.delta_ms, [this, id] { next(id); });
      return;
    }
  }
  playing_.erase(id);
  if (playing->line.fault) return playing->listener->on_failed(*playing->line.fault);
  for (ScriptLine::Call& call : playing->line.calls)
    playing->listener->on_call(std::move(call.name), std::move(call.args));
  playing->listener->on_completed(playing->line.stop_reason, playing->line.usage);
}

}  // namespace agentrt::adapters
