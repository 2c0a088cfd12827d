#include "cli/views/call_view.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "cli/views/layout.h"
#include "tools/registry.h"
#include "tools/update_plan.h"

namespace agentrt::cli {
namespace {

using namespace schema;

constexpr std::string_view kIndent = "  ";
constexpr std::size_t kTitleCellsMin = 8;  // of a title beside its outcome

// "read a.txt" for a built-in tool; absent: another tool, or arguments that it cannot decode.
std::optional<std::string> own_title(const Call& call) {
  const tools::Tool* own = tools::find(call.tool);
  if (!own || own->verb.empty()) return std::nullopt;
  std::string title(own->verb);
  if (!own->object) return title;
  const auto object = own->object(call.args);
  if (!object) return std::nullopt;
  title += " " + *object;
  if (call.change)
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

// The beginning of the text member `name` in arguments that may be incomplete.
std::string_view member_in(std::string_view preview, std::string_view name) {
  const std::string quoted = fmt::format("\"{}\"", name);
  std::size_t at = preview.find(quoted);
  if (name.empty() || at == std::string_view::npos) return {};
  at = preview.find_first_not_of(" \t\r\n:", at + quoted.size());
  if (at == std::string_view::npos || preview[at] != '"') return {};
  return preview.substr(at + 1, preview.find('"', at + 1) - at - 1);
}

std::string size_words(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  return fmt::format("{} KiB", bytes / 1024);
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

void Execution::take(const Payload& payload) {
  if (const auto* started = std::get_if<ToolStarted>(&payload)) {
    const std::string_view policy = started->policy ? started->policy->text : std::string_view();
    const bool refused = policy == "\"denied\"" || policy == "\"not_evaluated\"";
    began_ = !refused && tools::runner_of(started->tool_name) != tools::Runner::process;
  } else if (std::holds_alternative<ProcessStarted>(payload)) {
    began_ = true;
  } else if (const auto* failed = std::get_if<ProcessFailed>(&payload)) {
    if (failed->never_ran.value_or(false)) began_ = false;
  } else if (const auto* evaluated = std::get_if<PermissionEvaluated>(&payload)) {
    // After the start: the call differs from what was approved.
    if (evaluated->decision == Decision::deny) began_ = false;
  }
}

std::string call_title(const Call& call) {
  if (const auto title = own_title(call)) return one_line(*title);
  const std::string name = one_line(spoken_name(call.tool));
  return call.args.empty() || call.args == "{}" ? name : name + " " + one_line(call.args);
}

std::string written_title(std::string_view tool, std::string_view preview, std::uint64_t bytes) {
  const tools::Tool* own = tools::find(tool);
  std::string title = own && !own->verb.empty() ? std::string(own->verb) : spoken_name(tool);
  std::string_view object;
  if (own) object = member_in(preview, own->path.name.empty() ? "command" : own->path.name);
  if (!object.empty()) title += " " + std::string(object);
  return fmt::format("{} · {}", one_line(title), size_words(bytes));
}

std::string call_line(const Call& call, CallEnd end, std::int64_t duration_ms,
                      std::string_view detail, Paper paper) {
  const bool ok = end == CallEnd::done;
  std::string outcome;
  const auto command = tools::command_in(call.tool, call.args);
  if (ok && command && command->background) outcome += " · in the background";
  if (ok && command && command->tty) outcome += " · tty";
  if (end == CallEnd::failed && call.exit_code)
    outcome += fmt::format(" · exit code {}", *call.exit_code);
  else if (end == CallEnd::failed)
    outcome += " · failed";
  if (end == CallEnd::refused)
    outcome += " · not run";
  else
    outcome += " · " + spoken_duration(duration_ms);
  if (call.number) outcome += fmt::format(" · #{}", *call.number);
  std::string title = call_title(call);
  const bool outside = call.outside && end != CallEnd::refused;
  const std::string_view alarm = outside ? "OUTSIDE THE SANDBOX " : "";
  // If the outcome leaves too little room, the title gets its own line.
  const std::size_t taken = 2 + width_of(alarm) + width_of(outcome);
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
                    " " + paint(alarm, Paint::red, paper.colour) + title +
                    paint(outcome, Paint::dim, paper.colour) + "\n";
  if (outside) {
    std::string how = "it ran " + *call.outside;
    if (command && command->justification) how += "; the model says: " + *command->justification;
    for (const std::string& line : prose_lines(
             one_line(how), paper.width > kIndent.size() ? paper.width - kIndent.size() : 0))
      out += std::string(kIndent) + paint(line, Paint::red, paper.colour) + "\n";
  }
  if (!detail.empty())
    for (const std::string& line : prose_lines(
             one_line(detail), paper.width > kIndent.size() ? paper.width - kIndent.size() : 0))
      out += std::string(kIndent) + paint(line, Paint::yellow, paper.colour) + "\n";
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
           paint(fmt::format("… {} earlier lines", from), Paint::dim, paper.colour) + "\n";
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
  tools::UpdatePlanArgs plan;
  if (!from_json(args, plan, Unknown::ignore)) return {};
  std::string out;
  const std::size_t shown = std::min(plan.plan.size(), kPlanStepsMax);
  for (std::size_t i = 0; i < shown; ++i) {
    const tools::PlanStep& line = plan.plan[i];
    const bool done = line.status == tools::PlanStatus::completed;
    const bool under_way = line.status == tools::PlanStatus::in_progress;
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
