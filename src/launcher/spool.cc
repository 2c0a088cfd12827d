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
    write_at(head_.get(), first, size_);
    size_ += first.size();
    bytes.remove_prefix(first.size());
  }
  if (bytes.empty()) return;
  if (!tail_)
    tail_ =
        Fd(::open(tail_path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  while (!bytes.empty()) {
    const std::uint64_t at = (size_ - half_) % half_;
    const std::string_view part = bytes.substr(0, half_ - at);
    write_at(tail_.get(), part, at);
    size_ += part.size();
    bytes.remove_prefix(part.size());
  }
}

void Spool::write_at(int fd, std::string_view bytes, std::uint64_t offset) {
  while (!bytes.empty() && !broken_) {
    const ssize_t written = ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      broken_ = true;
      return;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void Spool::sync() {
  if (head_) ::fdatasync(head_.get());
  if (tail_) ::fdatasync(tail_.get());
}

}  // namespace agentrt::launcher
