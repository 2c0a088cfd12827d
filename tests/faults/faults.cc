// tests/faults/faults.cc: an LD_PRELOAD library that lets tests set the wall clock of the binary
// and delay its syncs. For tests only.
//
// AGENTRT_FAULTS_CLOCK=FILE   CLOCK_REALTIME is ahead by the number of seconds in FILE, if it
// exists
// AGENTRT_FAULTS_HOLD=FILE    fsync and fdatasync block while FILE exists
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

constexpr std::int64_t kLookEveryNs = 10'000'000;

int plain_gettime(clockid_t clock, timespec* time) {
  return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
}

std::int64_t ahead_seconds() {
  static const char* const path = std::getenv("AGENTRT_FAULTS_CLOCK");
  static std::atomic<std::int64_t> looked{0}, ahead{0};
  if (path == nullptr) return 0;
  timespec now{};
  plain_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t at = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  if (at - looked.load() < kLookEveryNs) return ahead.load();
  looked = at;
  char text[32] = {};
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : ::read(file, text, sizeof(text) - 1);
  if (file >= 0) ::close(file);
  ahead = size > 0 ? std::atoll(text) : 0;
  return ahead.load();
}

void wait_while_held() {
  static const char* const path = std::getenv("AGENTRT_FAULTS_HOLD");
  while (path != nullptr && ::access(path, F_OK) == 0) ::usleep(2'000);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int done = plain_gettime(clock, time);
  if (done == 0 && clock == CLOCK_REALTIME) time->tv_sec += ahead_seconds();
  return done;
}

int fsync(int file) {
  wait_while_held();
  return static_cast<int>(::syscall(SYS_fsync, file));
}

int fdatasync(int file) {
  wait_while_held();
  return static_cast<int>(::syscall(SYS_fdatasync, file));
}
}
