#include "policy/folders.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "policy/paths.h"

namespace agentrt::policy {
namespace {

// Folders of the system, including everything below them.
constexpr std::string_view kSystemTrees[] = {
    "/bin",        "/boot", "/dev",  "/etc", "/lib",  "/lib32", "/lib64", "/libx32",
    "/lost+found", "/proc", "/root", "/run", "/sbin", "/sys",   "/usr",   "/var"};
// Folders that contain other users' folders. Only these folders themselves.
constexpr std::string_view kSharedFolders[] = {"/", "/home"};
// Exceptions below system trees, which all users may write.
constexpr std::string_view kOpenTrees[] = {"/dev/shm", "/var/tmp"};

constexpr unsigned kFirstPersonId = 1'000;  // lower ids belong to services
constexpr unsigned kNobodyId = 65'534;

template <class Folders>
bool is_any(std::string_view path, const Folders& folders) {
  return std::ranges::find(folders, path) != std::end(folders);
}

template <class Folders>
bool within_any(std::string_view path, const Folders& folders) {
  return std::ranges::any_of(folders, [&](const auto& one) { return is_within(path, one); });
}

bool is_system_root(std::string_view path) {
  return is_any(path, kSystemTrees) || is_any(path, kSharedFolders);
}

// A home folder counts as the user's own even below a system tree (/root, or /var/lib/NAME of a
// service). A service without a home often has / or /etc as its home; those stay closed.
bool in_own_home(const FolderRules& rules, std::string_view path) {
  return std::ranges::any_of(rules.homes, [&](const std::string& home) {
    return (home == "/root" || !is_system_root(home)) && is_within(path, home);
  });
}

// The kind of a folder that no client may open; empty: it is not closed.
std::string_view closed_kind(const FolderRules& rules, std::string_view path) {
  if (is_any(path, kSharedFolders)) return "a system folder";
  if (in_own_home(rules, path)) return "";
  const bool holds_home = std::ranges::any_of(
      rules.other_homes, [&](const std::string& home) { return is_within(home, path); });
  if (holds_home || within_any(path, rules.other_homes)) return "a folder of another user";
  if (within_any(path, kSystemTrees) && !within_any(path, kOpenTrees)) return "a system folder";
  return "";
}

Error forbidden(std::string message) { return {Code::forbidden, std::move(message), {}}; }

// The path as the caller wrote it and, if different, the resolved path.
std::string shown(const AskedFolder& asked) {
  return asked.given == asked.real
             ? asked.real
             : fmt::format("{} (which resolves to {})", asked.given, asked.real);
}

std::optional<Error> refused_to_bound(const FolderRules& rules, const schema::FolderGrant& grant,
                                      const AskedFolder& asked) {
  const std::string& only = grant.folder.value_or(rules.workspace);
  if (asked.use == FolderUse::workspace && asked.real == only) return std::nullopt;
  return forbidden(
      fmt::format("{}: a token that is bound to a session can create it only in {} and without "
                  "other folders; create the session with another token first",
                  shown(asked), only));
}

// A record of /etc/passwd.
struct Account {
  std::string name;
  unsigned uid = 0;
  std::string home;
};

std::vector<Account> accounts_of(std::string_view passwd) {
  constexpr std::size_t kUid = 2, kHome = 5, kFields = 7;
  std::vector<Account> out;
  while (!passwd.empty()) {
    const std::size_t end = std::min(passwd.find('\n'), passwd.size());
    std::string_view line = passwd.substr(0, end);
    passwd.remove_prefix(std::min(end + 1, passwd.size()));
    std::array<std::string_view, kFields> fields;
    for (std::string_view& field : fields) {
      const std::size_t colon = std::min(line.find(':'), line.size());
      field = line.substr(0, colon);
      line.remove_prefix(std::min(colon + 1, line.size()));
    }
    Account account{.name = std::string(fields[0]), .uid = 0, .home = std::string(fields[kHome])};
    const std::string_view uid = fields[kUid];
    const auto [stop, error] = std::from_chars(uid.data(), uid.data() + uid.size(), account.uid);
    if (error == std::errc{} && stop == uid.data() + uid.size() && account.home.starts_with('/'))
      out.push_back(std::move(account));
  }
  return out;
}

}  // namespace

std::optional<Error> wrong_folder(std::string_view member, std::string_view path) {
  const auto wrong = [&](std::string_view why) {
    return Error{Code::invalid_params, fmt::format("{}: {}", member, why), {}};
  };
  if (!path.starts_with('/')) return wrong("expected an absolute path");
  if (path.contains('\0')) return wrong("the path contains a NUL character");
  if (path.size() > schema::kFolderBytesMax)
    return wrong(fmt::format("the path is longer than {} bytes", schema::kFolderBytesMax));
  return std::nullopt;
}

std::optional<Error> wrong_folders(std::string_view prefix, const schema::FolderChoice& choice) {
  if (choice.cwd)
    if (auto error = wrong_folder(fmt::format("{}cwd", prefix), *choice.cwd)) return error;
  if (choice.additional_roots.size() > schema::kAdditionalRootsMax)
    return Error{
        Code::invalid_params,
        fmt::format("{}additionalRoots: at most {} folders", prefix, schema::kAdditionalRootsMax),
        {}};
  for (std::size_t i = 0; i < choice.additional_roots.size(); ++i)
    if (auto error = wrong_folder(fmt::format("{}additionalRoots[{}]", prefix, i),
                                  choice.additional_roots[i]))
      return error;
  return std::nullopt;
}

std::optional<Error> refused_folder(const FolderRules& rules, const schema::FolderGrant& grant,
                                    const AskedFolder& asked) {
  if (within_any(asked.real, rules.own))
    return forbidden(fmt::format(
        "{} is inside the data or configuration folder of the runtime; choose another folder",
        shown(asked)));
  const bool holds_own = std::ranges::any_of(
      rules.own, [&](const std::string& own) { return is_within(own, asked.real); });
  if (asked.use == FolderUse::additional && holds_own)
    return forbidden(fmt::format(
        "{} contains the data or configuration folder of the runtime; choose another folder",
        shown(asked)));
  if (grant.bound)
    if (auto error = refused_to_bound(rules, grant, asked)) return error;
  // The user chose this folder by starting the daemon in it. Starting it in / is no choice.
  if (rules.workspace != "/" && is_within(asked.real, rules.workspace)) return std::nullopt;
  const bool managed = within_any(asked.real, rules.managed);
  if (const std::string_view kind = closed_kind(rules, asked.real); !kind.empty() && !managed)
    return forbidden(
        fmt::format("{} is {}; only sandbox.roots of the managed configuration can allow it",
                    shown(asked), kind));
  if (grant.any || grant.bound || managed || within_any(asked.real, rules.granted))
    return std::nullopt;
  return forbidden(
      fmt::format("{} is outside the daemon's workspace {}; use a token with scope approve, or "
                  "list the folder in sandbox.roots of the user configuration",
                  shown(asked), rules.workspace));
}

std::vector<std::string> homes_of_others(std::string_view passwd, unsigned uid) {
  std::vector<std::string> out;
  for (Account& account : accounts_of(passwd)) {
    const bool person =
        account.uid == 0 || (account.uid >= kFirstPersonId && account.uid < kNobodyId);
    if (person && account.uid != uid && account.home != "/") out.push_back(std::move(account.home));
  }
  return out;
}

std::optional<std::string> user_of(std::string_view passwd, unsigned uid) {
  for (Account& account : accounts_of(passwd))
    if (account.uid == uid) return std::move(account.name);
  return std::nullopt;
}

std::optional<std::string> home_of(std::string_view passwd, unsigned uid) {
  for (Account& account : accounts_of(passwd))
    if (account.uid == uid) return std::move(account.home);
  return std::nullopt;
}

}  // namespace agentrt::policy
