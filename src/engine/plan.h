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

// Make the call: run its process in the sandbox, and see it to its end.
struct RunTool {
  TurnId turn;
  ToolCallId call;
  std::string args;
  std::optional<schema::SandboxMode> sandbox;
  bool stored = false;  // the log says that its process runs: it may be let go
};
// A process that another boot let go: find out what became of it.
struct FindProcess {
  TurnId turn;
  ToolCallId call;
  ProcessId process;
};

struct Effect {
  std::string key;  // the same for the same effect, however often it is planned
  std::variant<Prepare, Ask, AwaitRetry, RunTool, FindProcess> what;
};

// Work of another boot is not planned, since the kernel closes it first; but for its processes.
std::vector<Effect> plan(const state::Session& view, const BootId& boot);

}  // namespace agentrt::engine
