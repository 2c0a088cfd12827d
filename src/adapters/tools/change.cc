#include "adapters/tools/change.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "adapters/tools/folder.h"
#include "adapters/tools/line_diff.h"
#include "adapters/tools/lines.h"
#include "adapters/tools/text.h"
#include "base/digest.h"
#include "schema/outputs.h"

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

std::unexpected<schema::Failure> system_failure(std::string_view what, int error) {
  const bool full = error == ENOSPC || error == EDQUOT;
  const bool refused = error == EACCES || error == EPERM || error == EROFS;
  return refuse(refused ? Category::denied : Category::unavailable,
                fmt::format("{}: {}.", what, std::strerror(error)), full ? Retry::yes : Retry::no);
}

// Refuses content that contains redaction marks instead of the secrets that the file holds.
Outcome<void> check_marks(const policy::Redactor* redactor, std::string_view before,
                          std::string_view after) {
  constexpr std::string_view kMark = "[redacted:";
  if (!redactor || !after.contains(kMark) || before.contains(kMark) || !redactor->holds(before))
    return {};
  return refuse(
      Category::invalid_input,
      "The file contains a secret that was shown to you as [redacted:…]; this call would overwrite "
      "the secret with that placeholder. Change the lines around it with edit_file.");
}

std::size_t count_of(std::string_view text, std::string_view wanted) {
  std::size_t count = 0;
  for (std::size_t at = text.find(wanted); at != std::string_view::npos;
       at = text.find(wanted, at + wanted.size()))
    ++count;
  return count;
}

// Refuses content in which U+FFFD replaced bytes that are not valid text.
Outcome<void> check_characters(std::string_view before, std::string_view after) {
  if (count_of(after, kNoCharacter) <= count_of(before, kNoCharacter) || is_text(before)) return {};
  return refuse(
      Category::invalid_input,
      "The file contains bytes that are not UTF-8, which were shown to you as U+FFFD; this call "
      "would overwrite them with that character. Change the text around them with edit_file.");
}

Outcome<StagedChange> staged(const Grounds& grounds, Target target, std::string before,
                             std::string after) {
  if (target.present && before == after)
    return refuse(Category::invalid_input,
                  fmt::format("{} already has this content; nothing was changed.",
                              grounds.shown(target.path)));
  auto old = target.present ? std::optional(std::move(before)) : std::nullopt;
  return staged_change(grounds, std::move(target), std::move(old), std::move(after));
}

bool is_root() { return ::geteuid() == 0; }

Outcome<void> sync_folder(const Descriptor& folder) {
  const auto readable = reopen(folder, O_RDONLY | O_DIRECTORY);
  if (!readable || ::fsync(readable->get()) != 0)
    return system_failure("The folder cannot be synced", readable ? errno : readable.error());
  return {};
}

// Creates a subfolder with the owner of its parent.
Outcome<Descriptor> make_folder(const Descriptor& parent, const std::string& name) {
  const bool made = ::mkdirat(parent.get(), name.c_str(), 0755) == 0;
  if (!made && errno != EEXIST) return system_failure("A folder cannot be created", errno);
  auto folder = open_beneath(parent.get(), name, Links::refuse, O_PATH | O_DIRECTORY);
  if (!folder) return system_failure("A folder cannot be created", folder.error());
  struct stat about{};
  if (made && is_root() && ::fstat(parent.get(), &about) == 0)
    (void)!::fchownat(folder->get(), "", about.st_uid, about.st_gid, AT_EMPTY_PATH);
  TRY(sync_folder(parent));
  return *std::move(folder);
}

// Copies mode and owner of the replaced file. A new file gets the owner of its folder.
Outcome<void> take_after(int fd, const Descriptor& folder, const Target& target) {
  struct stat model{};
  if (target.present)
    model = target.present->about;
  else if (::fstat(folder.get(), &model) != 0)
    return system_failure("The folder cannot be accessed", errno);
  struct stat now{};
  if (::fstat(fd, &now) != 0) return system_failure("The new file cannot be accessed", errno);
  bool same_owner = now.st_uid == model.st_uid && now.st_gid == model.st_gid;
  if (!same_owner && (is_root() || target.present))
    same_owner = ::fchown(fd, model.st_uid, model.st_gid) == 0;
  if (!target.present) return {};
  // Setuid, setgid and sticky bits are not kept for another owner.
  const mode_t mode = model.st_mode & (same_owner ? 07777U : 0777U);
  if (::fchmod(fd, mode) != 0) return system_failure("The file mode cannot be preserved", errno);
  return {};
}

