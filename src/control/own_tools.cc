#include "control/own_tools.h"

#include <algorithm>
#include <array>

#include "schema/argument_schema.h"
#include "schema/arguments.h"
#include "schema/file_tools.h"
#include "schema/tools.h"

namespace agentrt::control {

using namespace schema;

namespace {

template <class Args>
Result<void> read_as(std::string_view text) {
  Args args;
  return from_json(text, args, Unknown::refuse);
}

template <class Args, const auto& kArguments>
std::string_view schema_of() {
  static const std::string kSchema = argument_schema<Args>(kArguments);
  return kSchema;
}

constexpr std::string_view kNotEmpty = R"("minLength":1)";

constexpr std::string_view kShellText =
    "Runs a bash command in the workspace's sandbox and returns what it printed and its exit code. "
    "Use it for builds, tests, version control and every program that has no tool of its own; "
    "prefer read_file, list_files, search_files and edit_file for files. The sandbox allows "
    "reading the system and writing the workspace and /tmp (private to the command), and has no "
    "network unless the person configured it. Each call is a new shell: folder changes and "
    "variables do not carry over. Long output is returned as its beginning and its end; the rest "
    "is stored, and read_file reads it by the output:REF that the result names. Fails when the "
    "command is not permitted, when the sandbox cannot be set up, or at the time limit. An exit "
    "code other than 0 is a normal result.";
constexpr Argument kShellArguments[] = {
    {"command", kNotEmpty,
     "The bash text to run, as for bash -c. May have several lines. Standard input is empty. "
     "Example: make -j2 2>&1 | tail -n 40"},
    {"cwd", "",
     "The folder to run in: relative to the workspace, or absolute within it or an additional "
     "folder. Default: the workspace."},
    {"timeoutMs", R"("minimum":1,"maximum":3600000)",
     "Time limit in milliseconds. At the limit the command and all its child processes are ended. "
     "Default: 120000, or no limit with background. Raise it for long builds and test suites."},
    {"background", "",
     "true: return the process id as soon as the command runs, and leave it running. Use it for "
     "servers, watchers and anything that does not end by itself. Its output is not returned: "
     "redirect it to a file and read that file. Default: false."},
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

constexpr std::string_view kReadFileText =
    "Returns lines of a text file, each with its line number and a tab in front. Use it before "
    "editing a file. At most 32 KiB per call; the result says how to read the rest. Images and "
    "other binary files are named with their size, not shown. Fails when the file does not exist "
    "(similar names are suggested), is a folder, or lies outside the workspace.";
constexpr Argument kReadFileArguments[] = {
    {"path", kNotEmpty,
     "The file, relative to the workspace or absolute. output:REF reads stored output, such as the "
     "rest of a long command output."},
    {"offset", R"("minimum":1)", "The first line to return, counted from 1. Default: 1."},
    {"limit", R"("minimum":1)", "How many lines to return. Default: 2000."},
};

constexpr std::string_view kWriteFileText =
    "Creates a file or replaces its whole content, and returns the number of lines changed. Use it "
    "for new files and complete rewrites; use edit_file for changes to part of a file. Missing "
    "folders are created. Fails when the path lies outside the workspace or is protected, or when "
    "the file changed while it was being written.";
constexpr Argument kWriteFileArguments[] = {
    {"path", kNotEmpty, "The file, relative to the workspace or absolute."},
    {"content", "", "The complete new content."},
};

constexpr std::string_view kEditFileText =
    "Replaces one exact text in an existing file by another, and returns the number of lines "
    "changed. The preferred way to change a file: read it first, then replace the smallest part "
    "that identifies the place. Fails when oldText does not occur or occurs more than once "
    "(the result says which, and whether only white space differs), or when nothing would change.";
constexpr Argument kEditFileArguments[] = {
    {"path", kNotEmpty, "The file, relative to the workspace or absolute."},
    {"oldText", kNotEmpty,
     "The exact text to replace, with its indentation and line breaks but without the line numbers "
     "of read_file. Must occur exactly once in the file; include surrounding lines if needed."},
    {"newText", "", "The text to put there. An empty text deletes oldText."},
    {"replaceAll", "",
     "true: replace every occurrence, for example to rename a variable. Default: false."},
};

constexpr std::string_view kListFilesText =
    "Lists the files of a folder by name; folders end with a slash. Use it to find your way in a "
    "project, and with a pattern to find files by name. Skips .git and what .gitignore excludes. "
    "At most 1,000 names; the result says what was left out.";
constexpr Argument kListFilesArguments[] = {
    {"path", "", "The folder, relative to the workspace or absolute. Default: the workspace."},
    {"pattern", "",
     "Only paths that match: * and ? within a name, ** across folders, {a,b} alternatives. A "
     "pattern without a slash matches a name in any folder. Example: src/**/*.{h,cc}"},
    {"depth", R"("minimum":1,"maximum":64)",
     "How many levels of folders to list. Default: 1, or all with a pattern."},
    {"ignored", "", "true: include what .gitignore excludes. Default: false."},
};

constexpr std::string_view kSearchFilesText =
    "Finds the lines of files that match a regular expression and returns them as path:line:text. "
    "Use it instead of grep in the shell. Skips binary files, .git and what .gitignore excludes. "
    "At most 200 matching lines; narrow the search with path or files when there are more. Fails "
    "when the expression cannot be parsed.";
constexpr Argument kSearchFilesArguments[] = {
    {"pattern", kNotEmpty,
     "A regular expression in RE2 syntax, matched within each line; no look-around and no "
     "back-references. Example: parse_\\w+\\("},
    {"path", "",
     "The folder or file to search, relative to the workspace or absolute. Default: the "
     "workspace."},
    {"files", "",
     "Only files whose path matches this pattern, as in list_files. Example: *.{ts,tsx}"},
    {"ignoreCase", "", "true: letter case makes no difference. Default: false."},
    {"context", R"("minimum":0,"maximum":20)",
     "How many lines to return before and after each match. Default: 0."},
    {"ignored", "", "true: also search what .gitignore excludes. Default: false."},
};

constexpr std::string_view kUpdatePlanText =
    "Shows the person the steps of the work and how far each one is. Use it for work of three or "
    "more steps: once at the beginning, and again whenever a step starts or ends. It changes "
    "nothing else.";
constexpr Argument kUpdatePlanArguments[] = {
    {"plan",
     R"("minItems":1,"maxItems":50,"items":{"type":"object","properties":{"step":{"type":"string",)"
     R"("minLength":1,"description":"What is to be done, in a few words."},"status":{"type":)"
     R"("string","enum":["pending","in_progress","completed"],"description":"How far it is. Keep )"
     R"(exactly one step in_progress while you work."}},"required":["step","status"],)"
     R"("additionalProperties":false})",
     "All steps in order, finished ones included. Replaces the previous plan."},
    {"explanation", "", "Why the plan changed, in one sentence."},
};

