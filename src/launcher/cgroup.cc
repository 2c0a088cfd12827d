#include "launcher/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace agentrt::launcher {
namespace {

constexpr int kRemovalsTried = 50;
constexpr useconds_t kRemovalPauseUs = 1'000;

bool put(const std::string& path, const std::string& value) {
  const Fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file &&
         ::write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

// The number behind `name` in a file of lines NAME NUMBER; 0 where there is none.
std::uint64_t count_in(const std::string& path, const char* name) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[1'024] = {};
  if (!file || ::read(file.get(), text, sizeof(text) - 1) <= 0) return 0;
  const std::string key = std::string(name) + " ";
  for (const char* at = text; at != nullptr; at = std::strchr(at, '\n')) {
    if (*at == '\n') ++at;
    if (std::strncmp(at, key.c_str(), key.size()) == 0)
      return std::strtoull(at + key.size(), nullptr, 10);
  }
  return 0;
}

}  // namespace

void CommandGroups::make(const Spec& spec) {
  memory_bytes_ = spec.memory_bytes;
  processes_max_ = spec.processes;
  for (const std::string& around : spec.cgroups) {
    const std::string folder = around + "/" + kGroupPrefix + std::to_string(::getpid());
    int made = ::mkdir(folder.c_str(), 0755);
    if (made != 0 && errno == EEXIST && ::rmdir(folder.c_str()) == 0)  // of one that was killed
      made = ::mkdir(folder.c_str(), 0755);
    if (made != 0) {
      reason_ = std::strerror(errno);
      continue;
    }
    const std::string memory = std::to_string(spec.memory_bytes);
    const bool memory_here =
        spec.memory_bytes > 0 &&
        (put(folder + "/memory.max", memory) || put(folder + "/memory.limit_in_bytes", memory));
    if (memory_here) {  // swap is no way around it
      put(folder + "/memory.swap.max", "0");
      put(folder + "/memory.memsw.limit_in_bytes", memory);
    }
    // One more than the command may have: init.
    const bool processes_here = put(folder + "/pids.max", std::to_string(spec.processes + 1));
    // Where there is a file for single threads, that one: for a process that moves itself the
    // kernel then waits for no other, which takes it milliseconds.
    Fd procs(::open((folder + "/tasks").c_str(), O_WRONLY | O_CLOEXEC));
    if (!procs) procs = Fd(::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
    if (!procs || (!memory_here && !processes_here)) {
      reason_ = "it has no limits";
      ::rmdir(folder.c_str());
      continue;
    }
    memory_ |= memory_here;
    processes_ |= processes_here;
    folders_.push_back(folder);
    procs_.push_back(std::move(procs));
  }
}

std::vector<int> CommandGroups::entries() const {
  std::vector<int> out;
  for (const Fd& procs : procs_) out.push_back(procs.get());
  return out;
}

std::string CommandGroups::how() const {
  if (!any()) return reason_.empty() ? "no writable cgroup" : "no cgroup can be made: " + reason_;
  std::string out;
  if (processes_) out = std::to_string(processes_max_) + " processes";
  if (memory_)
    out += (out.empty() ? "" : ", ") + std::to_string(memory_bytes_ >> 20) + " MiB of memory";
  return out;
}

std::vector<std::string> CommandGroups::hits() const {
  bool memory = false, processes = false;
  for (const std::string& folder : folders_) {
    memory |= count_in(folder + "/memory.events", "oom_kill") > 0 ||
              count_in(folder + "/memory.oom_control", "oom_kill") > 0;
    processes |= count_in(folder + "/pids.events", "max") > 0;
  }
  std::vector<std::string> out;
  if (memory) out.emplace_back("memory");
  if (processes) out.emplace_back("processes");
  return out;
}

void CommandGroups::remove() {
  for (const std::string& folder : folders_)
    for (int i = 0; i < kRemovalsTried && ::rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i)
      ::usleep(kRemovalPauseUs);
  folders_.clear();
}

}  // namespace agentrt::launcher
