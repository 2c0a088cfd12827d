#include "policy/hooks.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/claude_hooks.h"
#include "policy/claude_names.h"
#include "policy/stars.h"

namespace agentrt::policy {

using schema::Category;
using schema::Decision;
using schema::HookDialect;
using schema::HookOutcome;
using schema::HookPoint;

namespace {

// The answer of a hook in our own dialect. Every member is optional.
struct Answer {
  std::optional<bool> continue_;
  std::optional<bool> block;
  std::optional<Decision> decision;
  std::optional<std::string> reason;
  std::optional<schema::Json> updated_input;
  std::optional<std::vector<std::string>> additional_context;
  std::optional<std::string> updated_tool_output;
  std::optional<bool> suppress_output;
  std::optional<std::string> message;
  std::optional<std::vector<std::string>> audit;
};
BOOST_DESCRIBE_STRUCT(Answer, (),
                      (continue_, block, decision, reason, updated_input, additional_context,
                       updated_tool_output, suppress_output, message, audit))

HookOutcome failed(Category category, std::string why) {
  HookOutcome outcome;
  outcome.failure = schema::Failure{category, std::move(why), false};
  return outcome;
}

bool decides(HookPoint point) {
  return point == HookPoint::pre_tool_use || point == HookPoint::permission_request;
}

// After a failed call there is nothing left to block.
bool can_block(const schema::HookSpec& hook) {
  if (hook.dialect == HookDialect::claude) return claude_blocks_at(hook.point);
  return hook.point != HookPoint::post_tool_failure;
}

// A member that has no meaning at this point. It is an error, so that its author notices.
std::optional<std::string> misplaced(const Answer& answer, HookPoint point) {
  if (answer.block && point == HookPoint::post_tool_failure) return "block";
  if (answer.decision && !decides(point)) return "decision";
  if (answer.updated_input && !decides(point)) return "updatedInput";
  if (answer.updated_tool_output && point != HookPoint::post_tool_use) return "updatedToolOutput";
  return std::nullopt;
}

HookOutcome read_answer(HookPoint point, const std::string& out) {
  Answer answer;
  if (const auto whole = schema::check_json(out); !whole)
    return failed(Category::invalid_input,
                  fmt::format("the standard output of the hook is not one JSON object: {}",
                              whole.error().message));
  if (const auto read = schema::from_json(out, answer, schema::Unknown::refuse); !read)
    return failed(Category::invalid_input,
                  fmt::format("the answer of the hook is not valid: {}", read.error().message));
  if (const auto member = misplaced(answer, point))
    return failed(Category::invalid_input,
                  fmt::format("the answer of the hook has {}, which is not allowed at {}", *member,
                              schema::name_of(point)));
  if (answer.decision && *answer.decision > Decision::ask)
    return failed(Category::invalid_input, "decision: expected allow, deny or ask");
  if (answer.updated_input && !answer.updated_input->text.starts_with('{'))
    return failed(Category::invalid_input, "updatedInput: expected an object");
  HookOutcome outcome;
  outcome.continue_ = answer.continue_.value_or(true);
  outcome.block = answer.block.value_or(false);
  outcome.decision = answer.decision;
  outcome.reason = std::move(answer.reason);
  outcome.updated_input = std::move(answer.updated_input);
  if (answer.additional_context) outcome.additional_context = *std::move(answer.additional_context);
  outcome.updated_tool_output = std::move(answer.updated_tool_output);
  outcome.suppress_output = answer.suppress_output.value_or(false);
  outcome.message = std::move(answer.message);
  if (answer.audit) outcome.audit = *std::move(answer.audit);
  return outcome;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// The text on standard error, if there is any.
std::optional<std::string> complaint_of(const HookEnd& end) {
  const auto text = schema::utf8_prefix(trimmed(end.err), schema::kHookReasonBytesMax);
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

HookOutcome blocked(const schema::HookSpec& hook, const HookEnd& end) {
  HookOutcome outcome;
  if (!can_block(hook)) {
    outcome.message = complaint_of(end);
    return outcome;
  }
  outcome.block = true;
  outcome.reason = complaint_of(end).value_or("the hook blocked it without giving a reason");
  return outcome;
}

HookOutcome ended_badly(const HookEnd& end) {
  std::string why = end.exit_code
                        ? fmt::format("the hook ended with exit code {}", *end.exit_code)
                        : fmt::format("the hook was killed by signal {}", end.signal.value_or(0));
  if (const auto complaint = complaint_of(end)) why += ": " + *complaint;
  return failed(Category::exit_nonzero, std::move(why));
}

HookOutcome outcome_of_end(const schema::HookSpec& hook, const schema::HookInput& input,
                           const HookEnd& end) {
  constexpr std::int64_t kBlocks = 2;
  if (end.exit_code == kBlocks) return blocked(hook, end);
  if (end.exit_code != 0) return ended_badly(end);
  const std::string out(trimmed(end.out));
  if (out.empty()) return {};
  return hook.dialect == HookDialect::claude ? claude_answer(hook, input, out)
                                             : read_answer(hook.point, out);
}

bool matches_name(std::string_view pattern, std::string_view name) {
  return row_fits(
      name, pattern, [](char c) { return c == '*'; }, [](char a, char b) { return a == b; });
}

}  // namespace

bool concerns_a_tool(HookPoint point) {
  return point == HookPoint::pre_tool_use || point == HookPoint::permission_request ||
         point == HookPoint::post_tool_use || point == HookPoint::post_tool_failure;
}

bool matches(std::string_view matcher, std::string_view name) {
  if (matcher.empty()) return true;
  for (;;) {
    const std::size_t bar = matcher.find('|');
    if (matches_name(matcher.substr(0, bar), name)) return true;
    if (bar == matcher.npos) return false;
    matcher.remove_prefix(bar + 1);
  }
}

bool is_matcher(std::string_view text) {
  constexpr std::string_view kMarks = "_-.*|";
  return text.size() <= schema::kHookMatcherBytesMax && std::ranges::all_of(text, [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  kMarks.find(c) != kMarks.npos;
         });
}

bool hook_applies(const schema::HookSpec& hook, HookPoint point, std::string_view subject) {
  if (hook.point != point) return false;
  if (hook.dialect == HookDialect::claude && concerns_a_tool(point))
    return std::ranges::any_of(names_for_claude(subject),
                               [&](std::string_view name) { return matches(hook.matcher, name); });
  if (concerns_a_tool(point) || point == HookPoint::session_start)
    return matches(hook.matcher, subject);
  return true;
}

std::string hook_input(const schema::HookInput& input, HookDialect dialect) {
  return dialect == HookDialect::claude ? claude_input(input) : schema::to_json(input);
}

HookOutcome hook_outcome(const schema::HookSpec& hook, const schema::HookInput& input,
                         const HookEnd& end) {
  HookOutcome outcome = outcome_of_end(hook, input, end);
  if (outcome.failure || !decides(hook.point)) return outcome;
  if (outcome.decision == Decision::deny) outcome.block = true;
  if (outcome.block) outcome.decision = Decision::deny;
  return outcome;
}

}  // namespace agentrt::policy
