#include "control/own_tools.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "schema/file_tools.h"
#include "schema/tools.h"

namespace agentrt::control {

using namespace schema;

namespace {

constexpr std::size_t kQuestionBytesMax = 4'096;

using Wrong = std::optional<Failure>;

Wrong invalid(std::string message) {
  return Failure{Category::invalid_input, std::move(message), false};
}

template <class Args>
Wrong read_as(std::string_view text, Args& args) {
  const auto read = from_json(text, args, Unknown::refuse);
  return read ? std::nullopt : invalid(read.error().message);
}

Wrong wrong_shell(std::string_view text) {
  ShellArgs args;
  if (auto wrong = read_as(text, args)) return wrong;
  if (args.command.empty()) return invalid("command: expected a text to run");
  if (args.timeout_ms && (*args.timeout_ms == 0 || *args.timeout_ms > kShellTimeoutMaxMs))
    return invalid(fmt::format("timeoutMs: expected 1 to {}", kShellTimeoutMaxMs));
  return std::nullopt;
}

Wrong wrong_question(std::string_view text) {
  AskUserArgs args;
  if (auto wrong = read_as(text, args)) return wrong;
  if (args.question.empty()) return invalid("question: expected a text to ask");
  if (args.question.size() > kQuestionBytesMax)
    return invalid(
        fmt::format("question: at most {} bytes; ask for less at once", kQuestionBytesMax));
  if (args.choices && (args.choices->empty() || args.choices->size() > kChoicesMax))
    return invalid(fmt::format("choices: expected 1 to {} texts, or none at all", kChoicesMax));
  return std::nullopt;
}

Wrong wrong_plan(std::string_view text) {
  UpdatePlanArgs args;
  if (auto wrong = read_as(text, args)) return wrong;
  if (args.plan.empty() || args.plan.size() > kPlanStepsMax)
    return invalid(fmt::format("plan: expected 1 to {} steps", kPlanStepsMax));
  return std::nullopt;
}

// Tools that work on one path.
template <class Args>
Wrong wrong_path(std::string_view text) {
  Args args;
  if (auto wrong = read_as(text, args)) return wrong;
  if (args.path.empty()) return invalid("path: expected a path in the workspace");
  return std::nullopt;
}

Wrong wrong_read(std::string_view text) {
  ReadFileArgs args;
  if (auto wrong = read_as(text, args)) return wrong;
  if (args.offset == 0) return invalid("offset: lines count from 1");
  if (args.limit == 0) return invalid("limit: expected at least 1 line");
  return wrong_path<ReadFileArgs>(text);
}

Wrong wrong_edit(std::string_view text) {
  EditFileArgs args;
  if (auto wrong = read_as(text, args)) return wrong;
  if (args.old_text.empty())
    return invalid("oldText: expected the text to replace; a whole file is written by write_file");
  if (args.old_text == args.new_text) return invalid("newText: it is the same as oldText");
  return wrong_path<EditFileArgs>(text);
}

Wrong wrong_list(std::string_view text) {
  ListFilesArgs args;
  return read_as(text, args);
}

Wrong wrong_search(std::string_view text) {
  SearchFilesArgs args;
  if (auto wrong = read_as(text, args)) return wrong;
  if (args.pattern.empty()) return invalid("pattern: expected a regular expression");
  return std::nullopt;
}

constexpr auto kReads = policy::Access::read_only;
constexpr auto kChanges = policy::Access::changes;

constexpr std::array kTools = {
    OwnTool{ShellArgs::kTool,
            "Runs a text with bash in the workspace's sandbox and gives back what it printed and "
            "its exit code.",
            kShellSchema, "process", ItemKind::command, kChanges, false, true, wrong_shell},
    OwnTool{ReadFileArgs::kTool,
            "Reads lines of a text file, numbered. Ask for a range of a long file.",
            kReadFileSchema, "filesystem", ItemKind::tool_call, kReads, true, false, wrong_read},
    OwnTool{WriteFileArgs::kTool,
            "Writes a whole file, with the folders that lead to it. What was in it is replaced.",
            kWriteFileSchema, "filesystem", ItemKind::file_change, kChanges, false, true,
            wrong_path<WriteFileArgs>},
    OwnTool{EditFileArgs::kTool,
            "Replaces a text in a file by another, at its only place or with replaceAll at each.",
            kEditFileSchema, "filesystem", ItemKind::file_change, kChanges, false, false,
            wrong_edit},
    OwnTool{ListFilesArgs::kTool,
            "Lists the files of a folder; with a pattern those below it that fit.",
            kListFilesSchema, "filesystem", ItemKind::tool_call, kReads, true, false, wrong_list},
    OwnTool{SearchFilesArgs::kTool, "Finds the lines of files that fit a regular expression.",
            kSearchFilesSchema, "filesystem", ItemKind::tool_call, kReads, true, false,
            wrong_search},
    OwnTool{UpdatePlanArgs::kTool,
            "Shows the person the steps of the work and how far each is. Use it for work of "
            "several steps.",
            kUpdatePlanSchema, "session", ItemKind::todo, kReads, false, false, wrong_plan},
    OwnTool{AskUserArgs::kTool,
            "Asks the person a question, with choices or for any text, and gives back the answer.",
            kAskUserSchema, "person", ItemKind::tool_call, kReads, false, false, wrong_question},
};

}  // namespace

std::span<const OwnTool> own_tools() { return kTools; }

const OwnTool* own_tool(std::string_view name) {
  const auto* row = std::ranges::find(kTools, name, &OwnTool::name);
  return row == kTools.end() ? nullptr : row;
}

}  // namespace agentrt::control
