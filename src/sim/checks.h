// sim/checks.h: the invariants of a runtime under any faults, one function per invariant.
//
// All are pure: they examine stored facts and the replies that clients got, and return the first
// violation. The names are sentences, because they are the headline of a failure report.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/decide.h"
#include "schema/envelope.h"
#include "state/session.h"
#include "store/store.h"

namespace agentrt::sim {

namespace invariant {
inline constexpr std::string_view kAcknowledged = "what was acknowledged is stored, once";
inline constexpr std::string_view kRepeats = "a repeat gets the reply that was given";
inline constexpr std::string_view kReplay = "replay, live view and snapshot plus tail are equal";
inline constexpr std::string_view kSequences = "sequences have no gap and time does not go back";
inline constexpr std::string_view kEffects = "a model request is started once and ends once";
inline constexpr std::string_view kAsked = "a model is asked with what the log says";
inline constexpr std::string_view kProcesses =
    "a command runs once, after it is stored, and never unseen";
inline constexpr std::string_view kOutput = "the end of a process and what it printed are not lost";
inline constexpr std::string_view kCalls =
    "a call is made once, and a file changes only as the log announced";
inline constexpr std::string_view kHooks = "a hook runs once, and what it blocks does not";
inline constexpr std::string_view kDecisions = "a question is answered once";
inline constexpr std::string_view kApproved = "what was asked about runs only as it was approved";
inline constexpr std::string_view kVisible = "nothing is visible before it is stored";
inline constexpr std::string_view kStreams = "a follower gets every fact once and in order";
inline constexpr std::string_view kTurns = "every turn ends or says what it waits for";
inline constexpr std::string_view kBounds = "memory stays within its bounds";
inline constexpr std::string_view kAnswered = "every command is answered once";
inline constexpr std::string_view kReads = "a read sees what was acknowledged before it";
inline constexpr std::string_view kIndex = "index rows are what the log says";
inline constexpr std::string_view kModels =
    "a read model is the same live, from a snapshot and from the log";
inline constexpr std::string_view kPast = "the past reads as it was";
inline constexpr std::string_view kListed = "a list shows each session as it is";
inline constexpr std::string_view kRest = "the runtime comes to rest";
inline constexpr std::string_view kStopped = "the runtime does not stop itself";
inline constexpr std::string_view kHangups = "a turn is cancelled only by a command";
inline constexpr std::string_view kTyped =
    "a key answers only a question that could be read before it was pressed";
inline constexpr std::string_view kEnvironments = "a command has the environment of its client";
inline constexpr std::string_view kLeaving = "the owner leaves only when no work is open";
inline constexpr std::string_view kFamilies =
    "a subagent may do no more than its parent, which knows its state";
inline constexpr std::string_view kJudged = "the validator finds nothing";
}  // namespace invariant

struct Violation {
  std::string invariant;
  std::string what;

  bool operator==(const Violation&) const = default;
};
using Checked = std::optional<Violation>;

using Log = std::vector<schema::StoredEvent>;
using Facts = std::vector<schema::Fact>;

// A fact that a reply referred to, as it was stored at that time.
struct Acknowledged {
  SessionId session;
  Sequence sequence = 0;
  schema::StoredEvent fact;
  std::string whose;  // describes the command that got the reply
};

// How often a command may leave its mark in the log. A mark is a text that no other command uses.
struct Marks {
  std::string whose;
  std::string type;  // type of the fact with the mark
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

// Sequences are 1, 2, 3, … and timestamps do not decrease.
Checked check_sequences(const Log& log);
// Every acknowledged fact of this session is in `log`, unchanged.
Checked check_acknowledged(const Log& log, const std::vector<Acknowledged>& acknowledged);
// Counts the marks. `facts` are those of all sessions.
Checked check_marks(const Facts& facts, const std::map<std::string, Marks>& marks);
// A turn is submitted once and ends at most once; so does a model request.
Checked check_lives(const Facts& facts);
// Each hook run has one outcome and each question one answer. A process starts only if the user
// approved what was shown, and never if a hook blocked it. `seen`: the world state when each
// process was last inspected (FakeGovernance). REQUIRES: the runtime is idle.
Checked check_decisions(const Facts& facts, const std::map<ProcessId, std::string>& seen);
// The actual state of a process on the simulated machine.
struct RealProcess {
  bool background = false;
  bool recorded = false;  // it ended, and its launcher recorded how
  std::string printed;
};
// A recorded process that the runtime looked for is not reported as lost. For a background process
// that has ended, the log contains its output exactly once.
Checked check_outputs(const Facts& facts, const std::map<ProcessId, RealProcess>& processes);
// Each model request has ended, and each open turn says what it waits for. REQUIRES: the runtime is
// idle.
Checked check_waits(const Facts& facts, const state::Session& view);
// A subagent starts no call that the policy of its parent denies at that time, and its parent knows
// how many delegations it has. `facts`: of one session, all.
Checked check_families(const Facts& facts, const control::Settings& settings);
// No turn was cancelled, unless a command that may do so was sent to the session.
Checked check_cancelled(const Facts& facts, bool asked_for);
// A key of an answer was pressed when its question had been on the screen for the quiet time.
Checked check_typed(std::int64_t pressed_ms, std::int64_t drawn_ms);
// The owner of the data folder may leave: no turn runs or waits for an answer, and no background
// process runs. A blocked turn does not count.
Checked check_no_open_work(const state::Session& view);
// No turn is open.
Checked check_all_ended(const state::Session& view);
Checked check_bounds(const state::Session& view, const control::Settings& settings);
// Snapshot plus later facts give the view `replayed`.
Checked check_snapshot(store::Store& store, const state::Session& replayed);
// The row of a session says what its view says, except when it changed last. `store`: as of the
// view.
Checked check_listed(store::Store& store, const state::Session& view);
// The stored index rows equal those derived from the log. Rebuilds them.
Checked check_index(store::Store& store, const SessionId& session);
// The validator (src/validate) accepts the session's stream.
Checked check_judged(const Log& log);

}  // namespace agentrt::sim