Outcome<void> write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return system_failure("The file cannot be written", errno);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(fd) != 0) return system_failure("The file cannot be synced", errno);
  return {};
}

// Fails rather than overwrite a file that another program created meanwhile.
bool move_as_new(int folder, const char* from, const char* to) {
  if (::renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;  // else unsupported: use a hard link
  return ::linkat(folder, from, folder, to, 0) == 0 && ::unlinkat(folder, from, 0) == 0;
}

std::unexpected<schema::Failure> changed_meanwhile(const std::string& name) {
  return refuse(
      Category::invalid_input,
      fmt::format(
          "{} changed while the call was waiting; nothing was written. Read the file again.",
          name));
}

// The digest of the file with this name; empty: no such file.
Outcome<std::optional<std::string>> digest_at(const Descriptor& folder, const std::string& name) {
  auto handle = open_beneath(folder.get(), name, Links::refuse);
  if (!handle && handle.error() == ENOENT) return std::nullopt;
  if (!handle) return system_failure("The file cannot be opened", handle.error());
  Opened file{*std::move(handle), {}, {}};
  if (::fstat(file.handle.get(), &file.about) != 0 || !file.is_file())
    return refuse(Category::denied, "It is no longer a regular file.");
  TRY_ASSIGN(const std::string bytes, read_whole(file));
  return digest_of(bytes);
}

}  // namespace

std::string digest_of(std::string_view bytes) {
  return fmt::format("{}{}", schema::kDigestPrefix, hex(bytes_of(sha256(bytes))));
}

Outcome<std::string> read_whole(const Opened& file) {
  auto readable = reopen(file.handle, O_RDONLY | O_NONBLOCK);
  if (!readable) return system_failure("The file cannot be read", readable.error());
  FileBytes source(*std::move(readable));
  std::string out;
  for (bool more = true; more;) {
    TRY_ASSIGN(more, source.read(out));
    if (out.size() > kFileBytesMax)
      return refuse(
          Category::invalid_input,
          fmt::format("The file is larger than {} bytes, the limit for changes with file tools.",
                      kFileBytesMax));
  }
  return out;
}

StagedChange staged_change(const Grounds& grounds, Target target, std::optional<std::string> before,
                           std::optional<std::string> after) {
  StagedChange out;
  LineDiff diff = line_diff(grounds.shown(target.path), before.value_or(""), after.value_or(""),
                            !before  ? DiffOf::new_file
                            : !after ? DiffOf::removed_file
                                     : DiffOf::present_file);
  out.change.path = target.path;
  out.change.kind = before ? schema::FileChangeKind::update : schema::FileChangeKind::create;
  if (before) out.change.before = digest_of(*before);
  if (after) out.change.after = digest_of(*after);
  out.change.lines_added = diff.added;
  out.change.lines_removed = diff.removed;
  out.diff = std::move(diff.text);
  out.bytes = std::move(after).value_or("");
  out.before = std::move(before).value_or("");
  out.target = std::move(target);
  return out;
}

bool is_reversible(const StagedChange& staged) {
  return unpatched(staged.bytes, staged.diff) == staged.before;
}

Outcome<StagedChange> stage(const Grounds& grounds, const agentrt::tools::WriteFileArgs& args,
                            const policy::Redactor* redactor) {
  TRY_ASSIGN(Target target, grounds.open_target(args.path));
  std::string before;
  if (target.present) {
    TRY_ASSIGN(before, read_whole(*target.present));
  }
  if (args.content.size() > kFileBytesMax)
    return refuse(Category::invalid_input,
                  fmt::format("The content is larger than {} bytes.", kFileBytesMax));
  TRY(check_marks(redactor, before, args.content));
  TRY(check_characters(before, args.content));
  return staged(grounds, std::move(target), std::move(before), args.content);
}

