#include "adapters/tools/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "adapters/tools/beneath.h"

namespace agentrt::adapters::tools {
namespace {

EntryKind kind_of(mode_t mode) {
  if (S_ISREG(mode)) return EntryKind::file;
  if (S_ISDIR(mode)) return EntryKind::folder;
  return S_ISLNK(mode) ? EntryKind::link : EntryKind::other;
}

EntryKind kind_of(int folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return kind_of(DTTOIF(entry.d_type));
  struct stat about{};
  if (::fstatat(folder, entry.d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) return EntryKind::other;
  return kind_of(about.st_mode);
}

}  // namespace

Outcome<FolderEntries> read_folder(const Descriptor& folder, std::size_t entries_max) {
  auto readable = reopen(folder, O_RDONLY | O_DIRECTORY);
  if (!readable)
    return refuse(schema::Category::denied,
                  fmt::format("The folder cannot be read: {}.", std::strerror(readable.error())));
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(readable->get()), ::closedir);
  if (!stream) return refuse(schema::Category::unavailable, "The folder cannot be read.");
  readable->release();
  FolderEntries out;
  while (const dirent* entry = ::readdir(stream.get())) {
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    if (out.entries.size() >= entries_max) {
      out.whole = false;
      break;
    }
    out.entries.push_back({entry->d_name, kind_of(::dirfd(stream.get()), *entry)});
  }
  std::ranges::sort(out.entries, {}, &FolderEntry::name);
  return out;
}

}  // namespace agentrt::adapters::tools
