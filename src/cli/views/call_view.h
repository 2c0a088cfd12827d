// cli/views/call_view.h: renders one tool call: what it does and how it ended.
//
// Pure. Escapes the text of models and commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/views/terminal.h"
#include "schema/facts.h"

namespace agentrt::cli {

enum class CallEnd { done, failed, refused };

// Whether a call was carried out, from its facts, taken in order. tool.started alone does not say
// so: it is also stored for a call that is refused, and before the process of a command starts.
class Execution {
 public:
  void take(const schema::Payload& payload);
  // How the call ended, if it failed: `refused` if it was not carried out.
  CallEnd failed_end() const { return began_ ? CallEnd::failed : CallEnd::refused; }

 private:
  bool began_ = false;
};

struct Call {
  std::string tool;
  std::string args = "{}";  // JSON
  std::optional<std::int64_t> exit_code;
  std::optional<schema::FileChange> change;
  Timestamp started;
  bool running = false;
  std::optional<std::string> outside;   // it ran outside the sandbox: "as root, without network"
  std::optional<std::size_t> number{};  // of an ended call of a conversation, as /output takes it
  Execution execution{};
};

// The output format. Width in columns; 0: unlimited.
struct Paper {
  std::size_t width = 0;
  Colour colour = Colour::off;
};

// "$ npm test", "read src/a.cc", "edit src/a.cc +3 -1": one line, not truncated.
std::string call_title(const Call& call);
// A call that the model is still writing: "write src/a.cc · 12 KiB". `preview` is the beginning of
// its arguments, as in item.updated.
std::string written_title(std::string_view tool, std::string_view preview, std::uint64_t bytes);
// The line of an ended call; `detail` explains a refusal.
std::string call_line(const Call& call, CallEnd end, std::int64_t duration_ms,
                      std::string_view detail, Paper paper);
// The end of a failed call's output, indented: at most kOutputLinesMax lines, plus one that counts
// the omitted lines.
std::string output_tail(std::string_view output, Paper paper);
// A coloured unified diff: at most kDiffLinesMax lines, and the number of further lines.
std::string diff_text(std::string_view diff, Paper paper);
// The plan in the arguments of update_plan, one step per line; empty if there is none.
std::string plan_text(std::string_view args, Paper paper);

inline constexpr std::size_t kOutputLinesMax = 6;
inline constexpr std::size_t kDiffLinesMax = 40;
inline constexpr std::size_t kPlanStepsMax = 30;

}  // namespace agentrt::cli
