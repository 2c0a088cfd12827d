#include "adapters/files/workspace.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>

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

std::size_t size_of(const std::vector<ports::InstructionText>& files) {
  std::size_t size = 0;
  for (const ports::InstructionText& file : files) size += file.text.size();
  return size;
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
      size_of(out.files) + file.text.size() > kInstructionBytesMax)
    file.ref.reason =
        fmt::format("it exceeds the limit of {} bytes in total", kInstructionBytesMax);
  if (file.ref.reason) {
    out.omitted.push_back(std::move(file.ref));
    return;
  }
  std::string text = fmt::format("[{}]\n{}{}", file.ref.ref.substr(5), file.text,
                                 file.text.ends_with('\n') ? "" : "\n");
  out.files.push_back({std::move(file.ref), std::move(text)});
}

// Puts the bytes of a file into `out`, as its media type demands, or the reason why not.
void give(std::string bytes, const std::string& name, ports::GivenFile& out) {
  out.ref.size = bytes.size();
  const std::string_view media_type = media_type_of(bytes);
  const std::size_t most = media_type.empty() ? kGivenTextBytesMax : kGivenFileBytesMax;
  if (bytes.size() > most) {
    out.ref.reason = fmt::format("it is larger than {} bytes", most);
    return;
  }
  if (media_type.empty() && bytes.contains('\0')) {
    out.ref.reason = "it is neither text nor an image nor a PDF document";
    return;
  }
  out.ref.digest = "sha256:" + hex(bytes_of(sha256(bytes)));
  if (media_type.empty())
    out.text = std::move(bytes);
  else
    out.attachment = ports::Attachment{name, std::string(media_type), std::move(bytes)};
}

// Calls `ask` with a function that takes the answer, and waits for it.
template <class T, class Ask>
Result<T> answer_to(Ask ask) {
  auto answer = std::make_shared<std::promise<Result<T>>>();
  std::future<Result<T>> given = answer->get_future();
  ask([answer](Result<T> result) { answer->set_value(std::move(result)); });
  if (given.wait_for(std::chrono::milliseconds(kOutputWaitMs)) != std::future_status::ready)
    return fail(Code::timeout, "it could not be read within the time limit");
  return given.get();
}

// At most kGivenFileBytesMax + 1 bytes.
Result<std::string> read_output(ports::Outputs& outputs, const SessionId& session,
                                const std::string& ref) {
  using Open = std::shared_ptr<ports::OpenOutput>;
  TRY_ASSIGN(const Open output, answer_to<Open>([&](auto open_to) {
               outputs.open(ref, session, std::move(open_to));
             }));
  return answer_to<std::string>(
      [&](auto data_to) { output->read(0, kGivenFileBytesMax + 1, std::move(data_to)); });
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
  give(read_at_most(file.get(), kGivenFileBytesMax + 1), path.substr(path.rfind('/') + 1), out);
  return out;
}

ports::GivenFile DiskWorkspace::given_output(const SessionId& session, const std::string& ref) {
  ports::GivenFile out;
  out.ref.ref = "output:" + ref;
  Result<std::string> bytes = fail(Code::unavailable, "there are no outputs");
  if (outputs_ != nullptr) bytes = read_output(*outputs_, session, ref);
  if (bytes)
    give(*std::move(bytes), ref, out);
  else
    out.ref.reason = bytes.error().message;
  // The model can still read the output in parts.
  if (bytes && out.ref.reason)
    *out.ref.reason += fmt::format("; read_file can read it as output:{}", ref);
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
