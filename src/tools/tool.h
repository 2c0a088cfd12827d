// tools/tool.h: the descriptor of a built-in tool: all that other folders need to know about it.
//
// Every tool has one header in this folder: its argument struct, the texts for the model and a
// ToolSpec. registry.cc lists the tools and adds the functions that follow from the argument
// struct. Other folders ask the descriptor instead of comparing tool names.
//
// The header also defines those of these functions that the tool needs. The registry finds them by
// the type of the argument struct; Tool below says what each of them is for.
//
//   std::string object(const Args&);                      optional
//   std::string subject(const Args&);                     optional
//   Command command(const Args&);                         required for Runner::process
//   SessionResult run(const Args&, const SessionCall&);   required for Runner::session
//   Question question(const Args&);                       required for Runner::person
//   std::string address(const Args&);                     required for RuleForm::host
//   std::optional<std::string> wrong(const Args&);        optional
//   AgentCall agent_call(const Args&);                    required for Runner::agent
//
// PURE. Safe on any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "schema/argument_schema.h"
#include "schema/statuses.h"

namespace agentrt::tools {

// The most that a call does to the world.
enum class Access { read, write, execute };

// Who makes a call.
enum class Runner {
  process,  // a process in the sandbox
  file,     // the file tools of the runtime, on a worker thread
  session,  // the decision that starts the call: a pure function, which ends it at once
  person,   // the user answers
  web,      // the runtime, with a request to a server on the web
  agent,    // the session: it delegates work to a subagent, or waits for subagents
  server,   // an MCP server; never a built-in tool
};

// What the text in the parentheses of a rule is compared with, such as shell(git log:*).
enum class RuleForm {
  arguments,  // the JSON text of all arguments, as a whole
  command,    // the words of a shell command
  path,       // a path or a path pattern
  host,       // the host of a URL
};

// The argument that is a path: relative to the workspace or absolute.
struct PathArgument {
  std::string_view name = {};  // wire name; empty: no argument is a path
  bool one_file = false;       // the call uses this file only; false: also files below the path
};

// A name that is written differently in another program.
struct NamePair {
  std::string_view ours;
  std::string_view theirs;
};

// The names that Claude Code uses in rule and hook files.
struct ClaudeNames {
  std::array<std::string_view, 2> tools = {};  // the first is passed to hooks; empty: unused
  std::span<const NamePair> arguments = {};    // arguments that Claude Code has as well
};

// What the author of a tool writes.
struct ToolSpec {
  std::string_view name;
  std::string_view description;                 // for the model
  std::span<const schema::Argument> arguments;  // one per member of the argument struct
  Runner runs = Runner::session;
  Access access = Access::execute;
  bool side_by_side = false;  // calls may run in parallel with other such calls
  bool destructive = false;   // may remove or replace what cannot be restored
  schema::ItemKind item = schema::ItemKind::tool_call;
  PathArgument path = {};
  RuleForm rules = RuleForm::arguments;
  // Deny and ask rules about these tools apply to this tool as well.
  std::array<std::string_view, 2> also_denied_by = {};
  // Starts the title of a call in the terminal. Default: the title is the name and the arguments.
  std::string_view verb = {};
  ClaudeNames claude = {};
  // The tool whose rules and hooks apply to calls of this one. Set for a tool that only the runtime
  // calls: no model is offered it.
  std::string_view judged_as = {};
};

// A call that runs a process: the text for the shell, and how to run it.
struct Command {
  std::string text;
  std::optional<std::string> cwd;  // absolute or relative to the workspace; default: the workspace
  std::optional<std::uint64_t> timeout_ms;
  bool background = false;
  bool tty = false;
  bool outside_sandbox = false;
  std::optional<std::string> justification = {};  // of leaving the sandbox, in the model's words
};

struct SessionCall {
  std::string_view args;  // the JSON text of the arguments
  Timestamp now;
};
struct SessionResult {
  std::string text;                      // for the model
  std::optional<std::string> item_text;  // for views of the turn
};

// Calls about subagents. A subagent is named by its id or, where only one of the caller's own fits,
// by its nickname or role.
struct SpawnCall {
  std::string role;
  std::string prompt;
  std::optional<std::string> nickname;
  std::optional<std::string> model;
};
struct InputCall {
  std::string subagent;
  std::string prompt;
};
struct WaitCall {
  std::optional<std::vector<std::string>> subagents;  // absent: all of the caller's own
  bool any = false;                                   // one of them suffices
  std::int64_t timeout_ms = 0;
};
using AgentCall = std::variant<SpawnCall, InputCall, WaitCall>;

struct Question {
  std::string text;
  std::optional<std::vector<std::string>> choices;  // default: any text is an answer
};

// A built-in tool. `args` is the JSON text of the arguments. A function that returns an optional
// returns nothing if the arguments do not decode.
struct Tool : ToolSpec {
  std::string_view (*input_schema)() = nullptr;  // the JSON Schema; built once
  // Fails also if the tool's own wrong() says why the arguments are invalid.
  Result<void> (*decode)(std::string_view args) = nullptr;
  // The title of a call after the verb. Null: the title is the verb alone.
  std::optional<std::string> (*object)(std::string_view args) = nullptr;
  // The whole effect of a call, for the user who approves it: a command, the change of a file.
  // Null: the user is shown the arguments.
  std::optional<std::string> (*subject)(std::string_view args) = nullptr;
  // Null unless runs == Runner::process.
  Result<Command> (*command)(std::string_view args, schema::Unknown unknown) = nullptr;
  // Null unless runs == Runner::session.
  Result<SessionResult> (*run)(const SessionCall& call) = nullptr;
  // Null unless runs == Runner::person.
  std::optional<Question> (*question)(std::string_view args) = nullptr;
  // The canonical URL that the call requests. Null unless rules == RuleForm::host.
  std::optional<std::string> (*address)(std::string_view args) = nullptr;
  // Null unless runs == Runner::agent.
  std::optional<AgentCall> (*agent_call)(std::string_view args) = nullptr;
};

inline constexpr std::string_view kNotEmpty = R"("minLength":1)";  // of a string argument

}  // namespace agentrt::tools
