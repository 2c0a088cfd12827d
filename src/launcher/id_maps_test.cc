// launcher/id_maps_test.cc: tests the process with which a user namespace is created.
#include "launcher/id_maps.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace agentrt::launcher {

// The process shares its parent's memory, which the thread sanitizer does not support.
#if !__has_feature(thread_sanitizer)
TEST_CASE(
    "the process that holds a user namespace ends with its creator, and keeps nothing else open") {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);  // so that this process can reap it
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const Fd read(ends[0]);
  Fd write(ends[1]);
  const pid_t maker = ::fork();
  if (maker == 0) {
    const pid_t holder = hold_user_namespace();
    (void)!::write(write.get(), &holder, sizeof(holder));
    ::close(write.release());
    ::pause();
    ::_exit(0);
  }
  write.reset();
  pid_t holder = -1;
  REQUIRE(::read(read.get(), &holder, sizeof(holder)) == sizeof(holder));
  pollfd end{read.get(), POLLIN, 0};
  const int closed = ::poll(&end, 1, 5'000);
  ::kill(maker, SIGKILL);
  REQUIRE(::waitpid(maker, nullptr, 0) == maker);
  if (holder <= 0) return;  // not permitted here
  CHECK(closed == 1);
  pid_t ended = 0;
  for (int i = 0; i < 500 && ended == 0; ++i) {
    ended = ::waitpid(holder, nullptr, WNOHANG);
    if (ended == 0) ::usleep(10'000);
  }
  CHECK(ended == holder);
  if (ended != holder) ::kill(holder, SIGKILL);
}
#endif

}  // namespace agentrt::launcher
