#include "adapters/tools/grounds.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "adapters/tools/folder.h"
#include "base/near_names.h"
#include "base/real_path.h"
#include "policy/paths.h"

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

std::vector<std::string> names_of(std::string_view path) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, slash - at);
    if (!name.empty() && name != ".") out.emplace_back(name);
    at = slash + 1;
  }
  return out;
}

template <class Names>
std::string joined(const Names& names) {
  return names.empty() ? "." : fmt::format("{}", fmt::join(names, "/"));
}

std::string below(const std::string& folder, std::string_view name) {
  return folder == "/" ? fmt::format("/{}", name) : fmt::format("{}/{}", folder, name);
}

// The part of an absolute path below the root; nullopt: it is not below.
std::optional<std::string> rest_below(std::string_view path, std::string_view root) {
  const auto names = names_of(path), root_names = names_of(root);
  if (names.size() < root_names.size() ||
      !std::equal(root_names.begin(), root_names.end(), names.begin()))
    return std::nullopt;
  const auto rest = std::ranges::subrange(
      names.begin() + static_cast<std::ptrdiff_t>(root_names.size()), names.end());
  return joined(rest) + (path.ends_with('/') && !rest.empty() ? "/" : "");
}

const char* kind_of(const struct stat& about) {
  if (S_ISDIR(about.st_mode)) return "a folder";
  if (S_ISFIFO(about.st_mode)) return "a named pipe";
  if (S_ISSOCK(about.st_mode)) return "a socket";
  return "a device";
}

// The file will be replaced, so its mode would not prevent that. But a read-only file is respected,
// even for root. A running program (ETXTBSY) may be replaced.
bool may_be_written(const Opened& file) {
  if ((file.about.st_mode & 0222) == 0) return false;
  const auto writable = reopen(file.handle, O_WRONLY | O_NONBLOCK);
  return writable ||
         (writable.error() != EACCES && writable.error() != EPERM && writable.error() != EROFS);
}

// Adds the path and, if different, its resolved form.
void add_place(std::vector<std::string>& places, std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::string real = real_path(path);
  if (real != path) places.push_back(std::move(real));
  places.push_back(std::move(path));
}

bool lies_in(const std::string& path, const std::vector<std::string>& places) {
  return std::ranges::any_of(
      places, [&](const std::string& place) { return policy::is_within(path, place); });
}

// Whether a file at the path would replace a folder above one of the places. For example, a file
// `.git` would lead git to another folder's hooks.
bool covers(const std::string& path, const std::vector<std::string>& places) {
  return std::ranges::any_of(
      places, [&](const std::string& place) { return policy::is_within(place, path); });
}

// Repeats the check if the file was replaced or moved meanwhile.
template <class Look>
auto until_it_stands(Look look) {
  auto out = look();
  for (int i = 0; i < kWalkAgainMax && !out && out.error().retryable; ++i) out = look();
  return out;
}

}  // namespace

Outcome<Grounds> Grounds::open(const ports::ToolRequest& request,
                               const schema::SandboxProfile& profile) {
  Grounds out;
  std::vector<std::string> given{request.workspace};
  given.insert(given.end(), request.additional_roots.begin(), request.additional_roots.end());
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::string& path = given[i];
    Descriptor folder{::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    const auto real = folder ? path_of(folder) : std::nullopt;
    struct stat about{};
    if (!real || ::fstat(folder.get(), &about) != 0)
      return refuse(Category::unavailable, fmt::format("The folder {} cannot be opened.", path));
    if (i < profile.roots.size() && profile.roots[i] != *real)
      return refuse(Category::denied,
                    fmt::format("The folder {} was replaced in the meantime.", path));
    const FileIdentity identity = profile.mode == schema::SandboxMode::full_access
                                      ? FileIdentity{::geteuid(), ::getegid(), true}
                                      : FileIdentity{about.st_uid, about.st_gid, false};
    out.roots_.push_back({policy::normal_path(path, "/", "/"), *real, std::move(folder), identity});
  }
  for (const std::string& path : profile.hidden_paths) add_place(out.hidden_, path);
  for (const std::string& path : profile.protected_paths) add_place(out.protected_, path);
  out.mode_ = profile.mode;
  out.refused_ = request.refused;
  return out;
}

Outcome<Grounds::Spot> Grounds::find(const std::string& path) const {
  if (path.contains('\0'))
    return refuse(Category::invalid_input, "The path contains a NUL character.");
  if (path == "~" || path.starts_with("~/"))
    return refuse(Category::invalid_input,
                  "The path starts with ~; write it relative to the workspace, or absolute.");
  if (!path.starts_with('/')) return Spot{&roots_.front(), path.empty() ? std::string(".") : path};
  std::optional<Spot> best;
  for (const Root& root : roots_)
    for (const std::string* name : {&root.given, &root.real})
      if (auto rest = rest_below(path, *name); rest && (!best || rest->size() < best->rest.size()))
        best = Spot{&root, *std::move(rest)};
  if (best) return *std::move(best);
  std::vector<std::string> names;
  for (const Root& root : roots_) names.push_back(root.given);
  return refuse(Category::denied,
                fmt::format("{} is outside the folders that file tools can access: {}.", path,
                            fmt::join(names, ", ")));
}

