#include "control/own_tools.h"

#include <algorithm>
#include <array>

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

constexpr auto kReads = policy::Access::read_only;
constexpr auto kChanges = policy::Access::changes;

constexpr std::array kTools = {
    OwnTool{ShellArgs::kTool,
            "Runs a text with bash in the workspace's sandbox and gives back what it printed and "
            "its exit code.",
            kShellSchema, "process", ItemKind::command, kChanges, false, true, read_as<ShellArgs>},
    OwnTool{ReadFileArgs::kTool,
            "Reads lines of a text file, numbered. Ask for a range of a long file.",
            kReadFileSchema, "filesystem", ItemKind::tool_call, kReads, true, false,
            read_as<ReadFileArgs>},
    OwnTool{WriteFileArgs::kTool,
            "Writes a whole file, with the folders that lead to it. What was in it is replaced.",
            kWriteFileSchema, "filesystem", ItemKind::file_change, kChanges, false, true,
            read_as<WriteFileArgs>},
    OwnTool{EditFileArgs::kTool,
            "Replaces a text in a file by another, at its only place or with replaceAll at each.",
            kEditFileSchema, "filesystem", ItemKind::file_change, kChanges, false, false,
            read_as<EditFileArgs>},
    OwnTool{ListFilesArgs::kTool,
            "Lists the files of a folder; with a pattern those below it that fit.",
            kListFilesSchema, "filesystem", ItemKind::tool_call, kReads, true, false,
            read_as<ListFilesArgs>},
    OwnTool{SearchFilesArgs::kTool, "Finds the lines of files that fit a regular expression.",
            kSearchFilesSchema, "filesystem", ItemKind::tool_call, kReads, true, false,
            read_as<SearchFilesArgs>},
    OwnTool{UpdatePlanArgs::kTool,
            "Shows the person the steps of the work and how far each is. Use it for work of "
            "several steps.",
            kUpdatePlanSchema, "session", ItemKind::todo, kReads, false, false,
            read_as<UpdatePlanArgs>},
    OwnTool{AskUserArgs::kTool,
            "Asks the person a question, with choices or for any text, and gives back the answer.",
            kAskUserSchema, "person", ItemKind::tool_call, kReads, false, false,
            read_as<AskUserArgs>},
};

}  // namespace

std::span<const OwnTool> own_tools() { return kTools; }

const OwnTool* own_tool(std::string_view name) {
  const auto* row = std::ranges::find(kTools, name, &OwnTool::name);
  return row == kTools.end() ? nullptr : row;
}

// The schema says it in the words that the model was given; the tool has the last word.
std::optional<Failure> wrong_arguments_of(const OwnTool& tool, const Json& args) {
  auto wrong = wrong_arguments(Json{std::string(tool.input_schema)}, args);
  if (!wrong)
    if (const auto read = tool.reads(args.text); !read) wrong = read.error().message;
  if (!wrong) return std::nullopt;
  return Failure{Category::invalid_input, *std::move(wrong), false};
}

}  // namespace agentrt::control
