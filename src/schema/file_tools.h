// schema/file_tools.h: the tools that work on files of the workspace, as models call them, and the
// change that one of them makes.
//
// Paths are in the workspace or one of the session's additional folders: relative to the workspace,
// or absolute.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/codec.h"

namespace agentrt::schema {

// Lines of a text file, numbered from 1. `output:REF` reads what stands behind a ref of the
// session.
struct ReadFileArgs {
  static constexpr std::string_view kTool = "read_file";
  std::string path;
  std::optional<std::uint64_t> offset;  // the first line
  std::optional<std::uint64_t> limit;   // how many of them

  bool operator==(const ReadFileArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ReadFileArgs, (), (path, offset, limit))

// Makes the file what `content` says, with the folders that lead to it.
struct WriteFileArgs {
  static constexpr std::string_view kTool = "write_file";
  std::string path;
  std::string content;

  bool operator==(const WriteFileArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(WriteFileArgs, (), (path, content))

// Puts `new_text` where `old_text` stands: at its only place, or with `replace_all` at each.
struct EditFileArgs {
  static constexpr std::string_view kTool = "edit_file";
  std::string path;
  std::string old_text;
  std::string new_text;
  std::optional<bool> replace_all;

  bool operator==(const EditFileArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(EditFileArgs, (), (path, old_text, new_text, replace_all))

// The files below a folder, by name.
struct ListFilesArgs {
  static constexpr std::string_view kTool = "list_files";
  std::optional<std::string> path;     // absent: the workspace
  std::optional<std::string> pattern;  // src/**/*.h: only these
  std::optional<std::uint64_t> depth;  // of folders; absent: 1, with a pattern as deep as there are
  std::optional<bool> ignored;         // also what .gitignore leaves out

  bool operator==(const ListFilesArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(ListFilesArgs, (), (path, pattern, depth, ignored))

// The lines of files that fit a regular expression (RE2).
struct SearchFilesArgs {
  static constexpr std::string_view kTool = "search_files";
  std::string pattern;
  std::optional<std::string> path;   // a folder or a file; absent: the workspace
  std::optional<std::string> files;  // *.cc: only files whose path fits
  std::optional<bool> ignore_case;
  std::optional<std::uint64_t> context;  // lines before and after each
  std::optional<bool> ignored;           // also in what .gitignore leaves out

  bool operator==(const SearchFilesArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(SearchFilesArgs, (), (pattern, path, files, ignore_case, context, ignored))

BOOST_DEFINE_ENUM_CLASS(FileChangeKind, create, update)

// What a call is about to do to a file. It is stored before the file changes, so that after a crash
// the file itself says whether it did: it is as before, as after, or somebody else's.
struct FileChange {
  std::string path;  // absolute, with no link in it
  FileChangeKind kind = FileChangeKind::update;
  std::optional<std::string> before;  // sha256:…; absent: there was no file
  std::string after;
  std::uint64_t lines_added = 0;
  std::uint64_t lines_removed = 0;
  std::optional<std::string> diff_ref;  // a unified diff

  bool operator==(const FileChange&) const = default;
};
BOOST_DESCRIBE_STRUCT(FileChange, (),
                      (path, kind, before, after, lines_added, lines_removed, diff_ref))

// Of what a call gives back: it stands in a fact and is told to the model.
inline constexpr std::size_t kToolTextBytesMax = 32 * 1024;

}  // namespace agentrt::schema
