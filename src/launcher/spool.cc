#include "launcher/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace agentrt::launcher {

bool Spool::open(const std::string& folder, const std::string& name, std::uint64_t bytes_max) {
  const std::string path = folder + "/" + name;
  head_ = Fd(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  tail_path_ = path + ".tail";
  half_ = std::max<std::uint64_t>(bytes_max / 2, 1);
  return static_cast<bool>(head_);
}

void Spool::add(std::string_view bytes) {
  if (size_ < half_) {
    const std::string_view first = bytes.substr(0, half_ - size_);
    add_to(head_.get(), first, size_);
    bytes.remove_prefix(first.size());
  }
  if (bytes.empty()) return;
  if (!tail_)
    tail_ =
        Fd(::open(tail_path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  while (!bytes.empty()) {
    const std::uint64_t at = (size_ - half_) % half_;
    const std::string_view part = bytes.substr(0, half_ - at);
    add_to(tail_.get(), part, at);
    bytes.remove_prefix(part.size());
  }
}

void Spool::add_to(int fd, std::string_view bytes, std::uint64_t offset) {
  write_at(fd, bytes, offset);
  size_ += bytes.size();
}

// Writes bytes whose output offset is size_. After a short write nothing more is written, because
// later bytes would follow a gap.
void Spool::write_at(int fd, std::string_view bytes, std::uint64_t offset) {
  std::uint64_t done = 0;
  while (done < bytes.size() && !broken_) {
    const std::string_view rest = bytes.substr(done);
    const ssize_t written =
        ::pwrite(fd, rest.data(), rest.size(), static_cast<off_t>(offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      broken_ = true;
      kept_ = size_ + done;
      return;
    }
    done += static_cast<std::uint64_t>(written);
  }
}

void Spool::sync() {
  if (head_) ::fdatasync(head_.get());
  if (tail_) ::fdatasync(tail_.get());
}

}  // namespace agentrt::launcher