Outcome<StagedChange> stage(const Grounds& grounds, const agentrt::tools::EditFileArgs& args,
                            const policy::Redactor* redactor) {
  TRY(grounds.open_file(args.path));  // it must exist and be readable
  TRY_ASSIGN(Target target, grounds.open_target(args.path));
  if (!target.present)
    return refuse(Category::not_found, fmt::format("{} was deleted in the meantime.", args.path));
  TRY_ASSIGN(std::string before, read_whole(*target.present));
  if (before.contains('\0'))
    return refuse(Category::invalid_input, fmt::format("{} is not a text file.", args.path));
  TRY_ASSIGN(std::string after, edited(before, args));
  TRY(check_marks(redactor, before, after));
  TRY(check_characters(before, after));
  return staged(grounds, std::move(target), std::move(before), std::move(after));
}

Outcome<StagedFile> StagedFile::write(const Grounds& grounds, StagedChange& staged,
                                      const ToolCallId& call) {
  Target& target = staged.target;
  // The target must still be the announced place, and policy must still allow the change.
  if (path_of(target.folder) != target.folder_path)
    return changed_meanwhile(grounds.shown(target.path));
  if (auto failure = grounds.refusal(target.path, Use::write))
    return std::unexpected(*std::move(failure));
  auto own = open_beneath(target.folder.get(), ".", Links::refuse, O_PATH | O_DIRECTORY);
  if (!own) return system_failure("The folder cannot be opened", own.error());
  Descriptor folder = *std::move(own);
  for (const std::string& name : target.missing) {
    TRY_ASSIGN(folder, make_folder(folder, name));
  }
  if (!staged.change.after) return StagedFile(std::move(folder), {});
  StagedFile out(std::move(folder), fmt::format("{}{}", kStagedPrefix,
                                                hex(bytes_of(sha256(call.text()))).substr(0, 16)));
  ::unlinkat(out.folder_.get(), out.name_.c_str(), 0);  // left by a call that a crash interrupted
  const Descriptor file{::openat(out.folder_.get(), out.name_.c_str(),
                                 O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                 target.present ? 0600 : 0644)};
  if (!file) {
    out.name_.clear();
    return system_failure(fmt::format("{} cannot be written", grounds.shown(target.path)), errno);
  }
  TRY(take_after(file.get(), out.folder_, target));
  TRY(write_whole(file.get(), staged.bytes));
  return out;
}

Outcome<void> StagedFile::put_in_place(const StagedChange& staged) {
  const std::string& name = staged.target.name;
  TRY_ASSIGN(const auto now, digest_at(folder_, name));
  if (now != staged.change.before) return changed_meanwhile(name);
  if (!staged.change.after) {
    if (::unlinkat(folder_.get(), name.c_str(), 0) != 0)
      return system_failure(fmt::format("{} cannot be removed", name), errno);
    return sync_folder(folder_);
  }
  const bool moved =
      now ? ::renameat(folder_.get(), name_.c_str(), folder_.get(), name.c_str()) == 0
          : move_as_new(folder_.get(), name_.c_str(), name.c_str());
  if (!moved && errno == EEXIST) return changed_meanwhile(name);
  if (!moved) return system_failure(fmt::format("{} cannot be replaced", name), errno);
  name_.clear();
  return sync_folder(folder_);
}

StagedFile::~StagedFile() {
  if (folder_ && !name_.empty()) ::unlinkat(folder_.get(), name_.c_str(), 0);
}

Outcome<FileState> find_state(const Grounds& grounds, const schema::FileChange& change) {
  TRY_ASSIGN(const Target target, grounds.open_target(change.path));
  if (target.path != change.path) return FileState::other;
  if (!target.present && !change.after) return FileState::after;
  if (!target.present) return change.before ? FileState::other : FileState::before;
  TRY_ASSIGN(const std::string bytes, read_whole(*target.present));
  const std::string digest = digest_of(bytes);
  if (digest == change.after) return FileState::after;
  return change.before == digest ? FileState::before : FileState::other;
}

std::string told(const Grounds& grounds, const schema::FileChange& change) {
  const std::string path = path_words(grounds.shown(change.path));
  if (!change.after) return fmt::format("Removed {}, which did not exist then.", path);
  if (change.kind == schema::FileChangeKind::restore)
    return fmt::format("Restored {} (+{} -{}).", path, change.lines_added, change.lines_removed);
  if (change.kind == schema::FileChangeKind::create)
    return fmt::format("Created {} (+{}).", path, change.lines_added);
  return fmt::format("Changed {} (+{} -{}).", path, change.lines_added, change.lines_removed);
}

}  // namespace agentrt::adapters::tools
