#include "sim/isolated.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <sstream>

#include <fmt/format.h>

#include "base/check.h"

namespace agentrt::sim {
namespace {

// The lines that a child writes; the first letter is the kind.
constexpr char kDone = 'D';    // seed and counts
constexpr char kFailed = 'F';  // seed
constexpr char kTold = 'T';    // a line of the trace
constexpr char kBroken = 'B';  // the invariant
constexpr char kWhat = 'W';    // how it was violated

void put(int fd, char kind, std::string_view text) {
  std::string line = fmt::format("{}{}\n", kind, text);
  for (std::size_t i = 0; i + 1 < line.size(); ++i)
    if (line[i] == '\n') line[i] = ' ';
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written <= 0) ::_exit(3);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::string counts_text(std::uint64_t seed, const Counts& counts) {
  return fmt::format("{} {} {} {} {} {}", seed, counts.steps, counts.facts, counts.commands,
                     counts.crashes, counts.simulated_ms);
}

void add_counts(std::istream& in, Counts& to) {
  Counts one;
  in >> one.steps >> one.facts >> one.commands >> one.crashes >> one.simulated_ms;
  to.steps += one.steps;
  to.facts += one.facts;
  to.commands += one.commands;
  to.crashes += one.crashes;
  to.simulated_ms += one.simulated_ms;
}

struct Child {
  pid_t pid = -1;
  int fd = -1;
  std::string partial;

  // Passes on the complete lines that have arrived; false at the end of the stream.
  template <class Take>
  bool read(const Take& take) {
    std::array<char, 65'536> buffer;
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got <= 0) return false;
    partial.append(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = partial.find('\n')) != std::string::npos;) {
      take(std::string_view(partial).substr(0, end));
      partial.erase(0, end + 1);
    }
    return true;
  }
  void end() {
    if (fd < 0) return;
    ::close(fd);
    fd = -1;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
};

// Runs `work` in a child process. `work` gets the pipe to write to; with Tell::everything, standard
// error goes there too.
template <class Work>
Child start(Tell tell, const Work& work) {
  std::array<int, 2> pipe{};
  check(::pipe2(pipe.data(), O_CLOEXEC) == 0, "a pipe can be made");
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  check(pid >= 0, "a process can be started");
  if (pid == 0) {
    ::close(pipe[0]);
    ::signal(SIGABRT, SIG_DFL);  // drop the test program's own handler
    const int errors = tell == Tell::everything ? pipe[1] : ::open("/dev/null", O_WRONLY);
    ::dup2(errors, STDERR_FILENO);
    work(pipe[1]);
    ::_exit(0);
  }
  ::close(pipe[1]);
  return {pid, pipe[0], {}};
}

struct Share {
  Child child;
  std::uint64_t next = 0;  // the current seed
};

Share start_share(const Sweep& sweep, unsigned index) {
  const std::uint64_t first = sweep.from + index;
  return {start(Tell::verdict,
                [&](int fd) {
                  const std::uint64_t end = sweep.from + sweep.seeds;
                  for (std::uint64_t seed = first; seed < end; seed += sweep.jobs) {
                    const RunResult result = run_plan(draw_plan(seed), sweep.plant, {});
                    if (result.broken) return put(fd, kFailed, fmt::format("{}", seed));
                    put(fd, kDone, counts_text(seed, result.counts));
                  }
                }),
          first};
}

// Processes the output of a share. If it ended early, its unfinished seed crashed it.
void follow(Share& share, const Sweep& sweep, SweepResult& result) {
  const auto fails = [&](std::uint64_t seed) {
    if (!result.failed || seed < *result.failed) result.failed = seed;
  };
  bool said = false;
  const bool more = share.child.read([&](std::string_view line) {
    std::istringstream in{std::string(line.substr(1))};
    std::uint64_t seed = 0;
    in >> seed;
    if (line.front() == kFailed) {
      said = true;
      return fails(seed);
    }
    add_counts(in, result.counts);
    ++result.seeds;
    share.next = seed + sweep.jobs;
  });
  if (more && !said) return;
  if (!said && share.next < sweep.from + sweep.seeds) fails(share.next);
  share.child.end();
}

}  // namespace

SweepResult run_sweep(const Sweep& sweep, const std::function<void(const SweepResult&)>& progress) {
  std::vector<Share> shares;
  for (unsigned i = 0; i < sweep.jobs; ++i) shares.push_back(start_share(sweep, i));
  SweepResult result;
  for (;;) {
    std::vector<pollfd> waits;
    for (Share& share : shares) {
      if (result.failed && share.next > *result.failed) share.child.end();
      if (share.child.fd >= 0) waits.push_back({share.child.fd, POLLIN, 0});
    }
    if (waits.empty()) return result;
    ::poll(waits.data(), waits.size(), 1'000);
    for (const pollfd& wait : waits)
      for (Share& share : shares)
        if (wait.revents != 0 && share.child.fd == wait.fd) follow(share, sweep, result);
    progress(result);
  }
}

Trial run_trial(const Plan& plan, Plant plant, Tell tell) {
  Child child = start(Tell::everything, [&](int fd) {
    Trace trace;
    if (tell == Tell::everything) trace = [fd](const std::string& line) { put(fd, kTold, line); };
    const RunResult result = run_plan(plan, plant, trace);
    if (result.broken) {
      put(fd, kBroken, result.broken->invariant);
      put(fd, kWhat, result.broken->what);
    }
    put(fd, kDone, counts_text(plan.seed, result.counts));
  });
  Trial trial;
  bool done = false;
  std::string last_words = "it was ended by a signal";
  const auto take = [&](std::string_view line) {
    const std::string_view text = line.substr(std::min<std::size_t>(1, line.size()));
    if (line.starts_with(kTold)) {
      trial.lines.emplace_back(text);
    } else if (line.starts_with(kBroken)) {
      trial.broken = Violation{std::string(text), {}};
    } else if (line.starts_with(kWhat) && trial.broken) {
      trial.broken->what = text;
    } else if (line.starts_with(kDone)) {
      done = true;
      std::istringstream in{std::string(text)};
      std::uint64_t seed = 0;
      in >> seed;
      add_counts(in, trial.counts);
    } else if (!line.empty()) {
      last_words = line;
    }
  };
  while (child.read(take)) {
  }
  child.end();
  if (!done) trial.broken = Violation{std::string(invariant::kStopped), last_words};
  return trial;
}

}  // namespace agentrt::sim
