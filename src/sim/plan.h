// sim/plan.h: a plan: the list of actions (commands, reads, faults) of one simulation run.
//
// A plan is drawn from a seed before the run and is plain data. It names sessions, turns and keys
// by number and does not depend on outcomes. So a plan always runs the same way, and any sublist of
// its actions is also a plan, which allows minimising a failing run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schema/policy.h"

namespace agentrt::sim {

// The kinds of actions. A new feature of the runtime adds its commands to the first group and its
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
  answer,  // answers an open question, or one that was answered before
  rule,    // changes the session's own rules
  // reads
  read_session,
  read_thread,
  list_sessions,
  list_events,
  // clients and followers
  vanish,     // the client disconnects and ignores its replies
  follow,     // subscribes to the session after the last event seen
  stop_read,  // the follower stays connected but stops reading
  go_read,    // it reads again
  type,       // a person presses keys at a terminal, whether or not it shows a question
  quiet,      // time passes without an action
  // faults
  crash,            // between two steps
  crash_in_commit,  // during the next commit
  sync_fails,       // the next sync fails, and the process stops
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
  hook_objects,     // blocks, denies, or ends the turn
  hook_rewrites,    // changes the input of a call
  world_changes,    // the files that approvals are bound to change
  end_unstored,     // commits around the next end of a process are slow, fail or lose power
  launcher_killed,  // the launchers of background processes are killed
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
  std::uint32_t steps = 0;   // of the runtime, before the action
  std::uint32_t client = 0;  // client or follower
  std::uint32_t session = 0;
  std::uint32_t thread = 0;
  // The command's number. An action with the number of an earlier one repeats that command.
  std::uint32_t order = 0;
  std::uint32_t turn = 0;   // 0: none is named, or the runtime chooses the id
  std::uint32_t key = 0;    // 0: none
  std::int64_t amount = 0;  // milliseconds or a count, by kind
  std::uint64_t draw = 0;   // random bits for all other choices
  bool again = false;       // a repeated command
  bool operator==(const Action&) const = default;
};

struct Plan {
  std::uint64_t seed = 0;
  bool resume_by_itself = false;  // after a restart
  schema::Policy policy;          // of every workspace
  std::vector<Action> actions;
};

Plan draw_plan(std::uint64_t seed);

// Pairs of clients share a principal, and with it their keys.
inline std::uint32_t principal_of(std::uint32_t client) { return client / 2; }

// A command or read as sent over the wire.
struct Request {
  std::string name;
  std::string params;
};

// The open question that an answer refers to.
struct Question {
  enum class About { permission, input, server };
  std::string action = "action_none";
  std::string digest = "sha256:0";
  About about = About::permission;
};
// `question`: the question to answer, which the plan cannot name.
Request request_of(const Action& action, const Question& question = {});

// Whether the keys of a `type` action say yes.
constexpr bool types_yes(const Action& action) { return action.draw % 4 != 0; }

// "client 2 submits turn u3 to s1/t1 (key k7)".
std::string in_words(const Action& action);
// A duration such as "3.5 s" or "2 days".
std::string span_in_words(std::int64_t ms);

}  // namespace agentrt::sim
