// validate/mutation_reasons_test.cc: mutations that are harmless or cannot be detected.
#include <algorithm>

#include "validate/testing/mutation.h"

namespace agentrt::validate {
namespace {

bool one_of(std::string_view list, std::string_view type) {
  while (!list.empty()) {
    const std::size_t space = std::min(list.find(' '), list.size());
    if (list.substr(0, space) == type) return true;
    list.remove_prefix(std::min(space + 1, list.size()));
  }
  return false;
}

// Optional facts that nothing else in a stream depends on.
constexpr std::string_view kFree =
    "run.status task.progress tool.progress item.updated job.progress subagent.status "
    "context.resolved tool.catalog.resolved task.profile.resolved routing.candidates.resolved "
    "history.window.loaded history.reconstructed snapshot.updated snapshot.repaired "
    "thread.updated session.updated runtime.warning runtime.error policy.changed artifact.changed "
    "evidence.changed cost.estimated rate_limit.hit sandbox.violation reasoning.summary "
    "task.updated task.accepted task.queued channel.message channel.peer_task.updated "
    "output.truncated output.redacted output.spilled quota.low limit.changed";

// Facts that may be repeated unchanged.
constexpr std::string_view kRepeatable =
    "permission.evaluated permission.requested sandbox.applied routing.decided "
    "routing.single_candidate routing.fallback.applied routing.not_possible quota.blocked "
    "task.blocked task.waiting task.paused task.cancel_requested task.dependency.updated "
    "channel.peer_task.linked";

// Facts without a fixed position: costs, and task facts that reflect the state of the turn.
constexpr std::string_view kFloating =
    "cost.recorded quota.blocked task.waiting task.blocked task.resumed task.paused task.delegated "
    "task.dependency.updated task.cancel_requested";

// Facts of one append, or of one step of a call, that may occur in either order.
struct Pair {
  std::string_view a, b;  // lists
};
constexpr Pair kEitherOrder[] = {
    {"task.created", "turn.submitted"},
    {"task.started task.retrying", "task.attempt.started turn.started turn.submitted"},
    {"task.attempt.started", "turn.started turn.submitted"},
    {"task.attempt.completed task.attempt.failed", "turn.completed turn.failed item.completed"},
    {"turn.completed turn.failed", "task.completed task.failed task.cancelled task.timed_out"},
    {"turn.failed", "task.lost"},
    {"queue.changed", "task.started task.cancelled"},
    {"task.started", "channel.peer_task.linked"},
    {"permission.evaluated permission.requested", "tool.started action.required item.started"},
    {"permission.evaluated", "permission.requested"},
    {"permission.resolved", "action.resolved"},
    {"tool.started", "action.required sandbox.applied hook.started hook.completed"},
    {"tool.failed tool.result", "action.resolved hook.started item.completed"},
    {"action.resolved", "sandbox.applied history.rollback.completed"},
    {"item.completed", "hook.started"},
    {"queue.changed", "task.attempt.completed"},
    {"action.required", "context.compaction.started history.rollback.started"},
    {"task.completed", "process.output process.completed output.expired"},
    {"context.compaction.completed", "task.attempt.completed"},
};

struct Reason {
  Damage kind;
  std::string_view types;  // any of them; empty: any type
  std::string_view why;
};

constexpr std::string_view kUnfinished =
    "an end that is missing cannot be told from one that is still to come";
constexpr std::string_view kNoSum = "no later fact repeats what the pieces add up to";
constexpr std::string_view kOptional = "the rules let a runtime do without it";
constexpr std::string_view kCountless = "nothing says how many there were";
constexpr std::string_view kAsTrue = "another word that could as well be true";
constexpr std::string_view kAnother = "another object to which it could have happened";
constexpr std::string_view kOrder = "the standard orders them and no rule judges it";

constexpr Reason kReasons[] = {
    {Damage::drop,
     "turn.completed turn.failed task.completed task.failed task.cancelled task.timed_out "
     "task.lost task.archived job.completed job.failed job.cancelled subagent.completed "
     "subagent.failed subagent.closed process.completed process.terminated output.expired "
     "channel.disconnected channel.permission_returned queue.changed "
     "cost.recorded history.rollback.completed",
     kUnfinished},
    {Damage::drop, "model.delta reasoning.delta tool.args", kNoSum},
    {Damage::drop, "process.input subagent.input channel.permission_forwarded", kCountless},
    {Damage::drop, "process.output", "pieces may be left out; the next offset shows the gap"},
    {Damage::drop, "turn.started", "a turn that did nothing yet may fail before it starts"},
    {Damage::drop,
     "permission.evaluated permission.resolved process.failed quota.blocked task.cancel_requested "
     "task.delegated "
     "task.dependency.updated task.started task.resumed task.blocked task.waiting task.paused "
     "routing.not_possible task.attempt.started hook.started task.retrying",
     kOptional},
    {Damage::twice, "model.delta reasoning.delta tool.args", kNoSum},
    {Damage::twice,
     "process.input subagent.input channel.permission_forwarded task.delegated cost.recorded",
     kCountless},
    {Damage::twice, "process.output", "a piece that is only in the spool may be named again"},
    {Damage::twice, "queue.changed", "a turn may be promoted to where it stands"},
    {Damage::swap, "model.delta reasoning.delta tool.args", kNoSum},
    {Damage::drop, "routing.decided routing.single_candidate",
     "an earlier decision of the turn stands"},
    {Damage::swap, "routing.decided routing.single_candidate",
     "an earlier decision of the turn stands"},
    {Damage::swap, "hook.completed hook.failed context.compaction.completed", kOrder},
    {Damage::swap, "process.failed process.completed process.terminated",
     "a process may outlive its call"},
    {Damage::swap, "process.input", "input and output cross each other"},
    {Damage::cut, "", "whole objects were cut out, or their ends, or what is missed alone"},
    {Damage::rename_id, kFree, kAnother},
    {Damage::rename_id,
     "task.archived task.dependency.updated queue.changed subagent.input action.required",
     kAnother},
    {Damage::rename_id,
     "hook.started hook.completed hook.failed permission.evaluated permission.requested "
     "sandbox.applied item.started item.completed process.started process.output "
     "process.input process.completed process.failed process.terminated action.resolved",
     "the type need not carry the id"},
    {Damage::rename_id, "task.created", "a task may be made long before its turn"},
};

// Groups of types that are interchangeable in a stream.
constexpr std::string_view kSisters[] = {
    "process.completed process.failed process.terminated",
    "context.compaction.completed context.compaction.failed",
    "routing.decided routing.single_candidate routing.fallback.applied routing.not_possible",
    "job.completed job.failed job.cancelled",
    "job.item.completed job.item.failed",
    "hook.completed hook.failed",
    "subagent.completed subagent.failed subagent.status subagent.input",
    "task.started task.resumed task.retrying",
    "channel.connected channel.resumed",
    "permission.evaluated permission.requested",
    "output.expired output.truncated output.redacted",
};

std::string_view reason_for(Damage kind, const std::vector<std::string>& types) {
  for (const Reason& reason : kReasons)
    if (reason.kind == kind &&
        (reason.types.empty() || std::ranges::any_of(types, [&](const std::string& type) {
           return one_of(reason.types, type);
         })))
      return reason.why;
  return "";
}

std::string_view harmless_swap(const Damaged& damaged) {
  const auto& types = damaged.types;
  if (damaged.apart) return "facts about different objects";
  for (const std::string& type : types)
    if (one_of(kFree, type) || one_of(kFloating, type)) return "one of them may come at any time";
  for (const Pair& pair : kEitherOrder)
    if ((one_of(pair.a, types[0]) && one_of(pair.b, types[1])) ||
        (one_of(pair.a, types[1]) && one_of(pair.b, types[0])))
      return "either order is right";
  return "";
}

}  // namespace

std::string_view harmless(const Damaged& damaged) {
  const auto& types = damaged.types;
  const auto all = [&](std::string_view list) {
    return std::ranges::all_of(types, [&](const auto& type) { return one_of(list, type); });
  };
  switch (damaged.kind) {
    case Damage::retime:
      return "times are made consistent again";
    case Damage::drop:
    case Damage::cut:
      return all(kFree) ? "a runtime need not tell it" : "";
    case Damage::twice:
      return all(kFree) || all(kRepeatable) ? "it may be repeated" : "";
    case Damage::swap:
      return harmless_swap(damaged);
    case Damage::rename_type:
      return all(kFree) || (one_of(kFree, types[0]) && types[1].starts_with("acme."))
                 ? "a runtime need not tell it"
                 : "";
    case Damage::rename_id:
      return damaged.unused ? "nothing else names the object" : "";
    case Damage::rename_word:
      return damaged.listed && all(kFree) ? "nothing depends on what it says" : "";
  }
  return "";
}

std::string_view reason_missed(const Damaged& damaged) {
  const auto& types = damaged.types;
  if (damaged.kind == Damage::rename_word) return damaged.listed ? kAsTrue : "";
  if (damaged.kind != Damage::rename_type) return reason_for(damaged.kind, types);
  for (const std::string_view sisters : kSisters)
    if (one_of(sisters, types[0]) && one_of(sisters, types[1])) return kAsTrue;
  if (one_of(kFree, types[0])) return "an optional fact replaces another optional one";
  // as if the old fact was dropped; the new one is harmless
  return reason_for(Damage::drop, {types[0]});
}

}  // namespace agentrt::validate
