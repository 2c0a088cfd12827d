// tools/edit_file.h: the tool `edit_file`: replaces `old_text`, which must occur exactly once, with
// `new_text`. With `replace_all`, replaces every occurrence.
#pragma once

#include "tools/marked_lines.h"
#include "tools/tool.h"

namespace agentrt::tools {

struct EditFileArgs {
  static constexpr bool kFromModel = true;

  std::string path;
  std::string old_text;
  std::string new_text;
  std::optional<bool> replace_all;

  bool operator==(const EditFileArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(EditFileArgs, (), (path, old_text, new_text, replace_all))

inline constexpr schema::Argument kEditFileArguments[] = {
    {"path", kNotEmpty, "The file, relative to the workspace or absolute."},
    {"oldText", kNotEmpty,
     "The exact text to replace, with its indentation and line breaks but without the line numbers "
     "of read_file. Must occur exactly once in the file; include surrounding lines if needed."},
    {"newText", "", "The text to put there. An empty text deletes oldText."},
    {"replaceAll", "",
     "true: replace every occurrence, for example to rename a variable. Default: false."},
};

inline constexpr NamePair kEditFileInClaude[] = {{"path", "file_path"},
                                                 {"oldText", "old_string"},
                                                 {"newText", "new_string"},
                                                 {"replaceAll", "replace_all"}};

inline constexpr ToolSpec kEditFile = {
    .name = "edit_file",
    .description =
        "Replaces one exact text in an existing file with another, and returns the number of lines "
        "changed. The preferred way to change a file: read it first, then replace the smallest "
        "part that identifies the place. Fails when oldText does not occur or occurs more than "
        "once (the result says which, and whether only white space differs), or when nothing would "
        "change.",
    .arguments = kEditFileArguments,
    .runs = Runner::file,
    .access = Access::write,
    .item = schema::ItemKind::file_change,
    .path = {.name = "path", .one_file = true},
    .rules = RuleForm::path,
    .also_denied_by = {"read_file", "write_file"},  // its failures and its diff show the content
    .verb = "edit",
    .claude = {{"Edit", "MultiEdit"}, kEditFileInClaude},
};

inline std::string object(const EditFileArgs& args) { return args.path; }
inline std::string subject(const EditFileArgs& args) {
  return args.path + (args.replace_all.value_or(false) ? " (every occurrence)" : "") +
         marked_lines(args.old_text, "-") + marked_lines(args.new_text, "+");
}

}  // namespace agentrt::tools
