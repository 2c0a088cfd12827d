#include "launcher/records.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace agentrt::launcher {
namespace {

std::string read_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(4'096, '\0');
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::uint64_t start_ticks(pid_t pid) {
  const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  constexpr int kFieldsBetween = 19;  // from field 3 (state) to field 22 (starttime)
  const char* at = stat.c_str() + name_end + 1;
  for (int i = 0; i < kFieldsBetween && at != nullptr; ++i) at = std::strchr(at + 1, ' ');
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
}

bool Record::open(int folder, const std::string& name) {
  folder_ = folder;
  name_ = name;
  file_ = Fd(::openat(folder, draft().c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600));
  if (!file_) return false;
  (void)::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, 0, kRecordRoom);
  return true;
}

void Record::keep(const std::string& text, Worth worth) {
  if (!file_ || !write_all(file_.get(), text)) return;
  if (worth == Worth::kept) ::fsync(file_.get());
  if (::renameat(folder_, draft().c_str(), folder_, name_.c_str()) == 0 && worth == Worth::kept)
    ::fsync(folder_);
}

bool write_into(const std::string& path, const std::string& text) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && write_all(file.get(), text);
}

}  // namespace agentrt::launcher
