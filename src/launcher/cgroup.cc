#include "launcher/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace agentrt::launcher {
namespace {

constexpr int kRemovalsTried = 50;
constexpr useconds_t kRemovalPauseUs = 1'000;

bool put(int folder, const char* name, const std::string& value) {
  const Fd file(::openat(folder, name, O_WRONLY | O_CLOEXEC));
  return file &&
         ::write(file.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

// The number after `name` in a file of lines NAME NUMBER; 0: not found.
std::uint64_t count_in(const std::string& path, const std::string& name) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[1'024] = {};
  if (!file || ::read(file.get(), text, sizeof(text) - 1) <= 0) return 0;
  const std::string key = name + " ";
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
    Group group;
    group.folder = around + "/" + kGroupPrefix + std::to_string(::getpid());
    int made = ::mkdir(group.folder.c_str(), 0755);
    if (made != 0 && errno == EEXIST &&
        ::rmdir(group.folder.c_str()) == 0)  // left by a killed launcher
      made = ::mkdir(group.folder.c_str(), 0755);
    if (made != 0) {
      reason_ = std::strerror(errno);
      continue;
    }
    set_limits(group, spec);
    if (!group.entry || (!group.memory && !group.processes)) {
      reason_ = "it has no limits";
      ::rmdir(group.folder.c_str());
      continue;
    }
    groups_.push_back(std::move(group));
  }
}

void CommandGroups::set_limits(Group& group, const Spec& spec) {
  const Fd folder(::open(group.folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const int at = folder.get();
  // V1 has a file to move a single thread. When a process moves itself through it, the kernel skips
  // a wait for other processes that takes milliseconds.
  group.entry = Fd(::openat(at, "tasks", O_WRONLY | O_CLOEXEC));
  group.version = group.entry ? 1 : 2;
  if (group.version == 2) group.entry = Fd(::openat(at, "cgroup.procs", O_WRONLY | O_CLOEXEC));
  // One more than the command's limit, for init.
  group.processes = put(at, "pids.max", std::to_string(spec.processes + 1));
  if (spec.memory_bytes == 0) return;
  const std::string memory = std::to_string(spec.memory_bytes);
  group.memory = put(at, group.version == 1 ? "memory.limit_in_bytes" : "memory.max", memory);
  if (!group.memory) return;
  if (group.version == 1)  // also limit swap
    put(at, "memory.memsw.limit_in_bytes", memory);
  else
    put(at, "memory.swap.max", "0");
}

std::vector<int> CommandGroups::entries() const {
  std::vector<int> out;
  for (const Group& group : groups_) out.push_back(group.entry.get());
  return out;
}

void CommandGroups::close_entries() {
  for (Group& group : groups_) group.entry.reset();
}

std::string CommandGroups::how() const {
  if (!any())
    return reason_.empty() ? "no writable cgroup" : "a cgroup cannot be created: " + reason_;
  std::string out;
  if (limits_processes()) out = std::to_string(processes_max_) + " processes";
  if (limits_memory())
    out += (out.empty() ? "" : ", ") + std::to_string(memory_bytes_ >> 20) + " MiB of memory";
  return out;
}

std::vector<std::string> CommandGroups::hits() const {
  bool memory = false, processes = false;
  for (const Group& group : groups_) {
    if (group.memory)
      memory |=
          count_in(group.folder + (group.version == 1 ? "/memory.oom_control" : "/memory.events"),
                   "oom_kill") > 0;
    if (group.processes) processes |= count_in(group.folder + "/pids.events", "max") > 0;
  }
  std::vector<std::string> out;
  if (memory) out.emplace_back("memory");
  if (processes) out.emplace_back("processes");
  return out;
}

void CommandGroups::remove() {
  for (const Group& group : groups_)
    for (int i = 0; i < kRemovalsTried && ::rmdir(group.folder.c_str()) != 0 && errno == EBUSY; ++i)
      ::usleep(kRemovalPauseUs);
  groups_.clear();
}

}  // namespace agentrt::launcher
