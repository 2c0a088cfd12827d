// adapters/models/wires/answer.h: one answer of a model, put together from what a provider streams.
//
// Every wire tells an Answer the same few things in its own order; the Answer turns them into what
// a ModelListener hears, so the listener cannot tell the wires apart: text and reasoning as they
// come, all calls in their order with the end, one end. It is bounded whatever is streamed, and an
// answer of neither text nor calls is a failure. Not shared between threads.
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

inline constexpr std::size_t kStreamedCallsMax = 128;          // of one answer
inline constexpr std::size_t kStreamedArgsBytesMax = 1 << 20;  // of all its calls
inline constexpr std::size_t kStateBytesMax = 64 << 10;        // what is more is not given back

struct SaidText {
  std::string text;
};
struct SaidReasoning {
  std::string text;
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
using Said = std::variant<SaidText, SaidReasoning, SaidCall, SaidState, SaidEnd, ports::ModelFault>;

class Answer {
 public:
  void add_text(std::string_view text);
  void add_reasoning(std::string_view text);
  // `index` tells the calls of one answer apart and orders them.
  void name_call(std::uint64_t index, std::string_view name);
  void add_args(std::uint64_t index, std::string_view piece);
  // All of them at once; they count where no piece of them comes.
  void set_args(std::uint64_t index, std::string whole);
  // Whether the pieces that came are arguments that could be all of them.
  bool has_whole_args(std::uint64_t index) const;
  // What the provider wants to hear again with the calls, whole.
  void set_state(schema::Json state) { state_ = std::move(state); }
  void set_usage(const schema::Usage& usage) { usage_ = usage; }
  const schema::Usage& usage() const { return usage_; }
  void set_stop(schema::StopReason reason) { stop_ = reason; }
  // Whether the provider has said why it stopped.
  bool stopped() const { return stop_.has_value(); }

  // The end. What is told after it is not heard.
  void complete();
  void fail(ports::ModelFault fault);
  bool over() const { return over_; }

  // What was said since the last time.
  std::vector<Said> take();

 private:
  struct Call {
    std::string name;
    std::string args;
    std::string whole;
  };
  Call* call_at(std::uint64_t index);
  bool count_args(std::size_t bytes);  // false: there are too many
  static ports::ModelFault nothing_said(schema::StopReason reason);

  std::vector<Said> said_;
  std::map<std::uint64_t, Call> calls_;
  std::size_t args_bytes_ = 0;
  std::optional<schema::StopReason> stop_;
  schema::Usage usage_;
  std::optional<schema::Json> state_;
  bool spoke_ = false;  // text
  bool over_ = false;
};

}  // namespace agentrt::adapters
