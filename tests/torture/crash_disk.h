// tests/torture/crash_disk.h: what of a file would survive a power cut, and the cut itself.
//
// A CrashDisk is told of every write, truncation and sync of some files. Writes go to the real
// files at once; the disk keeps aside what stood there at the last sync of each file and the
// changes since. cut() puts each file back to its last sync and then lets some of the later
// changes through, as its kind of damage says. What was synced is never touched.
//
// A file that was made and never synced may vanish; one that was removed without a sync of its
// folder may come back. Syncing a new file syncs its folder too, as SQLite's own VFS does.
//
// Threads: one at a time; the VFS around it holds a lock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::torture {

enum class Damage {
  drop,     // nothing unsynced survives
  tear,     // sectors of unsynced writes survive or not, each for itself
  reorder,  // some unsynced changes survive whole, in an order of their own
  late,     // the sync succeeds, and then everything else unsynced is lost
};

std::optional<Damage> damage_named(std::string_view name);

constexpr std::uint64_t kSectorBytes = 512;

class CrashDisk {
 public:
  // Reads up to `size` bytes of the file as it is now; what is past its end is left out.
  using Read = std::function<std::string(std::uint64_t at, std::uint64_t size)>;

  enum class Origin { found, made };
  // Before the first change of a file that is opened; knows the file if it was opened before.
  void opened(const std::string& path, Origin origin, std::uint64_t size);
  // Each before it happens.
  void write(const std::string& path, std::uint64_t at, std::string_view bytes, const Read& read);
  void truncate(const std::string& path, std::uint64_t size, const Read& read);
  // After it happened.
  void synced(const std::string& path, std::uint64_t size);

  enum class FolderSync { yes, no };
  // Before a file is removed. `content` is all of it.
  void removed(const std::string& path, std::string content, FolderSync folder);

  // Leaves the files as the cut would. Returns how many changes were unsynced.
  std::size_t cut(Damage damage, std::uint64_t seed);

 private:
  struct Change {
    std::uint64_t at = 0;
    std::optional<std::string> bytes;  // none: the file was cut to `at` bytes
  };
  struct File {
    bool entry_synced = false;                   // its name is in the folder for good
    std::uint64_t size = 0;                      // at the last sync
    std::map<std::uint64_t, std::string> saved;  // sectors as of the last sync, by their place
    std::vector<Change> changes;                 // since then, oldest first
  };

  static void save(File& file, std::uint64_t from, std::uint64_t to, const Read& read);
  void restore(const std::string& path, const File& file) const;
  std::vector<Change> survivors(const File& file, Damage damage, std::mt19937_64& random) const;

  std::map<std::string, File> files_;
  std::map<std::string, std::string> ghosts_;  // removed, but the folder was not synced since
};

}  // namespace agentrt::torture
