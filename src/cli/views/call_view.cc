#include "cli/views/call_view.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "schema/tools.h"

namespace agentrt::cli {
namespace {

using namespace schema;

constexpr std::string_view kIndent = "  ";
constexpr std::size_t kTitleCellsMin = 8;  // of a title beside its outcome

// The decoded arguments if `call` is a call of the tool `Args`.
template <class Args>
std::optional<Args> args_of(const Call& call) {
  Args args;
  if (call.tool != Args::kTool || !from_json(call.args, args, Unknown::ignore)) return std::nullopt;
  return args;
}

std::string read_title(const ReadFileArgs& args) {
  std::string title = "read " + args.path;
  if (!args.offset && !args.limit) return title;
  const std::uint64_t first = args.offset.value_or(1);
  title += fmt::format(":{}-", first);
  return args.limit ? title + std::to_string(first + *args.limit - 1) : title;
}

std::string file_title(const Call& call) {
  std::string title;
  if (const auto args = args_of<ReadFileArgs>(call)) title = read_title(*args);
  if (const auto args = args_of<WriteFileArgs>(call)) title = "write " + args->path;
  if (const auto args = args_of<EditFileArgs>(call)) title = "edit " + args->path;
  if (const auto args = args_of<ListFilesArgs>(call))
    title = fmt::format("list {}{}", args->path.value_or("."),
                        args->pattern ? " " + *args->pattern : std::string());
  if (const auto args = args_of<SearchFilesArgs>(call))
    title = fmt::format(
        "search {}{}", args->pattern,
        args->path ? " in " + *args->path : (args->files ? " in " + *args->files : std::string()));
  if (!title.empty() && call.change)
    title += fmt::format(" +{} -{}", call.change->lines_added, call.change->lines_removed);
  return title;
}

// Renders mcp__SERVER__TOOL as "SERVER TOOL".
std::string spoken_name(std::string_view tool) {
  constexpr std::string_view kPrefix = "mcp__";
  if (!tool.starts_with(kPrefix)) return std::string(tool);
  std::string name(tool.substr(kPrefix.size()));
  if (const std::size_t at = name.find("__"); at != std::string::npos) name.replace(at, 2, " ");
  return name;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// An escaped line, with tabs as spaces, truncated to the width.
std::string laid(std::string_view line, Paper paper) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string out;
  for (const char c : visible(line)) out += c == '\t' ? "    " : std::string(1, c);
  if (paper.width <= kIndent.size()) return out;
  return fit(out, paper.width - kIndent.size());
}

std::string more(std::size_t count, std::string_view what, Paper paper) {
  return std::string(kIndent) +
         paint(fmt::format("… {} more {}{}", count, what, count == 1 ? "" : "s"), Paint::dim,
               paper.colour) +
         "\n";
}

Paint paint_of_diff(std::string_view line) {
  if (line.starts_with('+')) return Paint::green;
  if (line.starts_with('-')) return Paint::red;
  if (line.starts_with("@@")) return Paint::cyan;
  return Paint::plain;
}

}  // namespace

std::string call_title(const Call& call) {
  if (const auto args = args_of<ShellArgs>(call)) return "$ " + one_line(args->command);
  if (const auto args = args_of<AskUserArgs>(call)) return "ask " + one_line(args->question);
  if (const std::string title = file_title(call); !title.empty()) return one_line(title);
  if (call.tool == UpdatePlanArgs::kTool) return "plan";
  const std::string name = one_line(spoken_name(call.tool));
  return call.args.empty() || call.args == "{}" ? name : name + " " + one_line(call.args);
}

std::string call_line(const Call& call, CallEnd end, std::int64_t duration_ms,
                      std::string_view detail, Paper paper) {
  const bool ok = end == CallEnd::done;
  std::string outcome;
  const auto shell = args_of<ShellArgs>(call);
  if (ok && shell && shell->background.value_or(false)) outcome += " · in the background";
  if (end == CallEnd::failed && call.exit_code)
    outcome += fmt::format(" · exit code {}", *call.exit_code);
  else if (end == CallEnd::failed)
    outcome += " · failed";
  if (end == CallEnd::refused)
    outcome += " · not done";
  else
    outcome += " · " + spoken_duration(duration_ms);
  std::string title = call_title(call);
  // If the outcome leaves too little room, the title gets its own line.
  const std::size_t taken = 2 + width_of(outcome);
  if (paper.width > taken + kTitleCellsMin)
    title = fit(title, paper.width - taken);
  else if (paper.width > 2)
    title = fit(title, paper.width - 2);
  const std::string_view glyph = ok ? "✓" : end == CallEnd::failed ? "✗" : "⊘";
  std::string out = paint(glyph,
                          ok                       ? Paint::green
                          : end == CallEnd::failed ? Paint::red
                                                   : Paint::yellow,
                          paper.colour) +
                    " " + title + paint(outcome, Paint::dim, paper.colour) + "\n";
  if (!detail.empty())
    out += std::string(kIndent) + paint(one_line(detail), Paint::yellow, paper.colour) + "\n";
  return out;
}

std::string output_tail(std::string_view output, Paper paper) {
  std::vector<std::string_view> lines = lines_of(output);
  std::erase_if(lines, [](std::string_view line) {
    return line.find_first_not_of(" \t\r") == std::string_view::npos;
  });
  // The header that precedes standard error when there is no other output.
  if (!lines.empty() && lines.front() == "[stderr]") lines.erase(lines.begin());
  std::string out;
  std::size_t from = 0;
  if (lines.size() > kOutputLinesMax) {
    from = lines.size() - kOutputLinesMax + 1;
    out += std::string(kIndent) +
           paint(fmt::format("… {} lines before", from), Paint::dim, paper.colour) + "\n";
  }
  for (std::size_t i = from; i < lines.size(); ++i)
    out += std::string(kIndent) + paint(laid(lines[i], paper), Paint::dim, paper.colour) + "\n";
  return out;
}

std::string diff_text(std::string_view diff, Paper paper) {
  std::vector<std::string_view> lines = lines_of(diff);
  // Skip the file names, which are already in the line of the call.
  while (!lines.empty() && !lines.front().starts_with("@@")) lines.erase(lines.begin());
  const std::size_t shown = std::min(lines.size(), kDiffLinesMax);
  std::string out;
  for (std::size_t i = 0; i < shown; ++i)
    out += std::string(kIndent) +
           paint(laid(lines[i], paper), paint_of_diff(lines[i]), paper.colour) + "\n";
  if (lines.size() > shown) out += more(lines.size() - shown, "line", paper);
  return out;
}

std::string plan_text(std::string_view args, Paper paper) {
  UpdatePlanArgs plan;
  if (!from_json(args, plan, Unknown::ignore)) return {};
  std::string out;
  const std::size_t shown = std::min(plan.plan.size(), kPlanStepsMax);
  for (std::size_t i = 0; i < shown; ++i) {
    const PlanStep& line = plan.plan[i];
    const bool done = line.status == PlanStatus::completed;
    const bool under_way = line.status == PlanStatus::in_progress;
    const std::string_view box = done ? "☑ " : under_way ? "▸ " : "☐ ";
    const Paint how = done ? Paint::dim : under_way ? Paint::bold : Paint::plain;
    const std::size_t room = paper.width > 4 ? paper.width - 4 : 0;
    const std::string step = room > 0 ? fit(one_line(line.step), room) : one_line(line.step);
    out += std::string(kIndent) + paint(box, done ? Paint::green : Paint::cyan, paper.colour) +
           paint(step, how, paper.colour) + "\n";
  }
  if (plan.plan.size() > shown) out += more(plan.plan.size() - shown, "step", paper);
  return out;
}

}  // namespace agentrt::cli
