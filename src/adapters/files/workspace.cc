#include "adapters/files/workspace.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "adapters/files/git_state.h"
#include "adapters/files/media_type.h"
#include "adapters/files/open_file.h"
#include "adapters/files/skills.h"
#include "base/digest.h"

namespace agentrt::adapters {
namespace {

namespace fs = std::filesystem;

// The names of instruction files. A folder's first one counts.
constexpr std::array kInstructionFiles = {"AGENTS.md", "CLAUDE.md"};

// The daemon's user, root and the owner of the workspace.
Owners owners_of(const std::string& cwd) {
  Owners out{::geteuid(), 0};
  struct stat about{};
  if (::stat(cwd.c_str(), &about) == 0) out.push_back(about.st_uid);
  return out;
}

// Ignores a repository that another user created around the workspace.
bool is_repository(const fs::path& folder, const Owners& owners) {
  struct stat about{};
  return ::stat((folder / ".git").c_str(), &about) == 0 &&
         std::ranges::find(owners, about.st_uid) != owners.end();
}

// The root of the repository that contains `cwd`, or `cwd` itself if there is none.
fs::path repository_of(const fs::path& cwd, const fs::path& home, const Owners& owners) {
  fs::path folder = cwd;
  for (std::size_t i = 0; i < kChainFoldersMax; ++i) {
    if (is_repository(folder, owners)) return folder;
    if (folder == folder.root_path() || folder == home) break;
    folder = folder.parent_path();
  }
  return cwd;
}

// Adds the instruction file of `folder`, a path below `root`, if it exists and fits.
void add_instructions(const std::string& root, const fs::path& folder, Links links,
                      const Owners& owners, ports::Instructions& out) {
  ContextFile file;
  for (const char* name : kInstructionFiles) {
    file = read_context_file(root, (folder / name).string(), links, kInstructionBytesMax, owners);
    if (file.what != ContextFile::What::absent) break;
  }
  if (file.what == ContextFile::What::absent) return;
  if (file.what == ContextFile::What::read &&
      out.text.size() + file.text.size() > kInstructionBytesMax)
    file.ref.reason =
        fmt::format("it exceeds the limit of {} bytes in total", kInstructionBytesMax);
  if (file.ref.reason) {
    out.omitted.push_back(std::move(file.ref));
    return;
  }
  out.text += fmt::format("[{}]\n{}{}", file.ref.ref.substr(5), file.text,
                          file.text.ends_with('\n') ? "" : "\n");
  out.refs.push_back(std::move(file.ref));
}

}  // namespace

std::optional<ports::GitState> DiskWorkspace::git(const std::string& cwd) {
  const Owners owners = owners_of(cwd);
  const fs::path root = repository_of(cwd, home_, owners);
  if (!is_repository(root, owners)) return std::nullopt;
  return read_git_state(root.string());
}

ports::GivenFile DiskWorkspace::given_file(const std::string& cwd, const std::string& path) {
  ports::GivenFile out;
  out.ref.ref = "file:" + path;
  const std::string inner = path.starts_with(cwd + "/") ? path.substr(cwd.size() + 1) : path;
  const Descriptor file{open_in(cwd, inner, Links::beneath)};
  struct stat info{};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) {
    out.ref.reason = "it does not exist in the workspace or cannot be read";
    return out;
  }
  if (!S_ISREG(info.st_mode)) {
    out.ref.reason = "it is not a regular file";
    return out;
  }
  std::error_code error;
  out.real_path = fs::read_symlink(fmt::format("/proc/self/fd/{}", file.get()), error).string();
  std::string bytes = read_at_most(file.get(), kGivenFileBytesMax + 1);
  out.ref.size = bytes.size();
  const std::string_view media_type = media_type_of(bytes);
  const std::size_t most = media_type.empty() ? kGivenTextBytesMax : kGivenFileBytesMax;
  if (bytes.size() > most) {
    out.ref.reason = fmt::format("it is larger than {} bytes", most);
    return out;
  }
  if (media_type.empty() && bytes.contains('\0')) {
    out.ref.reason = "it is neither text nor an image nor a PDF document";
    return out;
  }
  out.ref.digest = "sha256:" + hex(bytes_of(sha256(bytes)));
  if (media_type.empty())
    out.text = std::move(bytes);
  else
    out.attachment = ports::Attachment{path.substr(path.rfind('/') + 1), std::string(media_type),
                                       std::move(bytes)};
  return out;
}

ports::Instructions DiskWorkspace::instructions(const std::string& cwd) {
  ports::Instructions out;
  if (user_) add_instructions(*user_, "", Links::anywhere, {}, out);
  const Owners owners = owners_of(cwd);
  const fs::path root = repository_of(cwd, home_, owners);
  const fs::path below = fs::path(cwd).lexically_relative(root);
  fs::path at;
  add_instructions(root.string(), at, Links::beneath, owners, out);
  for (const fs::path& name : below) {
    if (name == ".") continue;
    at /= name;
    add_instructions(root.string(), at, Links::beneath, owners, out);
  }
  std::vector<SkillPlace> places;
  for (const char* folder : {".agentrt/skills", ".claude/skills"})
    places.push_back({.root = cwd, .folder = folder, .owners = owners});
  if (user_) places.push_back({*user_, "skills", Links::anywhere, true});
  find_skills(places, out);
  return out;
}

}  // namespace agentrt::adapters
