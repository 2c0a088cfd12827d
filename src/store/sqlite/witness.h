// store/sqlite/witness.h: two small files beside the database that detect a database restored from
// a copy.
//
// A database file that was copied and put back is intact, but its history may end earlier than what
// readers have seen. So a store keeps two more files:
//   PATH.anchor  Written once per generation. The database stores the inode number and change time
//                of this file, and the file contains the inode number and birth time of the
//                database. So a copy of either file, or of the folder, does not match.
//   PATH.head    Overwritten after every commit, without a sync: position and hash of the newest
//                event. A database that lacks this event is an older copy. After a power cut the
//                file may be behind the database, never ahead.
// If they do not match, the store starts a new generation. Restoring a whole file system to an
// earlier state cannot be detected.
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
    Digest hash{};  // of the event at this position; unused at position 0

    bool operator==(const Head&) const = default;
  };

  explicit Witness(std::string database) : database_(std::move(database)) {}
  ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  // The identity of the anchor file, which the database must have stored. nullopt: the anchor is
  // missing, or it names another database file.
  std::optional<std::string> anchor() const;
  // The newest recorded event; nullopt: the file is missing or damaged.
  std::optional<Head> head() const;

  // Rewrites both files and syncs them. Returns the new value of anchor().
  Result<std::string> renew(const Head& head);
  // Opens the head file for note(). REQUIRES: it exists.
  Result<void> start();
  // Records the newest event. Failures are ignored, because a head that is behind does no harm.
  void note(const Head& head);

 private:
  std::string anchor_path() const { return database_ + ".anchor"; }
  std::string head_path() const { return database_ + ".head"; }

  std::string database_;
  int head_file_ = -1;
  Head noted_;
};

}  // namespace agentrt::store
