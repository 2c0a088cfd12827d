// store/sqlite/witness.h: two small files beside the database that tell whether it is still the
// file that was last written here.
//
// A database file that was copied away and put back looks whole, but its history ends earlier than
// what readers have seen. So a store keeps, beside it:
//   PATH.anchor  written once per generation. The database remembers the inode number and change
//                time of this file, and the file names the inode of the database: a copy of either
//                one, or of the folder, does not match.
//   PATH.head    overwritten after every commit, without a sync: the position and hash of the
//                newest event. A database that lacks this event is an older copy. After a power cut
//                the file may be behind, never ahead.
// A store without a match starts a new generation. A file system that was set back as a whole
// cannot be told from one that was not.
//
// Threads: one at a time; note() on the thread that commits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/digest.h"
#include "base/result.h"
#include "store/store.h"

namespace agentrt::store {

class Witness {
 public:
  struct Head {
    Position position = 0;
    Digest hash{};  // of the event there; unused at position 0

    bool operator==(const Head&) const = default;
  };

  explicit Witness(std::string database) : database_(std::move(database)) {}
  ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  // What the database must remember of the anchor; nothing where the anchor is missing, or names
  // another database file.
  std::optional<std::string> anchor() const;
  // The newest event that was noted; nothing where the file is missing or damaged.
  std::optional<Head> head() const;

  // Writes both files anew and syncs them; returns what anchor() gives from now on.
  Result<std::string> renew(const Head& head);
  // Opens the files for note(). REQUIRES: they exist.
  Result<void> start();
  // A failure is ignored: a head that is behind costs nothing.
  void note(const Head& head);

 private:
  std::string anchor_path() const { return database_ + ".anchor"; }
  std::string head_path() const { return database_ + ".head"; }

  std::string database_;
  int head_file_ = -1;
  Head noted_;
};

}  // namespace agentrt::store
