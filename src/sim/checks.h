// sim/checks.h: what must hold of a runtime whatever happened to it, one function an invariant.
//
// All of them are pure: they look at what is stored and at what clients were told, and say the
// first thing that does not fit. Names are sentences; they head the story of a failing run.
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
inline constexpr std::string_view kRest = "the runtime comes to rest";
inline constexpr std::string_view kStopped = "the runtime does not stop itself";
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

// A fact that a reply spoke of, as it was stored when the reply was given.
struct Acknowledged {
  SessionId session;
  Sequence sequence = 0;
  schema::StoredEvent fact;
  std::string whose;  // in words
};

// How often a command left its mark (a text that no other command has) in the log, and may have.
struct Marks {
  std::string whose;
  std::string type;  // of the fact that carries it
  std::uint64_t least = 0;
  std::uint64_t most = 0;
};

// Sequences 1, 2, 3, …; time that does not go back.
Checked check_sequences(const Log& log);
// Everything acknowledged of this session is in `log`, as it was.
Checked check_acknowledged(const Log& log, const std::vector<Acknowledged>& acknowledged);
// By mark. `facts` are those of all sessions.
Checked check_marks(const Facts& facts, const std::map<std::string, Marks>& marks);
// Turns are submitted once and end once at most; so are model requests.
Checked check_lives(const Facts& facts);
// Hooks have one outcome each, questions one answer; what asked runs only with a yes to what was
// shown, what a hook blocked never. `seen`: the world in which each process was looked at last.
// Nothing is under way any more.
Checked check_decisions(const Facts& facts, const std::map<ProcessId, std::string>& seen);
// A process as it really was.
struct RealProcess {
  bool background = false;
  bool recorded = false;  // it ended, and its launcher recorded how
  std::string printed;
};
// A process that was recorded and looked for is not called lost; of one in the background that has
// its end, the log has what it printed, once.
Checked check_outputs(const Facts& facts, const std::map<ProcessId, RealProcess>& processes);
// Nothing is under way any more: each request has its end, each open turn says what it waits for.
Checked check_waits(const Facts& facts, const state::Session& view);
// No turn is open.
Checked check_all_ended(const state::Session& view);
Checked check_bounds(const state::Session& view, const control::Settings& settings);
// The snapshot and the facts after it give `replayed`.
Checked check_snapshot(store::Store& store, const state::Session& replayed);
// The session's index rows are those that its log gives. Rebuilds them.
Checked check_index(store::Store& store, const SessionId& session);
// The validator's judgement of the session's stream.
Checked check_judged(const Log& log);

}  // namespace agentrt::sim
