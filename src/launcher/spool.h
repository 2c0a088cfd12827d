// launcher/spool.h: what a command writes, kept on disk within a bound.
//
// NAME holds the first half of the bound. What comes later goes round and round in NAME.tail, so
// that beginning and end of any output are there, whatever its length. Offsets are those of the
// output.
#pragma once

#include "launcher/link.h"

namespace agentrt::launcher {

class Spool {
 public:
  // Makes the files in the folder. False: they cannot be made.
  bool open(const std::string& folder, const std::string& name, std::uint64_t bytes_max);

  void add(std::string_view bytes);

  std::uint64_t size() const { return size_; }
  bool truncated() const { return size_ > 2 * half_; }
  // Bytes that the disk took. Less than size() once it took no more: later bytes were not kept.
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
  std::uint64_t kept_ = 0;  // of a broken one
  bool broken_ = false;
};

}  // namespace agentrt::launcher
