// sim/plan.h: what happens in one run: who asks for what, and what goes wrong, as a list of
// actions.
//
// A plan is drawn from a seed before anything runs and is plain data: it names sessions, turns and
// keys by number and depends on no outcome. So the same plan runs the same way again, and a shorter
// list of the same actions is a plan too, which is how a failing run is cut down to its story.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/policy.h"

namespace agentrt::sim {

// What may happen. A new capability of the runtime adds its commands to the first group and its
// faults to the last.
enum class Kind : std::uint8_t {
  // commands
  create,
  update,
  submit,
  interrupt,
  remove,
  promote,
  resume,
  answer,  // to a question that waits, or that waited once
  rule,    // changes the session's own rules
  // reads
  read_session,
  read_thread,
  list_sessions,
  list_events,
  // clients and those who follow
  vanish,     // the client goes away with its replies outstanding
  follow,     // subscribes to the session from where it left off
  stop_read,  // the follower stays connected and reads nothing
  go_read,    // and reads again
  quiet,      // nothing happens for a while
  // faults
  crash,            // between two steps
  crash_in_commit,  // within the next commit
  sync_fails,       // the next sync does, and the process stops
  disk_full,
  disk_fails,
  reads_fail,
  readers_full,
  disk_slow,
  reads_slow,
  clock_jump,
  model_stalls,
  model_breaks,
  model_lies,
  model_repeats,
  model_absent,
  hook_slow,
  hook_fails,
  hook_objects,     // blocks, denies or ends the turn
  hook_rewrites,    // the input of a call
  world_changes,    // that answers are bound to
  end_unstored,     // commits around the next end of a process are slow, fail or lose their power
  launcher_killed,  // those of the processes in the background
};
inline constexpr Kind kFirstFault = Kind::crash;
inline constexpr Kind kLastKind = Kind::launcher_killed;

constexpr bool is_command(Kind kind) { return kind <= Kind::rule; }
constexpr bool is_read(Kind kind) {
  return Kind::read_session <= kind && kind <= Kind::list_events;
}
constexpr bool is_fault(Kind kind) { return kind >= kFirstFault; }

struct Action {
  Kind kind = Kind::quiet;
  std::uint32_t steps = 0;   // of the runtime, before it
  std::uint32_t client = 0;  // or follower
  std::uint32_t session = 0;
  std::uint32_t thread = 0;
  // A command's number; an action with the number of an earlier one is the same command again.
  std::uint32_t order = 0;
  std::uint32_t turn = 0;   // 0: the runtime chooses, or none is named
  std::uint32_t key = 0;    // 0: none
  std::int64_t amount = 0;  // milliseconds or a count, by kind
  std::uint64_t draw = 0;   // whatever else is open
  bool again = false;       // of a command: asked before
  bool operator==(const Action&) const = default;
};

struct Plan {
  std::uint64_t seed = 0;
  bool resume_by_itself = false;  // after a restart
  schema::Policy policy;          // of every workspace
  std::vector<Action> actions;
};

Plan draw_plan(std::uint64_t seed);

// Two clients share a principal, so that they share its keys.
inline std::uint32_t principal_of(std::uint32_t client) { return client / 2; }

// A command or read as the wire has it.
struct Request {
  std::string name;
  std::string params;
};

// What a turn waits for, as far as an answer to it needs it.
struct Question {
  enum class About { permission, input, server };
  std::string action = "action_none";
  std::string digest = "sha256:0";
  About about = About::permission;
};
// `question`: what an answer is about, which no plan can know.
Request request_of(const Action& action, const Question& question = {});

// "client 2 submits turn u3 to s1/t1 (key k7)".
std::string in_words(const Action& action);
// "3.5 s", "2 days": a span for people.
std::string span_in_words(std::int64_t ms);

}  // namespace agentrt::sim
