// bench/spawns.cc: measures a command that does nothing: spawned plainly, in our sandbox with every
// layer, and under bubblewrap with equal rights. The three alternate. Measured from the start until
// the exit status is known.
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "adapters/process/launch.h"
#include "adapters/process/sandbox.h"
#include "policy/sandbox_profile.h"

namespace {

using Words = std::vector<std::string>;

constexpr const char* kCommand = "/bin/true";

void spawn(const Words& words) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  char* environment[] = {nullptr};
  pid_t pid = -1;
  int status = 0;
  if (::posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environment) != 0 ||
      ::waitpid(pid, &status, 0) != pid || status != 0) {
    std::fprintf(stderr, "%s did not run\n", argv[0]);
    std::exit(1);
  }
}

// Returns when the exit status of the command is known.
agentrt::adapters::Launched sandboxed(const agentrt::launcher::Spec& spec) {
  auto launched = agentrt::adapters::launch(spec);
  while (launched) {
    const auto report = launched->report();
    if (!report || report->empty()) break;
    if (report->starts_with("{\"event\":\"ready\"")) (void)launched->order("go");
    if (report->starts_with("{\"event\":\"exited\",\"code\":0")) return std::move(*launched);
  }
  std::fprintf(stderr, "the sandbox did not run\n");
  std::exit(1);
}

agentrt::launcher::Spec spec_of(const std::string& workspace, const std::string& home) {
  agentrt::policy::SandboxInputs inputs;
  inputs.cwd = workspace;
  inputs.roots = {workspace};
  inputs.home = home;
  inputs.own_paths = {home + "/data"};
  return agentrt::adapters::spec_of(agentrt::policy::sandbox_profile(inputs), {kCommand});
}

Words bubblewrap(const std::string& program, const std::string& workspace,
                 const std::string& home) {
  const std::string git = workspace + "/.git";
  return {program,
          "--unshare-all",
          "--die-with-parent",
          "--new-session",
          "--ro-bind",
          "/",
          "/",
          "--dev",
          "/dev",
          "--proc",
          "/proc",
          "--tmpfs",
          "/tmp",
          "--bind",
          workspace,
          workspace,
          "--ro-bind",
          git + "/hooks",
          git + "/hooks",
          "--ro-bind",
          git + "/config",
          git + "/config",
          "--tmpfs",
          home + "/.ssh",
          "--tmpfs",
          home + "/data",
          "--chdir",
          workspace,
          "--cap-drop",
          "ALL",
          kCommand};
}

struct Series {
  std::vector<double> ms;

  template <class Run>
  void time(Run run) {
    const auto began = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    ms.push_back(took.count());
  }
  double part(double share) {
    if (ms.empty()) return 0;
    std::ranges::sort(ms);
    return ms[static_cast<std::size_t>(share * static_cast<double>(ms.size() - 1))];
  }
};

}  // namespace

// WORKSPACE HOME COUNT RESIDENT_MIB [BUBBLEWRAP]
int main(int count, char** words) {
  if (count < 5) return 2;
  const std::string workspace = words[1], home = words[2];
  const std::size_t resident = std::strtoul(words[4], nullptr, 10) << 20;
  if (resident > 0) {
    void* held =
        ::mmap(nullptr, resident, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (held == MAP_FAILED) return 1;
    std::memset(held, 1, resident);
  }
  const auto spec = spec_of(workspace, home);
  Series plain, ours, theirs;
  for (int i = 0; i < std::atoi(words[3]); ++i) {
    plain.time([] { spawn({kCommand}); });
    {
      // Keeps the launcher's cleanup out of the measurement.
      std::optional<agentrt::adapters::Launched> ended;
      ours.time([&] { ended.emplace(sandboxed(spec)); });
    }
    if (count > 5) theirs.time([&] { spawn(bubblewrap(words[5], workspace, home)); });
  }
  std::printf(
      "{\"plain\":%.4f,\"ours\":%.4f,\"bubblewrap\":%.4f,"
      "\"plain_median\":%.4f,\"ours_median\":%.4f,\"bubblewrap_median\":%.4f}\n",
      plain.part(0.1), ours.part(0.1), theirs.part(0.1), plain.part(0.5), ours.part(0.5),
      theirs.part(0.5));
  return 0;
}
