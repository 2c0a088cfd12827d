// runtime/trust.h: the files of a workspace that loosen rules or run something, and whether a
// person trusts them as they are.
//
// A workspace came from somebody else, so its files are only data. They are opened below the
// workspace without following a single link, read once and up to a limit; the digest is that of the
// very bytes that are parsed afterwards, and trust is bound to path and digest. A file that stands
// there and cannot be read so is an error, never an absent file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agentrt::runtime {

// One file that a person trusted, with the contents it had then.
struct TrustRecord {
  std::string path;    // absolute, below the workspace without symlinks
  std::string digest;  // sha256:…

  bool operator==(const TrustRecord&) const = default;
};

class TrustRecords {
 public:
  virtual ~TrustRecords() = default;
  // Of all files of a workspace, which is named without symlinks (real_workspace). Any thread; may
  // block. unavailable: they cannot be read.
  virtual Result<std::vector<TrustRecord>> of(const std::string& workspace) = 0;
};

// changed: it was trusted with other contents.
enum class Trust { none, changed, given };

struct WorkspaceFile {
  std::string path;
  std::string text;
  std::string digest;  // of `text`
  Trust trust = Trust::none;
};

inline constexpr std::string_view kWorkspaceFile = ".agentrt/config.toml";
inline constexpr std::string_view kServersFile = ".mcp.json";
inline constexpr std::string_view kClaudeFiles[] = {".claude/settings.json",
                                                    ".claude/settings.local.json"};
inline constexpr std::size_t kConfigBytesMax = 1 << 20;

// The folder without symlinks; as it is where it does not exist.
std::string real_workspace(const std::string& folder);

// The file at `name` (FOLDER/FILE or FILE) of the workspace; nothing when there is none.
// invalid_params: it is a link, lies behind one, is not a file, is too large or cannot be read.
Result<std::optional<WorkspaceFile>> read_workspace_file(const std::string& workspace,
                                                         std::string_view name,
                                                         const std::vector<TrustRecord>& records);

}  // namespace agentrt::runtime
