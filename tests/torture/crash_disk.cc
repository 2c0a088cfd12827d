#include "crash_disk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

namespace agentrt::torture {
namespace {

// The simulated disk must not fail silently: it would report crashes that never happened.
void expect(bool ok, const char* doing, const std::string& path) {
  if (ok) return;
  std::fprintf(stderr, "crash disk: %s %s failed\n", doing, path.c_str());
  std::abort();
}

class RawFile {
 public:
  explicit RawFile(const std::string& path)
      : path_(path), descriptor_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    expect(descriptor_ >= 0, "opening", path_);
  }
  ~RawFile() { close(descriptor_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  void write(std::uint64_t at, std::string_view bytes) const {
    const ssize_t done = pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(at));
    expect(done == static_cast<ssize_t>(bytes.size()), "writing", path_);
  }
  void resize(std::uint64_t size) const {
    expect(ftruncate(descriptor_, static_cast<off_t>(size)) == 0, "resizing", path_);
  }

 private:
  std::string path_;
  int descriptor_;
};

std::uint64_t sector_of(std::uint64_t at) { return at - at % kSectorBytes; }

}  // namespace

std::optional<Damage> damage_named(std::string_view name) {
  if (name == "drop") return Damage::drop;
  if (name == "tear") return Damage::tear;
  if (name == "reorder") return Damage::reorder;
  if (name == "late") return Damage::late;
  return std::nullopt;
}

void CrashDisk::opened(const std::string& path, Origin origin, std::uint64_t size) {
  const auto [at, fresh] = files_.try_emplace(path);
  if (!fresh) return;
  at->second.size = origin == Origin::found ? size : 0;
  at->second.entry_synced = origin == Origin::found;
}

void CrashDisk::save(File& file, std::uint64_t from, std::uint64_t to, const Read& read) {
  for (std::uint64_t sector = sector_of(from); sector < std::min(to, file.size);
       sector += kSectorBytes) {
    if (file.saved.contains(sector)) continue;
    file.saved.emplace(sector, read(sector, std::min(kSectorBytes, file.size - sector)));
  }
}

void CrashDisk::write(const std::string& path, std::uint64_t at, std::string_view bytes,
                      const Read& read) {
  File& file = files_.at(path);
  save(file, at, at + bytes.size(), read);
  file.changes.push_back({at, std::string(bytes)});
}

void CrashDisk::truncate(const std::string& path, std::uint64_t size, const Read& read) {
  File& file = files_.at(path);
  save(file, size, file.size, read);
  file.changes.push_back({size, std::nullopt});
}

void CrashDisk::synced(const std::string& path, std::uint64_t size) {
  File& file = files_.at(path);
  if (!file.entry_synced) ghosts_.clear();  // same folder, so earlier removals are durable now too
  file.entry_synced = true;
  file.size = size;
  file.saved.clear();
  file.changes.clear();
}

void CrashDisk::removed(const std::string& path, std::string content, FolderSync folder) {
  const auto found = files_.find(path);
  const bool was_there = found == files_.end() || found->second.entry_synced;
  if (found != files_.end()) files_.erase(found);
  if (folder == FolderSync::yes)
    ghosts_.clear();
  else if (was_there)
    ghosts_.insert_or_assign(path, std::move(content));
}

void CrashDisk::restore(const std::string& path, const File& file) const {
  const RawFile raw(path);
  for (const auto& [at, bytes] : file.saved) raw.write(at, bytes);
  raw.resize(file.size);
}

std::vector<CrashDisk::Change> CrashDisk::survivors(const File& file, Damage damage,
                                                    std::mt19937_64& random) const {
  std::vector<Change> out;
  if (damage == Damage::drop || damage == Damage::late) return out;
  // Vary the share of surviving changes: few, half, or most.
  const std::uint64_t kept_of_ten = std::array<std::uint64_t, 3>{1, 5, 9}[random() % 3];
  const auto kept = [&] { return random() % 10 < kept_of_ten; };
  for (const Change& change : file.changes) {
    if (damage == Damage::reorder || !change.bytes) {
      if (kept()) out.push_back(change);
      continue;
    }
    const std::uint64_t end = change.at + change.bytes->size();
    for (std::uint64_t at = change.at; at < end;) {
      const std::uint64_t next = std::min(end, sector_of(at) + kSectorBytes);
      if (kept()) out.push_back({at, change.bytes->substr(at - change.at, next - at)});
      at = next;
    }
  }
  if (damage == Damage::reorder) std::shuffle(out.begin(), out.end(), random);
  return out;
}

std::size_t CrashDisk::cut(Damage damage, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::size_t unsynced = 0;
  for (const auto& [path, file] : files_) {
    unsynced += file.changes.size();
    restore(path, file);
    const std::vector<Change> surviving = survivors(file, damage, random);
    const bool vanishes = !file.entry_synced && surviving.empty();
    {
      const RawFile raw(path);
      for (const Change& change : surviving) {
        if (change.bytes)
          raw.write(change.at, *change.bytes);
        else
          raw.resize(change.at);
      }
    }
    if (vanishes) unlink(path.c_str());
  }
  for (const auto& [path, content] : ghosts_) {
    const bool returns = damage == Damage::drop || damage == Damage::late || random() % 2 == 0;
    if (!returns || files_.contains(path)) continue;
    const RawFile raw(path);
    raw.resize(0);
    raw.write(0, content);
  }
  return unsynced;
}

}  // namespace agentrt::torture
