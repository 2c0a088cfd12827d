// adapters/models/wires/answer.h: assembles one model answer from a provider's stream.
//
// Every wire reports the same few events to an Answer, in its own order. The Answer converts them
// to ModelListener events, so the listener does not depend on the wire: text, reasoning and pieces
// of calls as they arrive, then all calls in order together with the end. Memory is bounded for any
// stream. An answer with neither text nor calls is a failure. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ports/models.h"

namespace agentrt::adapters {

inline constexpr std::size_t kStreamedCallsMax = 128;          // per answer
inline constexpr std::size_t kStreamedArgsBytesMax = 1 << 20;  // all calls of an answer together
inline constexpr std::size_t kStateBytesMax = 64 << 10;        // larger state is not sent back

struct SaidText {
  std::string text;
};
struct SaidReasoning {
  std::string text;
};
struct SaidCallPiece {
  std::size_t number = 0;
  std::string name;
  std::string piece;
};
struct SaidCall {
  std::string name;
  schema::Json args;
};
struct SaidState {
  schema::Json state;
};
struct SaidEnd {
  schema::StopReason reason = schema::StopReason::end_turn;
  schema::Usage usage;
};
using Said = std::variant<SaidText, SaidReasoning, SaidCallPiece, SaidCall, SaidState, SaidEnd,
                          ports::ModelFault>;

class Answer {
 public:
  void add_text(std::string_view text);
  void add_reasoning(std::string_view text);
  // `index` identifies and orders the calls of one answer.
  void name_call(std::uint64_t index, std::string_view name);
  void add_args(std::uint64_t index, std::string_view piece);
  // Sets the complete arguments; used only if no pieces arrive.
  void set_args(std::uint64_t index, std::string whole);
  // Whether the pieces so far form complete arguments.
  bool has_whole_args(std::uint64_t index) const;
  // The provider state to send back with the calls.
  void set_state(schema::Json state) { state_ = std::move(state); }
  void set_usage(const schema::Usage& usage) { usage_ = usage; }
  const schema::Usage& usage() const { return usage_; }
  void set_stop(schema::StopReason reason) { stop_ = reason; }
  // Whether the provider has sent a stop reason.
  bool stopped() const { return stop_.has_value(); }

  // Ends the answer. Later events are ignored.
  void complete();
  void fail(ports::ModelFault fault);
  bool over() const { return over_; }

  // The events since the last take().
  std::vector<Said> take();

 private:
  struct Call {
    std::string name;
    std::string args;
    std::string whole;
  };
  Call* call_at(std::uint64_t index);
  bool count_args(std::size_t bytes);  // false: too many
  void show_piece(std::uint64_t index, std::string_view piece);
  static ports::ModelFault nothing_said(schema::StopReason reason);

  std::vector<Said> said_;
  std::map<std::uint64_t, Call> calls_;
  std::size_t args_bytes_ = 0;
  std::optional<schema::StopReason> stop_;
  schema::Usage usage_;
  std::optional<schema::Json> state_;
  bool spoke_ = false;  // text arrived
  bool over_ = false;
};

}  // namespace agentrt::adapters
