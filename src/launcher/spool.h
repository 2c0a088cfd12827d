// launcher/spool.h: stores one output stream of a command on disk, in limited space.
//
// The file NAME holds the first half of the limit. Later bytes go to NAME.tail, a ring buffer. So
// the beginning and the end of the output are available, whatever its length. Offsets count from
// the beginning of the output.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

class Spool {
 public:
  // Creates NAME in the folder. False: failed, see errno.
  bool open(const std::string& folder, const std::string& name, std::uint64_t bytes_max);

  void add(std::string_view bytes);

  std::uint64_t size() const { return size_; }
  bool truncated() const { return size_ > 2 * half_; }
  // The number of leading bytes that are stored. Less than size() after a write error: bytes after
  // the error are dropped.
  std::uint64_t kept() const { return broken_ ? kept_ : size_; }
  void sync();

 private:
  void write_at(int fd, std::string_view bytes, std::uint64_t offset);
  void add_to(int fd, std::string_view bytes, std::uint64_t offset);

  Fd head_;
  Fd tail_;
  std::string tail_path_;
  std::uint64_t half_ = 0;
  std::uint64_t size_ = 0;
  std::uint64_t kept_ = 0;  // valid if broken_
  bool broken_ = false;
};

}  // namespace agentrt::launcher
