// config/trust.h: the workspace files that can loosen rules or run programs, and whether a person
// trusts their current content.
//
// A workspace is untrusted input. Its files are opened below the workspace without following
// symlinks, and read once up to a size limit. The digest covers the same bytes that are parsed
// afterwards, and trust is bound to path and digest. A file that exists but cannot be read this way
// is an error; it never counts as absent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agentrt::config {

// One trusted file, with the digest of the trusted content.
struct TrustRecord {
  std::string path;    // absolute, below the workspace, without symlinks
  std::string digest;  // sha256:…
  // What the person was shown that the file does (config/effects.h); absent: not recorded.
  std::optional<std::vector<std::string>> effects = {};

  bool operator==(const TrustRecord&) const = default;
};

class TrustRecords {
 public:
  virtual ~TrustRecords() = default;
  // The records of all files of `workspace`, a path without symlinks (real_workspace), newest
  // first. Callable from any thread; may block. Fails with unavailable if they cannot be read.
  virtual Result<std::vector<TrustRecord>> of(const std::string& workspace) = 0;
};

// changed: a different content was trusted.
enum class Trust { none, changed, given };

struct WorkspaceFile {
  std::string path;
  std::string text;
  std::string digest;  // of `text`
  Trust trust = Trust::none;
  std::optional<std::vector<std::string>> trusted_effects;  // of the version trusted last
};

inline constexpr std::string_view kWorkspaceFile = ".agentrt/config.toml";
inline constexpr std::string_view kServersFile = ".mcp.json";
inline constexpr std::string_view kClaudeFiles[] = {".claude/settings.json",
                                                    ".claude/settings.local.json"};
inline constexpr std::size_t kConfigBytesMax = 1 << 20;

// The folder with symlinks resolved; unchanged if it does not exist.
std::string real_workspace(const std::string& folder);

// Reads the workspace file `name` (FOLDER/FILE or FILE); nullopt if it does not exist. Fails with
// invalid_params if it is a symlink, lies behind one, is not a regular file, is too large or cannot
// be read.
Result<std::optional<WorkspaceFile>> read_workspace_file(const std::string& workspace,
                                                         std::string_view name,
                                                         const std::vector<TrustRecord>& records);

}  // namespace agentrt::config