FileIdentity Grounds::identity_at(const std::string& path) const {
  const std::string whole = policy::normal_path(path, roots_.front().real, "/");
  const Root* found = &roots_.front();
  std::size_t longest = 0;
  for (const Root& root : roots_)
    for (const std::string* name : {&root.given, &root.real})
      if (policy::is_within(whole, *name) && name->size() > longest) {
        longest = name->size();
        found = &root;
      }
  return found->identity;
}

Outcome<void> Grounds::find_place(const std::string& path) const {
  TRY(find(path));
  return {};
}

std::expected<Descriptor, int> Grounds::walk(const Spot& spot) const {
  auto handle = open_beneath(spot.root->folder.get(), spot.rest, Links::follow);
  if (!handle && handle.error() == EXDEV)
    return open_back_in(spot.root->folder.get(), spot.root->real, spot.rest);
  return handle;
}

std::string Grounds::missing_words(const std::string& path) const {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.ends_with('/')) trimmed.pop_back();
  const std::size_t slash = trimmed.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : trimmed.substr(0, slash + 1);
  const std::string words = fmt::format("{} does not exist.", path);
  const auto spot = find(parent);
  auto handle = spot ? walk(*spot) : std::unexpected(EXDEV);
  if (!handle) return words + fmt::format(" The folder {} does not exist either.", parent);
  const auto folder = opened(*std::move(handle), parent);
  if (!folder) return words;
  if (!folder->is_folder()) return words + fmt::format(" {} is a file.", parent);
  const auto entries = read_folder(folder->handle, kNamesLookedAtMax);
  if (!entries) return words;
  std::vector<std::string> names;
  for (const FolderEntry& entry : entries->entries)
    if (!refusal(below(folder->path, entry.name), Use::read)) names.push_back(entry.name);
  const auto near = near_names(std::string_view(trimmed).substr(slash + 1), names);
  if (near.empty()) return words;
  std::vector<std::string> shown_names;
  for (const std::string& name : near) shown_names.push_back(shown(below(folder->path, name)));
  return words + fmt::format(" Similar names: {}.", fmt::join(shown_names, ", "));
}

std::unexpected<schema::Failure> Grounds::cannot_open(const std::string& path, int error) const {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return refuse(Category::not_found, missing_words(path));
    case EXDEV:
      return refuse(Category::denied,
                    fmt::format("{} leads out of the folder that it starts in. File tools do not "
                                "follow such links and .. components.",
                                path));
    case ELOOP:
      return refuse(Category::denied,
                    fmt::format("{} contains a symbolic link that cannot be followed.", path));
    case ENAMETOOLONG:
      return refuse(Category::invalid_input, "The path, or a name in it, is too long.");
    case EACCES:
    case EPERM:
      return refuse(Category::denied,
                    fmt::format("Permission denied by the operating system: {}.", path));
    default:
      return refuse(Category::unavailable,
                    fmt::format("{} cannot be opened: {}.", path, std::strerror(error)),
                    is_shortage(error) ? Retry::yes : Retry::no);
  }
}

Outcome<Opened> Grounds::opened(Descriptor handle, const std::string& path) const {
  Opened out{std::move(handle), {}, {}};
  auto real = path_of(out.handle);
  if (!real || ::fstat(out.handle.get(), &out.about) != 0)
    return refuse(Category::not_found, fmt::format("{} was deleted in the meantime.", path),
                  Retry::yes);
  out.path = *std::move(real);
  if (auto failure = refusal(out.path, Use::read)) return std::unexpected(*std::move(failure));
  return out;
}

Outcome<Opened> Grounds::open_any(const std::string& path) const {
  TRY_ASSIGN(const Spot spot, find(path));
  return until_it_stands([&]() -> Outcome<Opened> {
    auto handle = walk(spot);
    if (!handle) return cannot_open(path, handle.error());
    return opened(*std::move(handle), path);
  });
}

Outcome<Opened> Grounds::open_file(const std::string& path) const {
  TRY_ASSIGN(Opened out, open_any(path));
  if (out.is_folder())
    return refuse(Category::invalid_input,
                  fmt::format("{} is a folder; list it with list_files.", path));
  if (!out.is_file())
    return refuse(Category::denied,
                  fmt::format("{} is {}, not a regular file.", path, kind_of(out.about)));
  return out;
}

