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
     "Every event says what it is, where it stands and when it happened.",
     "type, eventId, sessionId, sequence, timestamp (UTC) or an object as payload missing or of "
     "another kind; an id that is not a string"},
    {"envelope.origin", should, core, settled,
     "A reader knows which runtime wrote an event and by which version of the schema.",
     "schemaVersion or runtimeId missing"},
    {"envelope.type", must, core, settled,
     "A word of the standard's own families means what the standard says.",
     "a type in one of those families that the standard does not have (turn.cancelled); types "
     "outside them are a vendor's own, kept and not judged"},
    {"envelope.ids", must, core, settled,
     "Every event can be joined with the object it belongs to.",
     "a correlation id missing that every event of the type carries"},
    {"ids.event_unique", must, core, settled, "An event id names one event for ever.",
     "an eventId that was used before"},
    {"ids.stable", must, core, settled, "An object keeps its owner for its whole life.",
     "a turn whose thread, task, run or attempt id changes, a tool call whose step changes, an "
     "action whose call changes"},
    {"order.sequence", must, core, settled, "A client that has seen N knows everything up to N.",
     "a sequence that does not begin at 1, leaves a gap, repeats or goes back in its session"},
    {"order.time", must, core, settled, "Time does not go back within a session.",
     "a timestamp before the one in front of it"},
    {"payload.members", should, core, settled, "Clients find the members that they rely on.",
     "a member missing whose name the standard fixes for the type"},
    {"payload.shape", must, core, settled, "A member with a fixed name has one meaning everywhere.",
     "such a member with another type, or a word outside its closed list"},
    {"payload.large", must, core, settled,
     "Streams stay small: large output is referenced, not copied.",
     "more than 72 KiB of model, tool, process or item output in one event"},
    {"refs.log", must, full, settled, "A ref into the log leads to what is written there.",
     "log:N or log:FIRST-LAST that points at this event, at a later one or at none"},
    // sessions, threads, turns, the queue
    {"session.first", must, core, settled, "A session has one beginning.",
     "a session whose first event is not session.created, or that is created again"},
    {"thread.first", must, core, settled, "A thread has one beginning.",
     "an event of a thread before its thread.started, a second thread.started, or one that says "
     "that the thread has ended"},
    {"thread.one_turn", must, core, settled, "A thread does one thing at a time.",
     "turn.started while another turn of the thread runs"},
    {"turn.first", must, core, settled, "Nothing happens that nobody asked for.",
     "an event of a turn before its turn.submitted"},
    {"turn.order", must, core, settled, "A turn is submitted, started and ended, in that order.",
     "a turn submitted or started twice, work before turn.started, completion without a start"},
    {"turn.final", must, core, settled, "What a turn's end says stays true.",
     "a second end, or any work, status, action or decision of a turn behind its end"},
    {"turn.outcome", must, core, settled, "A turn's status says what happened to it.",
     "turn.submitted that is neither accepted nor queued, turn.started that is not running or "
     "preparing, turn.completed that is not completed, "
     "turn.failed that is not failed, cancelled or timed_out"},
    {"turn.first_status", must, core, settled,
     "A person sees that something happens before the output comes.",
     "model, tool or process output of a turn before its first run.status"},
    {"turn.closed", must, core, settled, "Nothing that a turn began is left hanging.",
     "a turn that ends while a model request, tool call, action or item of it is open; an attempt "
     "that ends while any of the first three is"},
    {"turn.earned", must, core, settled, "Success is a fact, never inferred.",
     "turn.completed though the last model request of the turn failed"},
    {"queue.place", must, core, settled, "The queue holds exactly the turns that wait.",
     "a turn that is queued twice, leaves a queue it is not in, waits though it runs or has "
     "ended, starts from behind another, or has a place behind the end"},
    {"queue.count", must, core, settled, "Everyone can tell how many wait.",
     "queue.changed with a count that the changes so far do not give"},
    {"queue.runs", must, core, settled, "A turn waits or runs, never both.",
     "turn.started of a queued turn without the queue.changed that takes it out"},
    // models, routing, cost, items
    {"model.order", must, core, settled, "Every model request has one outcome.",
     "deltas or an end of a request that was not made or has ended; a request made twice"},
    {"model.adds_up", must, core, settled, "What was streamed is what was said.",
     "model.completed whose text is not the deltas of the request put together, or that stops to "
     "use tools and names none"},
    {"item.order", must, full, settled, "A client can live on items alone.",
     "an item that starts twice, is updated or ended when it is not open, changes its kind, or "
     "ends "
     "with a status that is no end"},
    {"routing.explains", should, full, settled, "Every choice of a model can be explained.",
     "model.requested in a turn without a routing decision"},
    {"routing.matches", must, full, settled, "The model that was chosen is the one that is asked.",
     "model.requested with another provider or model than the last routing decision"},
    {"routing.blocks", must, full, settled, "No candidate means no request.",
     "model.requested after routing.not_possible without a new decision"},
    {"routing.counts", must, full, settled, "Routing facts agree with themselves.",
     "a candidate count that differs from the list, a single candidate that is not one, a decision "
     "without a model or among no candidates"},
    {"cost.joins", must, full, provisional, "Every cost belongs to one piece of work, once.",
     "cost.recorded for an unknown model request, for one that is billed already, or below zero"},
    {"quota.order", must, full, provisional, "A warning comes before the wall.",
     "quota.low after quota.blocked of the same limit and scope on the same day"},
    // tools and the decisions around them
    {"tool.order", must, core, settled, "Every tool call has one beginning and one end.",
     "a call that starts twice, or goes on, runs a process or ends when it is not open"},
    {"tool.input", must, core, settled, "It can be told what a tool was given.",
     "a result of a call without safeArgs, inputRef or tool.args"},
    {"tool.outcome", must, core, settled, "It can be told what came of a call.",
     "tool.result without preview or ref, tool.failed without error"},
    {"tool.decided", must, core, settled, "It can be told why a call was allowed.",
     "a result of a call without a policy in tool.started and without permission.evaluated"},
    {"tool.denied", must, full, settled, "What was denied does not succeed.",
     "a good result of a call whose last decision was deny, ask or unavailable"},
    {"permission.order", must, full, settled, "An answer belongs to a question.",
     "permission.resolved of a call without permission.requested"},
    {"permission.force", must, full, settled, "Deny beats ask, ask beats allow, whoever says it.",
     "permission.evaluated with a decision weaker than a verdict in its chain; the mode's ask "
     "gives "
     "way to anyone who speaks, and any ask to a person"},
    {"action.order", must, core, settled, "A question is asked once and answered once.",
     "an action required twice, resolved without having been required, or resolved twice"},
    {"action.offered", must, core, settled, "Only what was offered can be answered.",
     "action.resolved with a decision that action.required did not offer, unless the runtime "
     "itself ended the wait"},
    {"action.pauses", must, core, settled, "What waits for a decision waits.",
     "progress, success or a process of a call while its action is open; a model request, but a "
     "compaction's, while an action of the turn is open; anything new in a turn that an action "
     "holds back as a whole"},
    {"hook.order", must, full, settled, "Every run of a hook has one outcome.",
     "a hook run that starts twice, ends when it does not run or at another point, or has not "
     "ended "
     "when its turn does"},
    {"hook.failure", must, full, settled, "It can be told what a failing hook meant.",
     "hook.failed that does not say closed or open"},
    {"hook.obeyed", must, full, settled, "What a hook blocks does not run.",
     "a process or a good result of a call that a hook blocked or denied, or whose hook failed "
     "closed"},
    {"process.permitted", must, full, settled, "Nothing runs that was not allowed.",
     "process.started of a tool call without a decision before it that allows it"},
    {"process.sandboxed", must, full, settled, "It is known what confines a process.",
     "process.started without sandbox.applied before it"},
    {"process.order", must, full, settled, "Every process has one beginning and one end.",
     "a process that starts twice, or speaks, listens or ends when it does not run"},
    {"process.chunk", must, full, settled, "Process output comes in order and in small pieces.",
     "more than 4,096 bytes of text in one process.output, or an offset that goes back or stays"},
    {"process.exit", must, full, settled, "It is known how a process ended.",
     "process.completed without exitCode and without signal"},
    {"output.order", must, full, settled, "A ref leads somewhere, or says that it does not.",
     "truncation, redaction or expiry of an output that was never spilled, or a ref to one that "
     "has expired"},
    // tasks
    {"task.first", must, core, settled, "A task has one beginning.",
     "an event of a task before its task.created"},
    {"task.order", must, core, settled, "A task's life can be followed.",
     "a task created twice, started while it runs, resumed when it did not stop, retried while it "
     "is, "
     "never started though an attempt of it ends, or with a status that its fact's type denies"},
    {"task.final", must, core, settled, "Final states are final; lost work is not found completed.",
     "any change of a completed, cancelled or archived task, and any but a retry of one that "
     "failed, timed out or was lost"},
    {"task.settled", must, full, settled, "A task ends when its attempts have.",
     "the end of a task while an attempt of it is open, or the next turn of a thread while the "
     "internal task made for the last one is"},
    {"task.cancelling", must, full, provisional, "Nothing new starts under a cancelled task.",
     "a start, retry, attempt or delegation after task.cancel_requested"},
    {"task.cycle", must, full, provisional, "Tasks do not wait for each other.",
     "a dependency that closes a circle"},
    {"attempt.order", must, full, settled, "Attempts follow each other and are counted.",
     "an attempt that starts while another is open, ends without a start, is miscounted, or says "
     "another status than its fact's type"},
    {"attempt.kept", must, full, settled, "An attempt, once ended, is never overwritten.",
     "an attempt id used again, or a second outcome of an attempt"},
    {"attempt.pair", must, full, settled, "A run is one attempt and an attempt is one run.",
     "a run id with two attempt ids, or the reverse"},
    // jobs, subagents, channels
    {"job.order", must, full, provisional, "A job has one beginning and one end.",
     "a job created or started twice, or anything of it before its creation or behind its end"},
    {"job.item", must, full, provisional, "An item's retries are counted and its success is kept.",
     "an item that starts while it runs or after it completed, ends when it does not run, or "
     "miscounts its attempts"},
    {"job.settled", must, full, provisional, "A job ends when its items have.",
     "the end of a job while items run, or its completion while items are pending"},
    {"subagent.order", must, core, provisional, "A subagent lives from spawned to closed.",
     "a subagent spawned twice, anything of it before it was spawned or after it was closed, or a "
     "delegation that ends twice"},
    {"channel.order", must, full, provisional, "It is known whether a peer is there.",
     "traffic on a channel that is not connected, a channel connected or resumed while it is, "
     "resumed without ever having been connected"},
    {"channel.permission", must, full, provisional, "An answer from afar belongs to a question.",
     "channel.permission_returned without channel.permission_forwarded"},
    {"channel.peer_task", must, full, provisional, "A peer's task never replaces our own.",
     "a peer task with the id of the local one, or an update of one that was not linked"},
    // history
    {"compaction.order", must, core, provisional, "Every compaction has one outcome.",
     "a compaction that starts while one is under way, ends without a start, or has not ended when "
     "its turn does"},
    {"compaction.keeps", must, core, provisional, "Compaction drops nothing that is open.",
     "context.compaction.completed that does not name every open action of the thread as kept"},
    {"rollback.order", must, full, provisional, "Every rollback has a beginning and an end.",
     "a rollback that starts while one is under way, ends without a start, or is overtaken by a "
     "turn that starts"},
    {"rollback.keeps", must, full, provisional, "Rollback drops nothing that is open in silence.",
     "history.rollback.completed that removes an open turn, or says nothing of an open action"},
    {"snapshot.as_of", must, core, settled, "A snapshot speaks of the past.",
     "asOfSequence or a history window that is not before the event that names it"},
    {"evidence.signals", must, core, provisional, "A missing signal says why it is missing.",
     "a signal that is not exported, not_applicable, unsupported, not_recorded or "
     "missing_correlation"},
    {"replay.snapshot", must, full, settled, "The snapshot is what the stream says.",
     "a member of the given snapshot that differs from what replaying the stream gives"},
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
