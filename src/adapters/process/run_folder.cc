#include "adapters/process/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "adapters/process/launcher_report.h"
#include "base/descriptor.h"
#include "schema/codec.h"

namespace agentrt::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCopyBytes = 256 * 1024;
constexpr std::size_t kRecordBytesMax = 64 * 1024;
constexpr std::size_t kStateBytesMax = 1 << 20;
constexpr const char* kStateName = "/workspace";

std::string read_at(const std::string& path, std::uint64_t offset, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  std::string out(bytes_max, '\0');
  std::size_t have = 0;
  while (file && have < bytes_max) {
    const ssize_t size =
        ::pread(file.get(), out.data() + have, bytes_max - have, static_cast<off_t>(offset + have));
    if (size <= 0) break;
    have += static_cast<std::size_t>(size);
  }
  out.resize(have);
  return out;
}

bool append(const std::string& from, std::uint64_t offset, std::uint64_t size, std::ofstream& to) {
  while (size > 0) {
    const std::string part = read_at(from, offset, std::min<std::uint64_t>(size, kCopyBytes));
    if (part.empty()) return false;
    to.write(part.data(), static_cast<std::streamsize>(part.size()));
    offset += part.size();
    size -= part.size();
  }
  return to.good();
}

}  // namespace

std::optional<ExitRecord> read_exit_record(std::string_view json) {
  const LauncherReport report = read_launcher_report(json);
  if (report.event == "refused") return ExitRecord{.started = false, .abandoned = true};
  if (report.event != "exited") return std::nullopt;
  const auto spooled = [](std::uint64_t size, std::optional<std::uint64_t> kept) {
    return Spooled{.size = size, .kept = std::min(size, kept.value_or(size))};
  };
  return ExitRecord{.code = report.code,
                    .signal = report.signal,
                    .out = spooled(report.out.value_or(0), report.out_kept),
                    .err = spooled(report.err.value_or(0), report.err_kept),
                    .started = report.started.value_or(true),
                    .abandoned = report.abandoned.value_or(false)};
}

Result<void> RunFolder::make_way() const {
  const fs::path around = fs::path(path_).parent_path();
  if (::access(around.c_str(), W_OK | X_OK) != 0 && ::mkdir(around.c_str(), 0700) != 0)
    return fail(Code::unavailable, fmt::format("the folder {} cannot be created", path_));
  std::error_code error;
  if (::access(path_.c_str(), F_OK) == 0) fs::remove_all(path_, error);  // left by a killed runtime
  if (error) return fail(Code::unavailable, fmt::format("the folder {} cannot be removed", path_));
  return {};
}

// On failure only the report about changed files is lost, not the command.
void RunFolder::keep_state(std::string_view state) const {
  if (state.empty() || ::mkdir(path_.c_str(), 0700) != 0) return;
  const Descriptor file(::open((path_ + kStateName).c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file) (void)!::write(file.get(), state.data(), state.size());
}

std::string RunFolder::state() const { return read_at(path_ + kStateName, 0, kStateBytesMax); }

void RunFolder::remove() const {
  std::error_code error;
  fs::remove_all(path_, error);
}

std::string RunFolder::read(std::string_view stream, std::uint64_t offset,
                            std::size_t bytes_max) const {
  return read_at(fmt::format("{}/{}", path_, stream), offset, bytes_max);
}

std::string RunFolder::tail(std::string_view stream, std::uint64_t size,
                            std::size_t bytes_max) const {
  if (size <= half_) {
    const std::uint64_t from = size - std::min<std::uint64_t>(bytes_max, size);
    return read(stream, from, bytes_max);
  }
  const std::string ring = fmt::format("{}/{}.tail", path_, stream);
  const std::uint64_t past = size - half_;
  const std::uint64_t want = std::min<std::uint64_t>({bytes_max, past, half_});
  const std::uint64_t begin = (past - want) % half_;
  const std::uint64_t first = std::min(want, half_ - begin);
  // If the ring buffer holds less than requested, the rest comes from the end of the head.
  const std::uint64_t before = std::min<std::uint64_t>(bytes_max - want, half_);
  const std::string head = past <= half_ ? read(stream, half_ - before, before) : "";
  return head + read_at(ring, begin, first) + read_at(ring, 0, want - first);
}

std::string RunFolder::preview(std::string_view stream, std::uint64_t size,
                               const Redact& redact) const {
  if (size == 0) return "";
  if (size <= 2 * kPreviewHalf && size <= half_) return redact(read(stream, 0, size));
  const std::string head = redact(read(stream, 0, kPreviewHalf + kCutMargin));
  const std::string end = redact(tail(stream, size, kPreviewHalf + kCutMargin));
  const std::string_view first = schema::utf8_prefix(head, kPreviewHalf);
  const std::size_t shown = std::min(kPreviewHalf, end.size());
  return fmt::format("{}\n[… {} bytes omitted …]\n{}", first, size - first.size() - shown,
                     std::string_view(end).substr(end.size() - shown));
}

std::optional<std::string> RunFolder::whole(std::string_view stream, std::uint64_t size) const {
  const std::string head = fmt::format("{}/{}", path_, stream);
  if (size <= half_) return head;
  const std::string out = fmt::format("{}/{}.whole", path_, stream), ring = head + ".tail";
  std::ofstream file(out, std::ios::binary | std::ios::trunc);
  const std::uint64_t past = size - half_;
  bool good = append(head, 0, half_, file);
  if (past <= half_) {
    good = good && append(ring, 0, past, file);
  } else {
    file << fmt::format("\n[… {} bytes were not stored …]\n", past - half_);
    const std::uint64_t begin = past % half_;
    good = good && append(ring, begin, half_ - begin, file) && append(ring, 0, begin, file);
  }
  file.close();
  return good ? std::optional(out) : std::nullopt;
}

std::optional<ExitRecord> RunFolder::exit_record() const {
  const std::string text = read_at(path_ + "/exit.json", 0, kRecordBytesMax);
  return text.empty() ? std::nullopt : read_exit_record(text);
}

bool RunFolder::can_be_read() const {
  const Descriptor folder(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return folder || !is_shortage(errno);
}

// Excludes the ring buffer NAME.tail: only the launcher knew where it begins.
Spooled RunFolder::left_of(std::string_view stream) const {
  const auto size_of = [&](std::string_view suffix) -> std::uint64_t {
    struct stat about{};
    const std::string path = fmt::format("{}/{}{}", path_, stream, suffix);
    if (::lstat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return 0;
    return static_cast<std::uint64_t>(about.st_size);
  };
  const std::uint64_t head = std::min(size_of(""), half_), ring = size_of(".tail");
  return {.size = head + ring, .kept = head, .exact = ring == 0};
}

}  // namespace agentrt::adapters
