// cli/views/call_view.h: one call of a tool as a person reads it: what it does, how it ended.
//
// Pure. Text of models and commands is made safe to print here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/views/terminal.h"
#include "schema/file_tools.h"
#include "schema/values.h"

namespace agentrt::cli {

struct Call {
  std::string tool;
  std::string args = "{}";  // JSON
  std::optional<std::int64_t> exit_code;
  std::optional<schema::FileChange> change;
  Timestamp started;
  bool running = false;
};

enum class CallEnd { done, failed, refused };

// How lines are printed: so many columns, 0 for as many as it takes.
struct Paper {
  std::size_t width = 0;
  Colour colour = Colour::off;
};

// "$ npm test", "read src/a.cc", "edit src/a.cc +3 -1": one line, whole.
std::string call_title(const Call& call);
// The line of a call that ended; `detail` says why one was refused.
std::string call_line(const Call& call, CallEnd end, std::int64_t duration_ms,
                      std::string_view detail, Paper paper);
// How the output of a failed call ends: at most kOutputLinesMax lines, indented, with that which
// says how many are left out.
std::string output_tail(std::string_view output, Paper paper);
// A unified diff in colour: at most kDiffLinesMax lines, and how many more there are.
std::string diff_text(std::string_view diff, Paper paper);
// The plan that `args` of update_plan give, a step a line; empty where they give none.
std::string plan_text(std::string_view args, Paper paper);

inline constexpr std::size_t kOutputLinesMax = 6;
inline constexpr std::size_t kDiffLinesMax = 40;
inline constexpr std::size_t kPlanStepsMax = 30;

}  // namespace agentrt::cli
