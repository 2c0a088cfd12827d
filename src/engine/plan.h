// engine/plan.h: what a session needs done in the world, as a pure function of its view.
//
// The log is the program counter: the engine keeps no progress of its own. plan() names every
// effect that the view calls for and that is not over yet; asked again it names the same ones, by
// the same keys. So a turn that a crash, a pause or a person held up continues through this very
// function, and recovery is no path of its own.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "state/session.h"

namespace agentrt::engine {

// Gather what a turn is asked with: instructions, history, the models there are.
struct Prepare {
  schema::TurnIds turn;
  std::optional<std::string> model;
  std::optional<schema::SandboxMode> sandbox;
};
// Ask the model; the intent is stored.
struct Ask {
  schema::TurnIds turn;
  ModelRequestId request;
  std::string model_name;
  std::uint64_t ended_by_provider = 0;
};
// Ask again at that instant.
struct AwaitRetry {
  TurnId turn;
  Timestamp at;
};

// Hear a hook; that it runs is stored.
struct RunHook {
  schema::TurnIds turn;
  std::string run;
};
// Find out what a call would be bound to, so that a person can be asked.
struct Inspect {
  TurnId turn;
  ToolCallId call;
};
// Nobody answers for ever: the wait ends at that instant.
struct AwaitAnswer {
  ActionId action;
  Timestamp at;
  std::int64_t within_ms = 0;  // whatever the wall clock says
};
// Make the call: run its process in the sandbox, and see it to its end.
struct RunTool {
  TurnId turn;
  ToolCallId call;
  bool stored = false;  // the log says that its process runs: it may be let go
};
// Make a call that runs no process, and see it to its end.
struct MakeCall {
  TurnId turn;
  ToolCallId call;
  bool stored = false;                        // the log announces the change that it makes
  bool may_ask = false;                       // nobody is being asked anything
  std::optional<state::ServerAnswer> answer;  // to what its server asked last
};
// A process that another boot let go: find out what became of it.
struct FindProcess {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
};
// A process in the background: hear it, end it when that was asked for.
struct FollowProcess {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
  bool tty = false;
  std::uint64_t out_shown = 0;  // what stands in the log of each stream
  std::uint64_t err_shown = 0;
  Timestamp started_at;
  std::optional<std::uint64_t> timeout_ms;
  bool ending = false;
};

struct Effect {
  std::string key;  // the same for the same effect, however often it is planned
  std::variant<Prepare, Ask, AwaitRetry, RunHook, Inspect, AwaitAnswer, RunTool, MakeCall,
               FindProcess, FollowProcess>
      what;
};

// Work of another boot is not planned, since the kernel closes it first; but for its processes.
std::vector<Effect> plan(const state::Session& view, const BootId& boot);
// Of what a view calls for that is not stored yet, that which may begin already, since it changes
// nothing before it is told that it is stored: a new turn is prepared and a request put together by
// reading, and a command waits at its gate until the log says that it runs. Not a turn that was
// there before: the answer that lets it go on may change what it would read. `stored`: how far the
// view is.
std::vector<Effect> plan_ahead(const state::Session& view, const BootId& boot, Sequence stored);

}  // namespace agentrt::engine
