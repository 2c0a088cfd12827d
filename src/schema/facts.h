// schema/facts.h: every fact type that this build writes, and the types Draft and Fact.
//
// A decision produces Drafts: a payload and its scope. Appending assigns a sequence and a
// timestamp, which makes it a Fact. To add a fact type, declare its payload in facts/, add it to
// the list below and add its row to catalogue.cc. The compiler then asks for its fold
// (state/fold.cc), and the tests for its row in docs/events.md. The codec and the published schema
// are derived.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/sum.h"
#include "schema/facts/artifact.h"
#include "schema/facts/channel.h"
#include "schema/facts/context.h"
#include "schema/facts/history.h"
#include "schema/facts/hook.h"
#include "schema/facts/item.h"
#include "schema/facts/job.h"
#include "schema/facts/model.h"
#include "schema/facts/permission.h"
#include "schema/facts/process.h"
#include "schema/facts/routing.h"
#include "schema/facts/runtime.h"
#include "schema/facts/session.h"
#include "schema/facts/subagent.h"
#include "schema/facts/task.h"
#include "schema/facts/task_graph.h"
#include "schema/facts/tool.h"
#include "schema/facts/turn.h"

namespace agentrt::schema {

// A fact of a type that this build does not know. It is preserved, and does not change the view.
struct UnknownPayload {
  std::string type;

  bool operator==(const UnknownPayload&) const = default;
};

using PayloadTypes = TypeList<
    UnknownPayload, SessionCreated, SessionUpdated, ThreadStarted, ThreadUpdated, TurnSubmitted,
    TurnStarted, TurnCompleted, TurnFailed, QueueChanged, RunStatus, TaskCreated, TaskStarted,
    TaskBlocked, TaskWaiting, TaskResumed, TaskCancelled, TaskFailed, TaskCompleted,
    TaskAttemptStarted, TaskAttemptCompleted, TaskAttemptFailed, TaskAccepted, TaskQueued,
    TaskUpdated, TaskProgress, TaskPaused, TaskRetrying, TaskCancelRequested, TaskTimedOut,
    TaskLost, TaskArchived, TaskDelegated, TaskDependencyUpdated, SubagentSpawned, SubagentStatus,
    SubagentInput, SubagentCompleted, SubagentFailed, SubagentClosed, ModelRequested, ModelDelta,
    ModelCompleted, ModelFailed, ReasoningDelta, ReasoningSummary, ContextResolved,
    ToolCatalogResolved, HistoryWindowLoaded, HistoryReconstructed, TaskProfileResolved,
    RoutingCandidatesResolved, RoutingDecided, RoutingSingleCandidate, RoutingFallbackApplied,
    RoutingNotPossible, ItemStarted, ItemUpdated, ItemCompleted, ToolStarted, ToolArgs,
    ToolProgress, ToolResult, ToolFailed, ArtifactChanged, PermissionEvaluated, PermissionRequested,
    PermissionResolved, ActionRequired, ActionResolved, PolicyChanged, HookStarted, HookCompleted,
    HookFailed, SandboxApplied, SandboxViolation, ProcessStarted, ProcessOutput, ProcessInput,
    ProcessCompleted, ProcessFailed, ProcessTerminated, SnapshotUpdated, SnapshotRepaired,
    RuntimeWarning, RuntimeError, OutputSpilled, OutputTruncated, OutputRedacted, OutputExpired,
    JobCreated, JobStarted, JobProgress, JobItemStarted, JobItemCompleted, JobItemFailed,
    JobCompleted, JobFailed, JobCancelled, CompactionStarted, CompactionCompleted, CompactionFailed,
    RollbackStarted, RollbackCompleted, ChannelConnected, ChannelDisconnected, ChannelResumed,
    ChannelMessage, ChannelPermissionForwarded, ChannelPermissionReturned, ChannelPeerTaskLinked,
    ChannelPeerTaskUpdated>;
using Payload = Sum<PayloadTypes>;

struct Draft {
  template <class P>
  Draft(const typename P::Scope& scope, P fact) : ids(scope.ids()), payload(std::move(fact)) {}

  Ids ids;
  Payload payload;

  bool operator==(const Draft&) const = default;
};

struct Fact {
  Sequence sequence = 0;
  Timestamp at;
  Ids ids;
  Payload payload;

  bool operator==(const Fact&) const = default;
};

std::string_view type_of(const Payload& payload);

// Writes the payload as a JSON object.
void write_payload(std::string& out, const Payload& payload);

// Decodes a stored payload. A type that this build does not know becomes an UnknownPayload.
Result<Payload> read_payload(std::string_view type, std::string_view text);

// The types that this build knows, in the order of the list above.
const std::vector<std::string_view>& known_types();

}  // namespace agentrt::schema