constexpr std::string_view kAskUserText =
    "Asks the person a question and returns the answer. Use it when a decision is the person's to "
    "make and the answer cannot be found in the workspace; decide small matters yourself. Fails "
    "when nobody is there to answer.";
constexpr Argument kAskUserArguments[] = {
    {"question", R"("minLength":1,"maxLength":4096)",
     "The question, with what the person must know to answer it."},
    {"choices", R"("items":{"type":"string"},"minItems":1,"maxItems":20)",
     "The possible answers. Default: any text."},
};

constexpr auto kReads = policy::Access::read_only;
constexpr auto kChanges = policy::Access::changes;

constexpr std::array kTools = {
    OwnTool{ShellArgs::kTool, kShellText, schema_of<ShellArgs, kShellArguments>, "process",
            ItemKind::command, kChanges, false, true, read_as<ShellArgs>},
    OwnTool{ReadFileArgs::kTool, kReadFileText, schema_of<ReadFileArgs, kReadFileArguments>,
            "filesystem", ItemKind::tool_call, kReads, true, false, read_as<ReadFileArgs>},
    OwnTool{WriteFileArgs::kTool, kWriteFileText, schema_of<WriteFileArgs, kWriteFileArguments>,
            "filesystem", ItemKind::file_change, kChanges, false, true, read_as<WriteFileArgs>},
    OwnTool{EditFileArgs::kTool, kEditFileText, schema_of<EditFileArgs, kEditFileArguments>,
            "filesystem", ItemKind::file_change, kChanges, false, false, read_as<EditFileArgs>},
    OwnTool{ListFilesArgs::kTool, kListFilesText, schema_of<ListFilesArgs, kListFilesArguments>,
            "filesystem", ItemKind::tool_call, kReads, true, false, read_as<ListFilesArgs>},
    OwnTool{SearchFilesArgs::kTool, kSearchFilesText,
            schema_of<SearchFilesArgs, kSearchFilesArguments>, "filesystem", ItemKind::tool_call,
            kReads, true, false, read_as<SearchFilesArgs>},
    OwnTool{UpdatePlanArgs::kTool, kUpdatePlanText, schema_of<UpdatePlanArgs, kUpdatePlanArguments>,
            "session", ItemKind::todo, kReads, false, false, read_as<UpdatePlanArgs>},
    OwnTool{AskUserArgs::kTool, kAskUserText, schema_of<AskUserArgs, kAskUserArguments>, "person",
            ItemKind::tool_call, kReads, false, false, read_as<AskUserArgs>},
};

}  // namespace

std::span<const OwnTool> own_tools() { return kTools; }

const OwnTool* own_tool(std::string_view name) {
  const auto* row = std::ranges::find(kTools, name, &OwnTool::name);
  return row == kTools.end() ? nullptr : row;
}

// The schema's error comes first, because the model knows the schema. The tool's own parser
// decides.
std::optional<Failure> wrong_arguments_of(const OwnTool& tool, const Json& args) {
  auto wrong = wrong_arguments(Json{std::string(tool.input_schema())}, args);
  if (!wrong)
    if (const auto read = tool.reads(args.text); !read) wrong = read.error().message;
  if (!wrong) return std::nullopt;
  return Failure{Category::invalid_input, *std::move(wrong), false};
}

}  // namespace agentrt::control
