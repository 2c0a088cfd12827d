// tools/list_files.h: the tool `list_files`: the files below a folder, by name.
#pragma once

#include "tools/tool.h"

namespace agentrt::tools {

struct ListFilesArgs {
  static constexpr bool kFromModel = true;

  std::optional<std::string> path;     // default: the workspace
  std::optional<std::string> pattern;  // a glob such as src/**/*.h
  std::optional<std::uint64_t> depth;  // levels of folders; default: 1, or unlimited with a pattern
  std::optional<bool> ignored;         // also list files that .gitignore excludes

  bool operator==(const ListFilesArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListFilesArgs, (), (path, pattern, depth, ignored))

inline constexpr schema::Argument kListFilesArguments[] = {
    {"path", "", "The folder, relative to the workspace or absolute. Default: the workspace."},
    {"pattern", "",
     "Only paths that match: * and ? within a name, ** across folders, {a,b} alternatives. A "
     "pattern without a slash matches a name in any folder. Example: src/**/*.{h,cc}"},
    {"depth", R"("minimum":1,"maximum":64)",
     "How many levels of folders to list. Default: 1, or all with a pattern."},
    {"ignored", "", "true: include what .gitignore excludes. Default: false."},
};

inline constexpr NamePair kListFilesInClaude[] = {{"path", "path"}, {"pattern", "pattern"}};

inline constexpr ToolSpec kListFiles = {
    .name = "list_files",
    .description =
        "Lists the files of a folder by name; folders end with a slash. Use it to find your way in "
        "a project, and with a pattern to find files by name. Skips .git and what .gitignore "
        "and the user's global git excludes name. At most 1,000 names; the result says how many "
        "were "
        "omitted.",
    .arguments = kListFilesArguments,
    .runs = Runner::file,
    .access = Access::read,
    .side_by_side = true,
    .path = {.name = "path"},
    .rules = RuleForm::path,
    .also_denied_by = {"read_file"},
    .verb = "list",
    .claude = {{"LS", "Glob"}, kListFilesInClaude},
};

inline std::string object(const ListFilesArgs& args) {
  return args.path.value_or(".") + (args.pattern ? " " + *args.pattern : std::string());
}

}  // namespace agentrt::tools
