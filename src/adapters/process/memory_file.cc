#include "adapters/process/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

constexpr unsigned kData = 0x8, kExecutable = 0x10;  // MFD_NOEXEC_SEAL, MFD_EXEC: Linux 6.3

std::unexpected<Error> failed(std::string_view what) {
  return fail(Code::unavailable,
              fmt::format("{}: {}.", what, std::generic_category().message(errno)));
}

}  // namespace

Result<Descriptor> file_in_memory(const char* name, std::string_view bytes, MemoryFile kind) {
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Descriptor made(
      ::memfd_create(name, flags | (kind == MemoryFile::executable ? kExecutable : kData)));
  if (!made && errno == EINVAL)  // this kernel does not support these flags
    made = Descriptor(::memfd_create(name, flags));
  Descriptor file(made ? ::fcntl(made.get(), F_DUPFD_CLOEXEC, kAboveFixed) : -1);
  if (!file) return failed("A memory file cannot be created");
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return failed("A memory file cannot be written");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  ::lseek(file.get(), 0, SEEK_SET);
  // Makes the content immutable.
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return file;
}

}  // namespace agentrt::adapters