Outcome<Target> Grounds::open_target(const std::string& path) const {
  TRY_ASSIGN(const Spot spot, find(path));
  TRY_ASSIGN(Target out, until_it_stands([&]() -> Outcome<Target> {
               auto handle = walk(spot);
               if (!handle && handle.error() != ENOENT) return cannot_open(path, handle.error());
               return handle ? present_target(spot, *std::move(handle), path)
                             : new_target(spot, path);
             }));
  if (auto failure = refusal(out.path, Use::write)) return std::unexpected(*std::move(failure));
  return out;
}

Outcome<Target> Grounds::present_target(const Spot& spot, Descriptor handle,
                                        const std::string& path) const {
  TRY_ASSIGN(Opened file, opened(std::move(handle), path));
  if (!file.is_file())
    return refuse(file.is_folder() ? Category::invalid_input : Category::denied,
                  fmt::format("{} is {}, not a regular file.", path, kind_of(file.about)));
  Target out;
  out.path = file.path;
  const std::size_t slash = file.path.rfind('/');
  out.name = file.path.substr(slash + 1);
  out.folder_path = slash == 0 ? "/" : file.path.substr(0, slash);
  const auto rest = rest_below(out.folder_path, spot.root->real);
  auto folder =
      rest ? open_beneath(spot.root->folder.get(), *rest, Links::refuse, O_PATH | O_DIRECTORY)
           : std::unexpected(EXDEV);
  struct stat there{};
  const bool same = folder &&
                    ::fstatat(folder->get(), out.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                    there.st_ino == file.about.st_ino && there.st_dev == file.about.st_dev;
  if (!same)
    return refuse(Category::unavailable, fmt::format("{} was moved in the meantime.", path),
                  Retry::yes);
  out.folder = *std::move(folder);
  if (!may_be_written(file))
    return refuse(Category::denied,
                  fmt::format("{} is read-only (mode {:03o}).", path, file.about.st_mode & 0777));
  out.present = std::move(file);
  return out;
}

Outcome<Target> Grounds::new_target(const Spot& spot, const std::string& path) const {
  const auto names = names_of(spot.rest);
  if (names.empty() || names.back() == ".." || spot.rest.ends_with('/'))
    return refuse(Category::invalid_input,
                  fmt::format("{} is the path of a folder, not of a file.", path));
  Target out;
  out.name = names.back();
  std::size_t there = names.size() - 1;  // number of existing folders on the path
  for (;; --there) {
    const std::string way = joined(
        std::ranges::subrange(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(there)));
    auto folder = walk({spot.root, way});
    if (!folder && folder.error() == ENOENT && there > 0) continue;
    if (!folder) return cannot_open(path, folder.error());
    TRY_ASSIGN(Opened found, opened(*std::move(folder), way));
    if (!found.is_folder())
      return refuse(
          Category::invalid_input,
          fmt::format("{} is a file, so it cannot contain other files.", shown(found.path)));
    out.folder = std::move(found.handle);
    out.folder_path = std::move(found.path);
    break;
  }
  out.missing.assign(names.begin() + static_cast<std::ptrdiff_t>(there), names.end() - 1);
  if (std::ranges::find(out.missing, "..") != out.missing.end())
    return refuse(Category::invalid_input,
                  "The path of a new file must not contain .. components.");
  const std::string& first = out.missing.empty() ? out.name : out.missing.front();
  struct stat about{};
  if (::fstatat(out.folder.get(), first.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0)
    return refuse(
        Category::denied,
        fmt::format("{} is a symbolic link without a target; file tools do not write through it.",
                    shown(below(out.folder_path, first))));
  out.path = out.folder_path;
  for (const std::string& name : out.missing) out.path = below(out.path, name);
  out.path = below(out.path, out.name);
  return out;
}

std::optional<schema::Failure> Grounds::refusal(const std::string& real_path, Use use) const {
  const auto denied = [&](std::string_view why) {
    return schema::Failure{Category::denied, fmt::format("{} {}", shown(real_path), why), false};
  };
  if (lies_in(real_path, hidden_)) return denied("is hidden from tools and commands.");
  if (use == Use::write && mode_ == schema::SandboxMode::read_only)
    return denied("cannot be changed: the sandbox mode is read_only.");
  if (use == Use::write && (lies_in(real_path, protected_) || covers(real_path, protected_)))
    return denied("is read-only for tools and commands, because it controls other programs.");
  if (!refused_) return std::nullopt;
  if (auto failure = refused_(real_path)) return failure;
  // Rules may name the folder by the session's path.
  for (const Root& root : roots_) {
    if (root.given == root.real || !policy::is_within(real_path, root.real)) continue;
    const auto rest = rest_below(real_path, root.real);
    if (auto failure = refused_(*rest == "." ? root.given : below(root.given, *rest)))
      return failure;
  }
  return std::nullopt;
}

std::string Grounds::shown(const std::string& real_path) const {
  return rest_below(real_path, roots_.front().real).value_or(real_path);
}

}  // namespace agentrt::adapters::tools
