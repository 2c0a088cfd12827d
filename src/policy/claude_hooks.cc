#include "policy/claude_hooks.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "policy/claude_names.h"
#include "tools/registry.h"

namespace agentrt::policy {

using schema::Category;
using schema::Decision;
using schema::HookInput;
using schema::HookOutcome;
using schema::HookPoint;
using schema::Json;
using schema::PermissionMode;

namespace {

using Members = std::map<std::string, Json>;
struct Object {
  Members all;
};
BOOST_DESCRIBE_STRUCT(Object, (), (all))

Members read_members(const Json& object) {
  Object read;
  (void)schema::from_json(R"({"all":)" + object.text + "}", read, schema::Unknown::ignore);
  return std::move(read.all);
}

std::string write_members(const Members& members) {
  std::string out = "{";
  for (const auto& [name, value] : members) {
    if (out.size() > 1) out += ',';
    schema::write_string(out, name);
    out += ':' + value.text;
  }
  return out + "}";
}

struct Text {
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Text, (), (text))

std::optional<std::string> text_in(const Json& json) {
  Text read;
  if (!schema::from_json(R"({"text":)" + json.text + "}", read, schema::Unknown::ignore))
    return std::nullopt;
  return std::move(read.text);
}

// Claude Code passes absolute paths, and hooks rely on it. `output:…` refers to a stored output,
// not to a file.
Json absolute(const Json& path, std::string_view cwd) {
  const auto text = text_in(path);
  if (!text || text->starts_with('/') || text->starts_with("output:")) return path;
  std::string_view rest = *text;
  while (rest.starts_with("./")) rest.remove_prefix(2);
  Json out{""};
  schema::write_string(
      out.text, rest.empty() || rest == "." ? std::string(cwd) : fmt::format("{}/{}", cwd, rest));
  return out;
}

std::string their_tool_input(const HookInput& input) {
  const auto names = arguments_for_claude(input.tool_name.value_or(""));
  const std::string_view path = tools::path_argument_of(input.tool_name.value_or(""));
  Members theirs;
  for (const auto& [name, value] : read_members(input.tool_input.value_or(Json{"{}"}))) {
    const auto found = std::ranges::find(names, std::string_view(name), &tools::NamePair::ours);
    theirs[found == names.end() ? name : std::string(found->theirs)] =
        name == path ? absolute(value, input.cwd) : value;
  }
  return write_members(theirs);
}

// Applies rewritten arguments. Our members without a Claude Code name keep their values.
Json our_tool_input(const HookInput& input, const Json& rewritten) {
  const auto names = arguments_for_claude(input.tool_name.value_or(""));
  Members ours;
  for (const auto& [name, value] : read_members(rewritten)) {
    const auto found = std::ranges::find(names, std::string_view(name), &tools::NamePair::theirs);
    ours[found == names.end() ? name : std::string(found->ours)] = value;
  }
  if (!names.empty())
    for (const auto& [name, value] : read_members(input.tool_input.value_or(Json{"{}"})))
      if (std::ranges::find(names, std::string_view(name), &tools::NamePair::ours) == names.end())
        ours.try_emplace(name, value);
  return {write_members(ours)};
}

std::string_view permission_mode(PermissionMode mode) {
  switch (mode) {
    case PermissionMode::plan:
      return "plan";
    case PermissionMode::auto_:
      return "auto";
    case PermissionMode::never:
      return "dontAsk";
    case PermissionMode::bypass:
      return "bypassPermissions";
    case PermissionMode::default_:
    case PermissionMode::untrusted:
    case PermissionMode::on_request:
    case PermissionMode::on_failure:
      break;
  }
  return "default";
}

// Writes a JSON object with Claude Code's member names, which our codec would spell differently.
class Writer {
 public:
  void text(std::string_view name, std::string_view value) {
    schema::write_string(member(name), value);
  }
  void json(std::string_view name, std::string_view value) { member(name) += value; }
  template <class T>
  void text_if(std::string_view name, const std::optional<T>& value) {
    if (value) text(name, *value);
  }
  std::string end() { return std::move(out_) + "}"; }

 private:
  std::string& member(std::string_view name) {
    if (out_.size() > 1) out_ += ',';
    schema::write_string(out_, name);
    out_ += ':';
    return out_;
  }

