// schema/file_tools.h: arguments of the tools that work on workspace files, and the file change
// that one of them makes.
//
// A path must lie in the workspace or in one of the session's additional folders. It is absolute,
// or relative to the workspace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"

namespace agentrt::schema {

// Reads lines of a text file, numbered from 1. The path `output:REF` reads the content of a ref of
// the session.
struct ReadFileArgs {
  static constexpr std::string_view kTool = "read_file";
  std::string path;
  std::optional<std::uint64_t> offset;  // the first line to read
  std::optional<std::uint64_t> limit;   // the number of lines

  bool operator==(const ReadFileArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReadFileArgs, (), (path, offset, limit))

// Replaces the content of the file, or creates it with its parent folders.
struct WriteFileArgs {
  static constexpr std::string_view kTool = "write_file";
  std::string path;
  std::string content;

  bool operator==(const WriteFileArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(WriteFileArgs, (), (path, content))

// Replaces `old_text`, which must occur exactly once, with `new_text`. With `replace_all`, replaces
// every occurrence.
struct EditFileArgs {
  static constexpr std::string_view kTool = "edit_file";
  std::string path;
  std::string old_text;
  std::string new_text;
  std::optional<bool> replace_all;

  bool operator==(const EditFileArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(EditFileArgs, (), (path, old_text, new_text, replace_all))

// Lists the files below a folder, by name.
struct ListFilesArgs {
  static constexpr std::string_view kTool = "list_files";
  std::optional<std::string> path;     // default: the workspace
  std::optional<std::string> pattern;  // a glob such as src/**/*.h
  std::optional<std::uint64_t> depth;  // levels of folders; default: 1, or unlimited with a pattern
  std::optional<bool> ignored;         // also list files that .gitignore excludes

  bool operator==(const ListFilesArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListFilesArgs, (), (path, pattern, depth, ignored))

// Lists the lines of files that match a regular expression (RE2).
struct SearchFilesArgs {
  static constexpr std::string_view kTool = "search_files";
  std::string pattern;
  std::optional<std::string> path;   // a folder or a file; default: the workspace
  std::optional<std::string> files;  // a glob for the files to search, such as *.cc
  std::optional<bool> ignore_case;
  std::optional<std::uint64_t> context;  // lines before and after each match
  std::optional<bool> ignored;           // also search files that .gitignore excludes

  bool operator==(const SearchFilesArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(SearchFilesArgs, (), (pattern, path, files, ignore_case, context, ignored))

BOOST_DEFINE_ENUM_CLASS(FileChangeKind, create, update)

// A change that a call is about to make to a file. It is stored before the file changes. After a
// crash, the digest of the file shows whether the change happened, or whether another program
// changed the file.
struct FileChange {
  std::string path;  // absolute, without symlinks
  FileChangeKind kind = FileChangeKind::update;
  std::optional<std::string> before;  // sha256:…; absent: the file did not exist
  std::string after;
  std::uint64_t lines_added = 0;
  std::uint64_t lines_removed = 0;
  std::optional<std::string> diff_ref;  // a unified diff

  bool operator==(const FileChange&) const = default;
};
BOOST_DESCRIBE_STRUCT(FileChange, (),
                      (path, kind, before, after, lines_added, lines_removed, diff_ref))

// Limit of a tool result in bytes. The result is stored in a fact and sent to the model.
inline constexpr std::size_t kToolTextBytesMax = 32 * 1024;

}  // namespace agentrt::schema
