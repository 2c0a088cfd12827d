// schema/facts/artifact.h: the new state of a workspace file that a tool call wrote.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct ArtifactChanged {
  static constexpr std::string_view kType = "artifact.changed";
  using Scope = ArtifactScope;
  std::optional<std::string> change;  // create, update, restore
  std::optional<std::string> path;    // absolute
  std::optional<std::string> read_ref;
  // Digest of the new content; absent: the file was removed.
  std::optional<std::string> version_id;
  std::optional<std::string> previous_id;  // digest of the old content; absent: the file is new
  std::optional<std::string> preview_ref;
  std::optional<std::string> diff_ref;
  std::optional<std::uint64_t> lines_added;
  std::optional<std::uint64_t> lines_removed;
  // The old content, where the diff and the new content do not give it.
  std::optional<std::string> previous_ref = {};
  std::optional<std::int64_t> duration_ms = {};  // of the call that made the change

  bool operator==(const ArtifactChanged&) const = default;
};
BOOST_DESCRIBE_STRUCT(ArtifactChanged, (),
                      (change, path, read_ref, version_id, previous_id, preview_ref, diff_ref,
                       lines_added, lines_removed, previous_ref, duration_ms))

}  // namespace agentrt::schema
