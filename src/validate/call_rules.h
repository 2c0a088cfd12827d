// validate/call_rules.h: rules for tool calls, the permissions and actions they wait for, and their
// hooks and sandboxes.
#pragma once

#include "schema/provisional.h"
#include "validate/rule_context.h"

namespace agentrt::validate {

inline constexpr std::size_t kActionsWaitingMax = 1'024;  // per thread, tracked by id

class CallRules {
 public:
  explicit CallRules(RuleContext& hearing) : hearing_(hearing) {}

  void operator()(const schema::ToolStarted& p);
  void operator()(const schema::ToolArgs& p);
  void operator()(const schema::ToolProgress& p);
  void operator()(const schema::ToolResult& p);
  void operator()(const schema::ToolFailed& p);
  void operator()(const schema::PermissionEvaluated& p);
  void operator()(const schema::PermissionRequested& p);
  void operator()(const schema::PermissionResolved& p);
  void operator()(const schema::ActionRequired& p);
  void operator()(const schema::ActionResolved& p);
  void operator()(const schema::HookStarted& p);
  void operator()(const schema::HookCompleted& p);
  void operator()(const schema::HookFailed& p);
  void operator()(const schema::SandboxApplied& p);
  void operator()(const schema::ProcessStarted& p);
  void operator()(const schema::ModelRequested& p);
  void operator()(const schema::CompactionStarted& p);
  void operator()(const schema::CompactionCompleted& p);
  void operator()(const schema::CompactionFailed& p);
  void operator()(const schema::TaskAttemptCompleted& p);
  void operator()(const schema::TaskAttemptFailed& p);
  void operator()(const schema::TurnCompleted& p);
  void operator()(const schema::TurnFailed& p);

  // The open actions of the event's thread.
  std::vector<std::string> open_actions() const;

 private:
  enum class CallState { unknown, open, closed };
  struct Call {
    CallState state = CallState::unknown;
    Key step = 0;
    bool has_input = false;
    bool has_policy = false;  // tool.started recorded why it was allowed
    bool blocked = false;     // by a hook
    bool asked = false;       // permission.requested is unanswered
    bool sandboxed = false;
    std::uint64_t gates = 0;  // open actions that block the call
    std::optional<schema::Decision> decision;
  };
  struct Action {
    Key call = 0;  // 0: it blocks the whole turn
    Key turn = 0;
    Key thread = 0;
    bool open = true;
    std::vector<std::string> decisions;

    bool offers(std::string_view decision) const;
  };
  struct Hook {
    std::uint64_t running = 0;  // runs that have not ended
    schema::HookPoint point = schema::HookPoint::pre_tool_use;
  };
  struct Turn {
    std::uint64_t calls = 0;      // open
    std::uint64_t actions = 0;    // open
    std::uint64_t gates = 0;      // open actions that block the turn itself
    std::uint64_t sandboxes = 0;  // applied, not yet used by a process
    std::uint64_t hooks = 0;      // runs that have not ended
    bool compacting = false;
  };

  Call* open_call();
  void close_call(Call& call);
  void held_back(const Call* call, std::string_view what);
  void decide(schema::Decision decision);
  void hook_end(const std::optional<std::string>& run, schema::HookPoint point);
  Key hook_key(const std::optional<std::string>& run, schema::HookPoint point) const;
  void attempt_ended();
  void turn_ended();
  Key call_key() const { return hearing_.key(hearing_.head().tool_call_id); }
  Call* call() { return hearing_.head().tool_call_id.empty() ? nullptr : &calls_.at(call_key()); }
  Turn& turn() { return turns_.at(hearing_.key(hearing_.head().turn_id)); }

  RuleContext& hearing_;
  Table<Call> calls_;
  Table<Action> actions_;
  Table<Turn> turns_;
  Table<std::vector<std::string>> waiting_;  // by thread: ids of open actions
  Table<Hook> hooks_;
  Table<bool> sandboxes_;  // by process
};

}  // namespace agentrt::validate
