// tools/write_file.h: the tool `write_file`: replaces the content of a file, or creates it with its
// parent folders.
#pragma once

#include "tools/marked_lines.h"
#include "tools/tool.h"

namespace agentrt::tools {

struct WriteFileArgs {
  static constexpr bool kFromModel = true;

  std::string path;
  std::string content;

  bool operator==(const WriteFileArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(WriteFileArgs, (), (path, content))

inline constexpr schema::Argument kWriteFileArguments[] = {
    {"path", kNotEmpty, "The file, relative to the workspace or absolute."},
    {"content", "", "The complete new content."},
};

inline constexpr NamePair kWriteFileInClaude[] = {{"path", "file_path"}, {"content", "content"}};

inline constexpr ToolSpec kWriteFile = {
    .name = "write_file",
    .description =
        "Creates a file or replaces its whole content, and returns the number of lines changed. "
        "Use it for new files and complete rewrites; use edit_file for changes to part of a file. "
        "Missing folders are created. Fails when the path lies outside the workspace or is "
        "protected, or when the file changed while it was being written.",
    .arguments = kWriteFileArguments,
    .runs = Runner::file,
    .access = Access::write,
    .destructive = true,
    .item = schema::ItemKind::file_change,
    .path = {.name = "path", .one_file = true},
    .rules = RuleForm::path,
    .also_denied_by = {"edit_file"},
    .verb = "write",
    .claude = {{"Write"}, kWriteFileInClaude},
};

inline std::string object(const WriteFileArgs& args) { return args.path; }
inline std::string subject(const WriteFileArgs& args) {
  return args.path + marked_lines(args.content, "+");
}

}  // namespace agentrt::tools
