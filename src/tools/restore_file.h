// tools/restore_file.h: the tool `restore_file`: gives a file back an earlier content, or removes
// it if it did not exist then. The runtime calls it after a rollback; no model is offered it.
#pragma once

#include "schema/rollback.h"
#include "tools/tool.h"

namespace agentrt::tools {

struct RestoreFileArgs {
  static constexpr bool kFromModel = true;

  std::string path;
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<std::vector<std::string>> diffs;
  std::optional<std::string> bytes;

  bool operator==(const RestoreFileArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(RestoreFileArgs, (), (path, from, to, diffs, bytes))

inline RestoreFileArgs restore_args(const schema::FileRestore& file) {
  RestoreFileArgs args{
      .path = file.path, .from = file.from, .to = file.to, .diffs = {}, .bytes = file.bytes};
  if (!file.diffs.empty()) args.diffs = file.diffs;
  return args;
}

inline constexpr schema::Argument kRestoreFileArguments[] = {
    {"path", kNotEmpty, "The file, absolute."},
    {"from", "", "The digest of its present content. Absent: the file does not exist."},
    {"to", "", "The digest of the content to restore. Absent: the file is removed."},
    {"diffs", "", "Refs of the diffs to apply backwards, in this order."},
    {"bytes", "",
     "The ref of the content that the diffs are applied to, instead of the present one."},
};

inline constexpr ToolSpec kRestoreFile = {
    .name = "restore_file",
    .description =
        "Gives a file back the content that it had before turns that a rollback removed. "
        "Fails when something else has changed the file since.",
    .arguments = kRestoreFileArguments,
    .runs = Runner::file,
    .access = Access::write,
    .destructive = true,
    .item = schema::ItemKind::file_change,
    .path = {.name = "path", .one_file = true},
    .rules = RuleForm::path,
    .also_denied_by = {"edit_file"},
    .verb = "restore",
    .judged_as = "write_file",
};

inline std::string object(const RestoreFileArgs& args) { return args.path; }
inline std::string subject(const RestoreFileArgs& args) {
  return args.path + (args.to ? " (back to its earlier content)" : " (is removed: it was new)");
}

}  // namespace agentrt::tools
