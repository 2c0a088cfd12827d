// tools/read_file.h: the tool `read_file`: lines of a text file, numbered from 1. The path
// `output:REF` reads the content of a ref of the session, `output:PROCESS_ID` the output of one of
// its background processes so far.
#pragma once

#include <fmt/format.h>

#include "tools/tool.h"

namespace agentrt::tools {

struct ReadFileArgs {
  static constexpr bool kFromModel = true;

  std::string path;
  std::optional<std::uint64_t> offset;  // the first line to read
  std::optional<std::uint64_t> limit;   // the number of lines

  bool operator==(const ReadFileArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReadFileArgs, (), (path, offset, limit))

inline constexpr schema::Argument kReadFileArguments[] = {
    {"path", kNotEmpty,
     "The file, relative to the workspace or absolute. output:REF reads stored output, such as the "
     "rest of a long command output, and output:PROCESS_ID the output of a background process so "
     "far."},
    {"offset", R"("minimum":1)", "The first line to return, counted from 1. Default: 1."},
    {"limit", R"("minimum":1)", "How many lines to return. Default: 2000."},
};

inline constexpr NamePair kReadFileInClaude[] = {
    {"path", "file_path"}, {"offset", "offset"}, {"limit", "limit"}};

inline constexpr ToolSpec kReadFile = {
    .name = "read_file",
    .description =
        "Returns lines of a text file, each preceded by its line number and a tab. Use it before "
        "editing a file. At most 32 KiB per call; the result says how to read the rest. Images "
        "(PNG, JPEG, GIF, WebP) are shown if you can see images; other binary files are only named "
        "with their size. Fails when the file does not "
        "exist (similar names are suggested), is a folder, or lies outside the workspace.",
    .arguments = kReadFileArguments,
    .runs = Runner::file,
    .access = Access::read,
    .side_by_side = true,
    .path = {.name = "path", .one_file = true},
    .rules = RuleForm::path,
    .verb = "read",
    .claude = {{"Read"}, kReadFileInClaude},
};

inline std::string object(const ReadFileArgs& args) {
  if (!args.offset && !args.limit) return args.path;
  const std::uint64_t first = args.offset.value_or(1);
  const std::string from = fmt::format("{}:{}-", args.path, first);
  return args.limit ? from + std::to_string(first + *args.limit - 1) : from;
}

}  // namespace agentrt::tools
