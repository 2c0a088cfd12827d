#include "config/claude_settings.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "config/config_file.h"
#include "policy/claude_names.h"
#include "policy/hooks.h"

namespace agentrt::config {
namespace {

using schema::HookPoint;
using schema::HookSpec;
using schema::Json;
using schema::OnFailure;

constexpr std::size_t kNotesMax = 20;
constexpr std::size_t kNoteBytesMax = 256;

struct Permissions {
  std::optional<std::vector<std::string>> allow, ask, deny;
  std::optional<Json> default_mode;
};
BOOST_DESCRIBE_STRUCT(Permissions, (), (allow, ask, deny, default_mode))

struct File {
  std::optional<std::map<std::string, std::vector<Json>>> hooks;
  std::optional<Permissions> permissions;
  std::optional<bool> disable_all_hooks;
};
BOOST_DESCRIBE_STRUCT(File, (), (hooks, permissions, disable_all_hooks))

// {"matcher": …, "hooks": […]}
struct Group {
  std::optional<std::string> matcher;
  std::vector<Json> hooks;
};
BOOST_DESCRIBE_STRUCT(Group, (), (matcher, hooks))

struct Entry {
  std::string type = "command";
  std::optional<std::string> command;
  std::optional<Json> timeout;  // in seconds
  std::optional<std::string> on_failure;
  std::optional<Json> args;
  std::optional<Json> if_;
  std::optional<bool> async;
};
BOOST_DESCRIBE_STRUCT(Entry, (), (type, command, timeout, on_failure, args, if_, async))

// In Claude Code, a failed hook does not block unless configured to. Here, hooks that decide on a
// call do: a broken guard must not let calls through.
OnFailure on_failure_of(const Entry& entry, HookPoint point) {
  if (entry.on_failure)
    return *entry.on_failure == "continue" ? OnFailure::open : OnFailure::closed;
  const bool decides = point == HookPoint::pre_tool_use || point == HookPoint::permission_request;
  return decides ? OnFailure::closed : OnFailure::open;
}

class Reader {
 public:
  Reader(const std::string& path, schema::RuleOrigin origin, RuleReader rule_of)
      : path_(path), origin_(origin), rule_of_(rule_of) {}

  Result<ClaudeSettings> read(const std::string& text) {
    File file;
    if (const auto whole = schema::check_json(text); !whole) return wrong("", whole.error());
    if (const auto read = schema::from_json(text, file, schema::Unknown::ignore); !read)
      return wrong("", read.error());
    if (file.permissions) read_permissions(*file.permissions);
    if (file.disable_all_hooks.value_or(false) || !file.hooks) return std::move(out_);
    for (const auto& [event, groups] : *file.hooks) TRY(read_event(event, groups));
    return std::move(out_);
  }

 private:
  std::unexpected<Error> wrong(const std::string& place, const Error& error) const {
    return wrong_at(
        path_, 0, place.empty() ? "is not valid:" : place + " is not valid:", error.message + ".");
  }
  void note(const std::string& words) {
    if (out_.unmapped.size() < kNotesMax)
      out_.unmapped.emplace_back(schema::utf8_prefix(words, kNoteBytesMax));
    else
      out_.unmapped.back() = "and more";
  }

