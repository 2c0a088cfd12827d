// tools/shell.h: the tool `shell`: runs a command with /bin/bash -c in the workspace's sandbox.
#pragma once

#include "tools/tool.h"

namespace agentrt::tools {

struct ShellArgs {
  static constexpr bool kFromModel = true;

  std::string command;
  std::optional<std::string> cwd;  // in the workspace; absolute or relative to it
  std::optional<std::uint64_t> timeout_ms;
  // the call ends once the process runs; the process keeps running
  std::optional<bool> background;
  std::optional<bool> tty;  // with its own terminal
  // the command needs more access than the sandbox grants
  std::optional<bool> outside_sandbox;
  std::optional<std::string> justification;  // why, for the person who must approve

  bool operator==(const ShellArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ShellArgs, (),
                      (command, cwd, timeout_ms, background, tty, outside_sandbox, justification))

inline constexpr std::uint64_t kShellTimeoutMs = 120'000;

inline constexpr schema::Argument kShellArguments[] = {
    {"command", kNotEmpty,
     "The bash text to run, as for bash -c. May have several lines. Standard input is empty. "
     "Example: make -j2 2>&1 | tail -n 40"},
    {"cwd", "",
     "The folder to run in: relative to the workspace, or absolute within it or an additional "
     "folder. Default: the workspace."},
    {"timeoutMs", R"("minimum":1,"maximum":3600000)",
     "Time limit in milliseconds. At the limit the command and all its child processes are killed. "
     "Default: 120000, or no limit with background. Raise it for long builds and test suites."},
    {"background", "",
     "true: return the process id as soon as the command runs, and leave it running. Use it for "
     "servers, watchers and anything that does not end by itself. read_file reads its output so "
     "far at output:PROCESS_ID. In the sandbox, later commands cannot connect to its ports; to "
     "test a server, start it and call it in one command. Default: false."},
    {"tty", "",
     "true: run in a terminal of 80 columns and 24 rows; standard output and standard error are "
     "joined. Only for programs that refuse to work without a terminal. Default: false."},
    {"outsideSandbox", "",
     "true: run without the sandbox, for a command that must reach the network or change something "
     "outside the workspace. A person is asked and may refuse. Try inside the sandbox first. "
     "Default: false."},
    {"justification", "",
     "With outsideSandbox: one sentence for the person who decides, saying what the command needs "
     "and why. Example: npm install must download packages from the registry."},
};

inline constexpr NamePair kShellInClaude[] = {
    {"command", "command"}, {"timeoutMs", "timeout"}, {"background", "run_in_background"}};

inline constexpr ToolSpec kShell = {
    .name = "shell",
    .description =
        "Runs a bash command in the workspace's sandbox and returns what it printed and its exit "
        "code. Use it for builds, tests, version control and every program that has no tool of its "
        "own; prefer read_file, list_files, search_files and edit_file for files. The sandbox "
        "allows reading the system and writing the workspace and /tmp (private to the command), "
        "and has no network unless the person configured it. Each call is a new shell: folder "
        "changes and variables do not carry over. Long output is returned as its beginning and its "
        "end; the rest is stored, and read_file reads it by the output:REF that the result names. "
        "Fails when the command is not permitted, when the sandbox cannot be set up, or at the "
        "time limit. An exit code other than 0 is a normal result.",
    .arguments = kShellArguments,
    .runs = Runner::process,
    .access = Access::execute,
    .destructive = true,
    .item = schema::ItemKind::command,
    .rules = RuleForm::command,
    .verb = "$",
    .claude = {{"Bash"}, kShellInClaude},
};

inline std::string object(const ShellArgs& args) { return args.command; }
inline std::string subject(const ShellArgs& args) { return args.command; }
inline Command command(const ShellArgs& args) {
  return {.text = args.command,
          .cwd = args.cwd,
          .timeout_ms = args.timeout_ms,
          .background = args.background.value_or(false),
          .tty = args.tty.value_or(false),
          .outside_sandbox = args.outside_sandbox.value_or(false),
          .justification = args.justification};
}

}  // namespace agentrt::tools
