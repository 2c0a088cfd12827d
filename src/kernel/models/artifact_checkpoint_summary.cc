// kernel/models/artifact_checkpoint_summary.cc: the workspace files that tool calls have changed,
// with the newest version of each.
#include "kernel/models/models.h"
#include "state/index.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

struct File {
  ArtifactId artifact_id;
  std::optional<std::string> path;
  std::uint64_t versions = 0;
  std::optional<std::string> version_id;
  std::optional<std::string> previous_id;
  std::optional<std::string> change;
  std::optional<std::string> diff_ref;
  std::optional<std::uint64_t> lines_added;
  std::optional<std::uint64_t> lines_removed;
  ThreadId thread_id;
  TurnId turn_id;
  ToolCallId tool_call_id;
  Sequence sequence = 0;
  Timestamp at;
  Json validation_issues;
  Json restorable;
};
BOOST_DESCRIBE_STRUCT(File, (),
                      (artifact_id, path, versions, version_id, previous_id, change, diff_ref,
                       lines_added, lines_removed, thread_id, turn_id, tool_call_id, sequence, at,
                       validation_issues, restorable))

struct Model {
  SessionId session_id;
  std::vector<File> files;  // the file that changed last first
  std::uint64_t total = 0;  // in the whole session
};
BOOST_DESCRIBE_STRUCT(Model, (), (session_id, files, total))

Result<File> file_of(const Source& source, const store::IndexEntry& entry) {
  state::ArtifactRecord record;
  TRY(from_json(entry.row.record, record, Unknown::ignore));
  File file;
  file.artifact_id = record.artifact_id;
  file.path = record.path;
  file.version_id = record.version_id;
  file.previous_id = record.previous_id;
  file.change = record.change;
  file.diff_ref = record.diff_ref;
  file.lines_added = record.lines_added;
  file.lines_removed = record.lines_removed;
  file.thread_id = record.thread_id;
  file.turn_id = record.turn_id;
  file.tool_call_id = record.tool_call_id;
  file.sequence = record.sequence;
  file.at = record.at;
  file.validation_issues = absent(Honesty::not_applicable, "files are not validated");
  file.restorable = absent(Honesty::not_applicable, "this version restores no files");
  store::IndexQuery versions{
      .kind = std::string(state::kVersionKind), .session = source.view.id, .parent = entry.row.id};
  TRY_ASSIGN(file.versions, source.store.count(versions));
  return file;
}

}  // namespace

// Narrowed to a thread, it lists the files whose newest version is of that thread.
Result<std::string> artifact_checkpoint_summary(const Source& source) {
  Model model;
  model.session_id = source.view.id;
  store::IndexQuery files{.kind = std::string(state::kArtifactKind), .session = source.view.id};
  files.limit = source.limits.model_entries_max;
  TRY_ASSIGN(model.total, source.store.count(files));
  for (std::size_t scanned = 0; scanned < source.limits.events_scanned_max;) {
    TRY_ASSIGN(const auto page, source.store.list(files));
    for (const store::IndexEntry& entry : page) {
      TRY_ASSIGN(File file, file_of(source, entry));
      if (includes(source, file.thread_id) && model.files.size() < files.limit)
        model.files.push_back(std::move(file));
    }
    if (page.size() < files.limit || model.files.size() == files.limit) break;
    scanned += page.size();
    files.before = page.back().row.first;
    files.before_id = page.back().row.id;
  }
  return finished(model, source);
}

}  // namespace agentrt::kernel::models