  std::string out_ = "{";
};

// The answer of such a hook. All members are parsed at every event; those that the event does not
// have are ignored.
struct Answer {
  std::optional<bool> continue_;
  std::optional<std::string> stop_reason;
  std::optional<bool> suppress_output;
  std::optional<std::string> system_message;
  std::optional<std::string> decision;  // block; formerly also approve
  std::optional<std::string> reason;
  std::optional<std::string> additional_context;
  std::optional<Json> hook_specific_output;
};
BOOST_DESCRIBE_STRUCT(Answer, (),
                      (continue_, stop_reason, suppress_output, system_message, decision, reason,
                       additional_context, hook_specific_output))

struct Specific {
  std::optional<std::string> permission_decision;
  std::optional<std::string> permission_decision_reason;
  std::optional<Json> updated_input;
  std::optional<std::string> additional_context;
  std::optional<Json> updated_tool_output;
  std::optional<Json> decision;  // for PermissionRequest
};
BOOST_DESCRIBE_STRUCT(Specific, (),
                      (permission_decision, permission_decision_reason, updated_input,
                       additional_context, updated_tool_output, decision))

struct Behavior {
  std::string behavior;
  std::optional<Json> updated_input;
  std::optional<std::string> message;
  std::optional<bool> interrupt;
};
BOOST_DESCRIBE_STRUCT(Behavior, (), (behavior, updated_input, message, interrupt))

HookOutcome unreadable(const std::string& why) {
  HookOutcome outcome;
  outcome.failure = schema::Failure{Category::invalid_input,
                                    "the answer of the hook is not valid: " + why, false};
  return outcome;
}

Result<void> take_input(const HookInput& input, const std::optional<Json>& rewritten,
                        HookOutcome& outcome) {
  if (!rewritten) return {};
  if (!rewritten->text.starts_with('{'))
    return fail(Code::invalid_params, "updatedInput: expected an object");
  outcome.updated_input = our_tool_input(input, *rewritten);
  return {};
}

Result<void> take_permission(const HookInput& input, const Specific& specific,
                             HookOutcome& outcome) {
  if (specific.permission_decision) {
    const std::string& word = *specific.permission_decision;
    // "defer" leaves the decision to others; here that means ask.
    const auto decision = word == "defer"
                              ? Decision::ask
                              : schema::enum_of<Decision>(word).value_or(Decision::sandboxed);
    if (decision > Decision::ask)
      return fail(Code::invalid_params, "permissionDecision: expected allow, deny or ask");
    outcome.decision = decision;
    outcome.reason = specific.permission_decision_reason;
  }
  return take_input(input, specific.updated_input, outcome);
}

Result<void> take_behavior(const HookInput& input, const Json& decision, HookOutcome& outcome) {
  Behavior read;
  TRY(schema::from_json(decision.text, read, schema::Unknown::ignore));
  if (read.behavior != "allow" && read.behavior != "deny")
    return fail(Code::invalid_params, "decision.behavior: expected allow or deny");
  outcome.decision = read.behavior == "allow" ? Decision::allow : Decision::deny;
  outcome.reason = read.message;
  if (read.interrupt.value_or(false)) outcome.continue_ = false;
  return take_input(input, read.updated_input, outcome);
}

Result<void> take_specific(const HookInput& input, const Json& json, HookOutcome& outcome) {
  Specific specific;
  TRY(schema::from_json(json.text, specific, schema::Unknown::ignore));
  if (specific.additional_context)
    outcome.additional_context.push_back(*specific.additional_context);
  if (input.point == HookPoint::pre_tool_use) return take_permission(input, specific, outcome);
  if (input.point == HookPoint::permission_request && specific.decision)
    return take_behavior(input, *specific.decision, outcome);
  if (input.point == HookPoint::post_tool_use && specific.updated_tool_output)
    outcome.updated_tool_output =
        text_in(*specific.updated_tool_output).value_or(specific.updated_tool_output->text);
  return {};
}

Result<void> take_answer(const HookInput& input, const std::string& out, HookOutcome& outcome) {
  Answer answer;
  TRY(schema::check_json(out));
  TRY(schema::from_json(out, answer, schema::Unknown::ignore));
  outcome.suppress_output = answer.suppress_output.value_or(false);
  outcome.message = answer.system_message;
  if (answer.additional_context) outcome.additional_context.push_back(*answer.additional_context);
  if (answer.decision == "block") {
    outcome.block = claude_blocks_at(input.point);
    outcome.reason = answer.reason;
  } else if (answer.decision == "approve" && input.point == HookPoint::pre_tool_use) {
    outcome.decision = Decision::allow;
    outcome.reason = answer.reason;
  } else if (answer.decision && answer.decision != "approve") {
    return fail(Code::invalid_params, "decision: expected block");
  }
  if (answer.hook_specific_output) TRY(take_specific(input, *answer.hook_specific_output, outcome));
  if (!answer.continue_.value_or(true)) {
    outcome.continue_ = false;
    if (answer.stop_reason) outcome.reason = answer.stop_reason;
  }
  return {};
}

}  // namespace

bool claude_blocks_at(HookPoint point) {
  return point != HookPoint::session_start && point != HookPoint::post_tool_failure;
}

std::string claude_input(const HookInput& input) {
  Writer writer;
  writer.text("session_id", input.session_id.text());
  writer.text("cwd", input.cwd);
  writer.text("permission_mode", permission_mode(input.mode));
  writer.text("hook_event_name", event_of_point(input.point));
  writer.text_if("source", input.source);
  writer.text_if("prompt", input.prompt);
  if (input.tool_name) {
    writer.text("tool_name", names_for_claude(*input.tool_name).front());
    writer.json("tool_input", their_tool_input(input));
    if (input.tool_call_id) writer.text("tool_use_id", input.tool_call_id->text());
  }
  if (input.tool_output) {
    Writer response;
    const bool process = tools::runner_of(input.tool_name.value_or("")) == tools::Runner::process;
    response.text(process ? "stdout" : "content", *input.tool_output);
    writer.json("tool_response", response.end());
  }
  if (input.error) {
    writer.text("error", input.error->message);
    writer.json("is_interrupt", input.error->category == Category::cancelled ? "true" : "false");
  }
  if (input.point == HookPoint::stop)
    writer.json("stop_hook_active", input.stop_hook_active.value_or(false) ? "true" : "false");
  writer.text_if("last_assistant_message", input.text);
  return writer.end();
}

HookOutcome claude_answer(const schema::HookSpec& hook, const HookInput& input,
                          const std::string& out) {
  HookOutcome outcome;
  if (!out.starts_with('{')) {
    // Plain text is added to the context at the start of a session or turn, and ignored elsewhere.
    const bool begins =
        hook.point == HookPoint::session_start || hook.point == HookPoint::user_prompt_submit;
    if (begins) outcome.additional_context.push_back(out);
    return outcome;
  }
  if (const auto taken = take_answer(input, out, outcome); !taken)
    return unreadable(taken.error().message);
  return outcome;
}

}  // namespace agentrt::policy
