#include "validate/members.h"

namespace agentrt::validate {
namespace {

struct Row {
  std::string_view type;
  std::string_view members;  // "a|b": one of them is required; "c?": optional
};

constexpr Row kRows[] = {
    {"thread.started", "status?"},
    {"thread.updated", "status?"},
    {"turn.submitted", "status input|inputRef source options?"},
    {"turn.started", "status?"},
    {"turn.completed", "status stopReason usage durationMs"},
    {"turn.failed", "status reason error?"},
    {"run.status", "status phase title detail?"},
    {"queue.changed", "change turnId position count"},
    {"task.created", "status? visibility?"},
    {"task.accepted", "status?"},
    {"task.queued", "status?"},
    {"task.started", "status?"},
    {"task.updated", "status?"},
    {"task.waiting", "status? reason?"},
    {"task.paused", "status?"},
    {"task.resumed", "status?"},
    {"task.retrying", "status?"},
    {"task.cancel_requested", "status?"},
    {"task.timed_out", "status?"},
    {"task.lost", "status?"},
    {"task.archived", "status?"},
    {"task.dependency.updated", "relationship? targetTaskId? status?"},
    {"task.blocked", "status? reason?"},
    {"task.completed", "status?"},
    {"task.failed", "status?"},
    {"task.cancelled", "status?"},
    {"task.attempt.started", "status? attemptCount?"},
    {"task.attempt.completed", "status?"},
    {"task.attempt.failed", "status?"},
    {"model.requested", "provider model requestRef?"},
    {"model.delta", "text"},
    {"reasoning.delta", "text"},
    {"model.completed", "text|outputRef toolCalls? stopReason usage provider? model?"},
    {"model.failed", "error"},
    {"item.started", "kind"},
    {"item.updated", "kind"},
    {"item.completed", "kind"},
    {"snapshot.updated", "asOfSequence?"},
    {"snapshot.repaired", "asOfSequence?"},
    {"history.reconstructed", "asOfSequence?"},
    {"history.window.loaded", "fromSequence? toSequence?"},
    {"history.rollback.completed", "removedTurns? cancelledActionIds?"},
    {"context.compaction.completed", "preservedActionIds?"},
    {"routing.decided", "selectedProvider? selectedModel decisionReason? candidateCount?"},
    {"routing.single_candidate", "selectedModel candidateCount?"},
    {"routing.fallback.applied", "selectedModel"},
    {"routing.candidates.resolved", "candidateCount?"},
    {"tool.catalog.resolved", "tools|sameAs"},
    {"tool.started", "toolName safeArgs?|inputRef? policy?"},
    {"tool.args", "delta"},
    {"tool.result", "preview? outputRef? isError? durationMs?"},
    {"tool.failed", "error?"},
    {"action.required", "actionType prompt|schema decisions? digest? expiresAt?"},
    {"action.resolved", "decision decisionSource"},
    {"permission.evaluated", "decision decisionSource decisionReason? ruleRefs? chain?"},
    {"permission.resolved", "decision decisionSource"},
    {"sandbox.applied", "mode? cwd?"},
    {"sandbox.violation", "kind attempted layer"},
    {"hook.started", "point"},
    {"hook.completed", "point"},
    {"hook.failed", "point"},
    {"process.started", "command cwd? tty? pid?"},
    {"process.output", "stream text|outputRef offset?"},
    {"process.completed", "exitCode? durationMs? outputRefs?"},
    {"output.spilled", "outputRef size mediaType? encoding? preview?"},
    {"output.truncated", "outputRef"},
    {"output.redacted", "outputRef"},
    {"output.expired", "outputRef"},
    {"cost.recorded", "amountNanos currency usage?"},
    {"quota.low", "limit scope usedNanos? reservedNanos? limitNanos?"},
    {"quota.blocked", "limit scope usedNanos? reservedNanos? limitNanos?"},
    {"job.progress", "counts?"},
    {"job.item.started", "attemptCount?"},
    {"job.item.completed", "attemptCount?"},
    {"job.item.failed", "attemptCount?"},
    {"job.completed", "counts?"},
    {"job.failed", "counts?"},
    {"job.cancelled", "counts?"},
    {"subagent.status", "status"},
    {"channel.connected", "transport peerRole"},
    {"channel.permission_returned", "decision"},
    {"channel.peer_task.linked", "remoteTaskId"},
};

FixedMember parse(std::string_view word) {
  FixedMember member;
  for (;;) {
    const std::size_t bar = word.find('|');
    std::string_view name = word.substr(0, bar);
    if (name.ends_with('?')) {
      member.need = Need::optional;
      name.remove_suffix(1);
    }
    member.names.push_back(name);
    if (bar == word.npos) return member;
    word.remove_prefix(bar + 1);
  }
}

}  // namespace

std::vector<FixedMember> fixed_members(std::string_view type) {
  std::vector<FixedMember> out;
  for (const Row& row : kRows) {
    if (row.type != type) continue;
    std::string_view rest = row.members;
    while (!rest.empty()) {
      const std::size_t space = rest.find(' ');
      out.push_back(parse(rest.substr(0, space)));
      rest.remove_prefix(space == rest.npos ? rest.size() : space + 1);
    }
  }
  return out;
}

}  // namespace agentrt::validate
