// tools/search_files.h: the tool `search_files`: the lines of files that match a regular expression
// (RE2).
#pragma once

#include "tools/tool.h"

namespace agentrt::tools {

struct SearchFilesArgs {
  static constexpr bool kFromModel = true;

  std::string pattern;
  std::optional<std::string> path;   // a folder or a file; default: the workspace
  std::optional<std::string> files;  // a glob for the files to search, such as *.cc
  std::optional<bool> ignore_case;
  std::optional<std::uint64_t> context;  // lines before and after each match
  std::optional<bool> ignored;           // also search files that .gitignore excludes

  bool operator==(const SearchFilesArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(SearchFilesArgs, (), (pattern, path, files, ignore_case, context, ignored))

inline constexpr schema::Argument kSearchFilesArguments[] = {
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

inline constexpr NamePair kSearchFilesInClaude[] = {{"pattern", "pattern"},
                                                    {"path", "path"},
                                                    {"files", "glob"},
                                                    {"ignoreCase", "-i"},
                                                    {"context", "-C"}};

inline constexpr ToolSpec kSearchFiles = {
    .name = "search_files",
    .description =
        "Finds the lines of files that match a regular expression and returns them as "
        "path:line:text. Use it instead of grep in the shell. Skips binary files, .git and what "
        ".gitignore and the user's global git excludes name. At most 200 matching lines; narrow "
        "the search with path or files "
        "when there are more. Fails when the expression cannot be parsed.",
    .arguments = kSearchFilesArguments,
    .runs = Runner::file,
    .access = Access::read,
    .side_by_side = true,
    .path = {.name = "path"},
    .rules = RuleForm::path,
    .also_denied_by = {"read_file"},
    .verb = "search",
    .claude = {{"Grep"}, kSearchFilesInClaude},
};

inline std::string object(const SearchFilesArgs& args) {
  if (args.path) return args.pattern + " in " + *args.path;
  return args.pattern + (args.files ? " in " + *args.files : std::string());
}

}  // namespace agentrt::tools
