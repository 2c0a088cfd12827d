#include "validate/rules.h"

#include <algorithm>

namespace agentrt::validate {
namespace {

using enum Severity;
using enum Profile;
using enum Standing;

constexpr Rule kRules[] = {
    // every event
    {"envelope.json", must, core, settled, "Every line can be read by any client.",
     "a line that is not one JSON object in UTF-8, or is nested too deep"},
    {"envelope.members", must, core, settled,
     "Every event states its type, its place in the stream and its time.",
     "type, eventId, sessionId, sequence, timestamp (UTC) or payload (an object) missing or of the "
     "wrong kind; an id that is not a string"},
    {"envelope.origin", should, core, settled,
     "A reader knows which runtime wrote an event and which schema version it used.",
     "schemaVersion or runtimeId missing"},
    {"envelope.type", must, core, settled,
     "Event types in the standard's families are those that the standard defines.",
     "a type in one of those families that the standard does not define, such as turn.cancelled; "
     "types in other families are vendor types and are not checked"},
    {"envelope.ids", must, core, settled,
     "Every event can be correlated with the object it belongs to.",
     "a missing correlation id that every event of the type must carry"},
    {"ids.event_unique", must, core, settled, "Event ids are unique.",
     "an eventId that was used before"},
    {"ids.stable", must, core, settled, "An object belongs to the same parent for its whole life.",
     "a turn whose thread, task, run or attempt id changes; a tool call whose step changes; an "
     "action whose tool call changes"},
    {"order.sequence", must, core, settled,
     "A client that has seen sequence N has seen everything up to N.",
     "a session whose sequence does not start at 1, has a gap, repeats or decreases"},
    {"order.time", must, core, settled, "Timestamps never decrease within a session.",
     "a timestamp earlier than that of the previous event"},
    {"payload.members", should, core, settled,
     "Clients find the payload members that they rely on.",
     "a missing payload member that the standard defines for the type"},
    {"payload.shape", must, core, settled,
     "A payload member with a standard name has the same meaning everywhere.",
     "such a member with a value of the wrong type, or outside its enumeration"},
    {"payload.large", must, core, settled,
     "Streams stay small: large output is referenced, not copied.",
     "more than 72 KiB of model, tool, process or item output in one event"},
    {"refs.log", must, full, settled, "A ref into the log points to an earlier event.",
     "log:N or log:FIRST-LAST that points to the event itself, to a later event or to none"},
    // sessions, threads, turns, the queue
    {"session.first", must, core, settled, "A session is created exactly once.",
     "a session whose first event is not session.created, or a second session.created"},
    {"thread.first", must, core, settled, "A thread starts exactly once.",
     "an event of a thread before its thread.started, a second thread.started, or a thread.started "
     "with the status of an ended thread"},
    {"thread.one_turn", must, core, settled, "A thread runs one turn at a time.",
     "turn.started while another turn of the thread is running"},
    {"turn.first", must, core, settled, "Every turn was submitted before anything happens in it.",
     "an event of a turn before its turn.submitted"},
    {"turn.order", must, core, settled, "A turn is submitted, started and ended, in this order.",
     "a turn that is submitted or started twice, does work before turn.started, or completes "
     "without having started"},
    {"turn.final", must, core, settled, "A turn that has ended stays ended.",
     "a second end of a turn, or any work, status, action or decision after its end"},
    {"turn.outcome", must, core, settled, "The status of a turn matches the type of the event.",
     "turn.submitted with a status other than accepted or queued, turn.started with one other than "
     "running or preparing, turn.completed with one other than completed, turn.failed with one "
     "other than failed, cancelled or timed_out"},
    {"turn.first_status", must, core, settled, "A user sees a status before the first output.",
     "model, tool or process output of a turn before its first run.status"},
    {"turn.closed", must, core, settled, "A turn ends only after everything it started has ended.",
     "a turn that ends while one of its model requests, tool calls, actions or items is open; an "
     "attempt that ends while one of its model requests, tool calls or actions is open"},
    {"turn.earned", must, core, settled, "A turn succeeds only if its last model request did.",
     "turn.completed although the last model request of the turn failed"},
    {"queue.place", must, core, settled, "The queue contains exactly the waiting turns.",
     "a turn that is queued twice, leaves a queue it is not in, is queued although it is running "
     "or has ended, starts before the turns ahead of it, or has a position beyond the end of the "
     "queue"},
    {"queue.count", must, core, settled, "The length of the queue is known at any time.",
     "queue.changed with a count that does not follow from the changes so far"},
    {"queue.runs", must, core, settled, "A turn is either queued or running, never both.",
     "turn.started of a queued turn without a queue.changed that removes it from the queue"},
    // models, routing, cost, items
    {"model.order", must, core, settled, "Every model request has one outcome.",
     "deltas or an end of a request that was not started or has ended; a request that is started "
     "twice"},
    {"model.adds_up", must, core, settled, "The streamed deltas add up to the final text.",
     "model.completed whose text differs from the concatenated deltas of the request, or with stop "
     "reason tool_use but without tool calls"},
    {"item.order", must, full, settled, "A client can follow a turn from its items alone.",
     "an item that starts twice, is updated or ended when it is not open, changes its kind, "
     "shrinks, "
     "or ends with a status that is not final; a call that starts after its item has ended"},
    {"routing.explains", should, full, settled,
     "Every model request has a routing decision that explains it.",
     "model.requested in a turn without a routing decision"},
    {"routing.matches", must, full, settled, "The request goes to the model that routing selected.",
     "model.requested with a provider or model that differs from the last routing decision"},
    {"routing.blocks", must, full, settled, "Without a candidate there is no model request.",
     "model.requested after routing.not_possible without a new decision"},
    {"routing.counts", must, full, settled, "Routing facts are consistent.",
     "a candidate count that differs from the list, routing.single_candidate with a count other "
     "than one, a decision without a model or without candidates"},
    {"cost.joins", must, full, provisional, "Every model request is billed at most once.",
     "cost.recorded for an unknown model request, for one that was billed before, or with a "
     "negative amount"},
    {"quota.order", must, full, provisional, "A quota warns before it blocks.",
     "quota.low after quota.blocked of the same limit and scope on the same day"},
    // tools and the decisions around them
    {"tool.order", must, core, settled, "Every tool call starts once and ends once.",
     "a call that starts twice, or that makes progress, runs a process or ends when it is not "
     "open"},
    {"tool.input", must, core, settled, "The input of every tool call is known.",
     "the result of a call without safeArgs, inputRef or tool.args"},
    {"tool.outcome", must, core, settled, "The outcome of every tool call is known.",
     "tool.result without preview or outputRef, tool.failed without error"},
    {"tool.decided", must, core, settled, "Every tool call has a recorded permission decision.",
     "the result of a call without policy in tool.started and without permission.evaluated"},
    {"tool.denied", must, full, settled, "A denied tool call does not succeed.",
     "a successful result of a call whose last decision was deny, ask or unavailable"},
    {"permission.order", must, full, settled, "A permission is resolved only if it was requested.",
     "permission.resolved for a call without permission.requested"},
    {"permission.force", must, full, settled,
     "The strictest verdict decides: deny before ask, ask before allow.",
     "permission.evaluated with a decision weaker than a verdict in its chain; exceptions: any "
     "other verdict overrides an ask of the mode, and the answer of a person overrides any ask"},
    {"action.order", must, core, settled, "An action is required once and resolved once.",
     "an action that is required twice, resolved without having been required, or resolved twice"},
    {"action.offered", must, core, settled, "Only an offered decision can be the answer.",
     "action.resolved with a decision that action.required did not offer, unless the runtime "
     "itself resolved it"},
    {"action.pauses", must, core, settled, "Work that waits for a decision does not continue.",
     "progress, success or a process of a call while its action is open; a model request, other "
     "than for a compaction, while an action of the turn is open; anything new in a turn that is "
     "held by an action as a whole"},
    {"hook.order", must, full, settled, "Every hook run has one outcome.",
     "a hook run that starts twice, ends when it is not running or at a different hook point, or "
     "has not ended when its turn ends"},
    {"hook.failure", must, full, settled, "A failed hook states whether it blocks.",
     "hook.failed without onFailure (closed or open)"},
    {"hook.obeyed", must, full, settled, "A call that a hook blocked does not run.",
     "a process or a successful result of a call that a hook blocked or denied, or whose hook "
     "failed closed"},
    {"process.permitted", must, full, settled, "No process starts without permission.",
     "process.started of a tool call without an earlier decision that allows it"},
    {"process.sandboxed", must, full, settled, "The sandbox of every process is known.",
     "process.started without an earlier sandbox.applied"},
    {"process.order", must, full, settled, "Every process starts once and ends once.",
     "a process that starts twice, or that writes output, gets input or ends when it is not "
     "running"},
    {"process.chunk", must, full, settled, "Process output arrives in order and in small chunks.",
     "more than 4,096 bytes of text in one process.output, or an offset that does not increase"},
    {"process.exit", must, full, settled, "How a process ended is known.",
     "process.completed with neither exitCode nor signal"},
    {"output.order", must, full, settled,
     "A ref points to a stored output, or the output is reported as expired.",
     "truncation, redaction or expiry of an output that was never stored, or a ref to an output "
     "that has expired"},
    // tasks
    {"task.first", must, core, settled, "A task is created before anything happens to it.",
     "an event of a task before its task.created"},
    {"task.order", must, core, settled, "A task moves through its states in order.",
     "a task that is created twice, started while it is running, resumed when it was not stopped, "
     "retried while a retry is in progress, or never started although one of its attempts ends; "
     "an attempt before the tasks that it waits for have completed; a transition that is not in "
     "the table of docs/tasks.md; a status that contradicts the event type"},
    {"task.final", must, core, settled,
     "Final states are final; a lost task is never reported as completed.",
     "any change of a completed, cancelled or archived task; any change except a retry of a "
     "failed, timed out or lost task"},
    {"task.settled", must, full, settled, "A task ends only after its attempts have ended.",
     "the end of a task while one of its attempts is open; the next turn of a thread while the "
     "internal task of the previous turn is open"},
    {"task.cancelling", must, full, settled, "Nothing new starts under a cancelled task.",
     "a start, retry, attempt, delegation or new child after task.cancel_requested of the task or "
     "of one above it"},
    {"task.cycle", must, full, settled, "Tasks do not wait for each other in a cycle.",
     "a dependency or a parent that creates a cycle"},
    {"attempt.order", must, full, settled, "Attempts are sequential and numbered.",
     "an attempt that starts while another is open, ends without having started, has the wrong "
     "number, or has a status that contradicts the event type"},
    {"attempt.kept", must, full, settled, "An attempt, once ended, is never overwritten.",
     "an attempt id that is used again, or a second outcome of an attempt"},
    {"attempt.pair", must, full, settled, "Runs and attempts correspond one to one.",
     "a run id with two attempt ids, or an attempt id with two run ids"},
    // jobs, subagents, channels
    {"job.order", must, full, settled,
     "A job starts once and ends once, unless it failed and starts again.",
     "a job that is created twice, a second start without a failure and a reason, or any event of "
     "it before its creation or after its end"},
    {"job.item", must, full, settled,
     "The retries of an item are counted, and a completed item stays completed.",
     "an item that starts while it is running or after it completed, ends when it is not running, "
     "or has the wrong number of attempts"},
    {"job.settled", must, full, settled, "A job ends only after its items have ended.",
     "the end of a job while items are running, or its completion while items are pending"},
    {"subagent.order", must, core, settled, "A subagent is active between spawned and closed.",
     "a subagent that is spawned twice, any event of it before it was spawned or after it was "
     "closed, a delegation that ends twice, or events that name different threads"},
    {"channel.order", must, full, settled, "Whether a channel is connected is known at any time.",
     "traffic on a channel that is not connected; a channel that is connected or resumed while it "
     "is connected, or resumed without ever having been connected; any event of a channel that "
     "was closed"},
    {"channel.permission", must, full, settled,
     "A remote permission answer belongs to a forwarded request.",
     "channel.permission_returned without channel.permission_forwarded of the same action, an "
     "action that is forwarded again before it is returned, or a channel that closes with one "
     "that was not returned"},
    {"channel.ack", must, full, settled, "An acknowledgement never goes back.",
     "an acknowledgedSequence that is lower than an earlier one of the channel"},
    {"channel.gap", must, full, settled, "A resumption names what it skips.",
     "channel.resumed that replays less than everything up to itself and names no gap, or whose "
     "gap no snapshot.repaired before it names"},
    {"channel.disconnect", must, full, settled, "A disconnection ends no work.",
     "the end of a linked task or of the peer's task in the same append as the disconnection"},
    {"channel.peer_task", must, full, settled, "The task of a peer never replaces a local task.",
     "a peer task with the id of the local task, or an update of a task that was not linked"},
    // history
    {"compaction.order", must, core, settled, "Every compaction has one outcome.",
     "a compaction that starts while another is in progress, ends without having started, or has "
     "not ended when its turn ends"},
    {"compaction.keeps", must, core, settled, "Compaction keeps every open action.",
     "context.compaction.completed that does not name every open action of the thread as kept"},
    {"rollback.order", must, full, settled, "Every rollback starts once and ends once.",
     "a rollback that starts while another is in progress, ends without having started, or ends "
     "with another target; a turn of the thread that starts during a rollback"},
    {"rollback.keeps", must, full, settled,
     "A rollback keeps its target, and reports the open actions that it cancels.",
     "history.rollback.completed that removes an open turn or its own target, keeps a turn that "
     "has "
     "not ended or is of another thread, has a baseline that is not before it, or does not list an "
     "open action"},
    {"snapshot.as_of", must, core, settled, "A snapshot covers earlier events only.",
     "asOfSequence or a history window that is not before the event that contains it"},
    {"evidence.signals", must, core, provisional,
     "A missing telemetry signal states why it is missing.",
     "a signal with a state other than exported, not_applicable, unsupported, not_recorded or "
     "missing_correlation"},
    {"replay.snapshot", must, full, settled,
     "The snapshot equals the result of replaying the stream.",
     "a member of the given snapshot that differs from the replayed stream"},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

const Rule* find_rule(std::string_view id) {
  const auto* found = std::ranges::find(kRules, id, &Rule::id);
  return found == std::ranges::end(kRules) ? nullptr : found;
}

std::string_view name_of(Severity severity) { return severity == must ? "must" : "should"; }
std::string_view name_of(Profile profile) { return profile == core ? "core" : "full"; }

std::string link_of(const Rule& rule) {
  std::string anchor(rule.id);
  std::erase(anchor, '.');  // as Markdown renderers derive an anchor from a heading
  return "docs/conformance.md#" + anchor;
}

}  // namespace agentrt::validate