  void read_permissions(const Permissions& permissions) {
    read_rules(schema::RuleEffect::allow, permissions.allow);
    read_rules(schema::RuleEffect::ask, permissions.ask);
    read_rules(schema::RuleEffect::deny, permissions.deny);
    if (permissions.default_mode) note("permissions.defaultMode is ignored");
  }
  void read_rules(schema::RuleEffect effect, const std::optional<std::vector<std::string>>& rules) {
    constexpr std::size_t kNamed = 3;
    if (!rules) return;
    std::vector<std::string> left;
    for (const std::string& rule : *rules) {
      if (auto ours = rule_of_(rule))
        out_.rules.push_back({effect, *std::move(ours), origin_});
      else
        left.push_back(rule);
    }
    if (left.empty()) return;
    const std::size_t more = left.size() - std::min(left.size(), kNamed);
    left.resize(left.size() - more);
    note(fmt::format("permissions.{} has rules without an equivalent, which are ignored: {}{}",
                     schema::name_of(effect), fmt::join(left, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : ""));
  }

  Result<void> read_event(const std::string& event, const std::vector<Json>& groups) {
    const auto point = policy::point_of_event(event);
    if (!point) {
      if (!groups.empty()) note(fmt::format("{} has no equivalent and is ignored", event));
      return {};
    }
    for (const Json& json : groups) {
      Group group;
      if (const auto read = schema::from_json(json.text, group, schema::Unknown::ignore); !read)
        return wrong("hooks." + event, read.error());
      for (const Json& hook : group.hooks)
        TRY(read_hook(event, *point, group.matcher.value_or(""), hook));
    }
    return {};
  }

  Result<void> read_hook(const std::string& event, HookPoint point, const std::string& expression,
                         const Json& json) {
    Entry entry;
    if (const auto read = schema::from_json(json.text, entry, schema::Unknown::ignore); !read)
      return wrong("hooks." + event, read.error());
    if (entry.type != "command") {
      note(fmt::format("{}: a hook of type \"{}\" is not run", event, entry.type));
      return {};
    }
    if (!entry.command || entry.command->empty())
      return wrong("hooks." + event, {Code::invalid_params, "a hook has no command", {}});
    if (entry.command->size() > schema::kHookCommandBytesMax)
      return wrong("hooks." + event,
                   {Code::invalid_params,
                    fmt::format("a command is longer than {} bytes", schema::kHookCommandBytesMax),
                    {}});
    if (entry.args) {
      note(fmt::format("{}: \"{}\" is not run: args are not supported", event, *entry.command));
      return {};
    }
    HookSpec hook;
    hook.point = point;
    hook.command = *entry.command;
    hook.matcher = matcher_of(event, point, expression);
    hook.timeout_ms = timeout_of(event, entry);
    hook.on_failure = on_failure_of(entry, point);
    hook.origin = origin_;
    hook.dialect = schema::HookDialect::claude;
    if (entry.if_)
      note(fmt::format(
          "{}: \"if\" is ignored, so \"{}\" runs for every call that its matcher matches", event,
          hook.command));
    if (entry.async.value_or(false))
      note(fmt::format("{}: \"async\" is ignored, so the turn waits for \"{}\"", event,
                       hook.command));
    out_.hooks.push_back(std::move(hook));
    return {};
  }

  std::string matcher_of(const std::string& event, HookPoint point, const std::string& expression) {
    if (!policy::concerns_a_tool(point) && point != HookPoint::session_start) return "";
    if (auto matcher = policy::matcher_of_claude(expression)) return *std::move(matcher);
    note(fmt::format("{}: the matcher \"{}\" is not supported, so its hooks run for every tool",
                     event, expression));
    return "";
  }

  std::uint64_t timeout_of(const std::string& event, const Entry& entry) {
    if (!entry.timeout) return schema::kHookTimeoutMaxMs;
    const double ms = std::strtod(entry.timeout->text.c_str(), nullptr) * 1'000;
    if (ms >= 1 && ms <= static_cast<double>(schema::kHookTimeoutMaxMs))
      return static_cast<std::uint64_t>(ms);
    note(fmt::format("{}: the timeout {} of \"{}\" is out of range; {} s is used instead", event,
                     entry.timeout->text, *entry.command, schema::kHookTimeoutMaxMs / 1'000));
    return schema::kHookTimeoutMaxMs;
  }

  const std::string& path_;
  schema::RuleOrigin origin_;
  RuleReader rule_of_;
  ClaudeSettings out_;
};

}  // namespace

Result<ClaudeSettings> read_claude_settings(const std::string& text, const std::string& path,
                                            schema::RuleOrigin origin, RuleReader rule_of) {
  return Reader(path, origin, rule_of).read(text);
}

}  // namespace agentrt::config
