#include "launcher/outside.h"

#include <unistd.h>

#include <cerrno>

#include "launcher/id_maps.h"
#include "launcher/records.h"

namespace agentrt::launcher {
namespace {

// Flags of the `prepared` message, about the cgroups and the descriptors sent with it.
enum : std::int32_t { kMemoryLimited = 1, kProcessesLimited = 2, kIdentityIsLast = 4 };

bool map_own_ids(pid_t init) {
  const std::string place = "/proc/" + std::to_string(init) + "/";
  const auto line = [](unsigned own) {
    return std::to_string(own) + " " + std::to_string(own) + " 1";
  };
  return write_into(place + "setgroups", "deny") &&
         write_into(place + "uid_map", line(::geteuid())) &&
         write_into(place + "gid_map", line(::getegid()));
}

}  // namespace

std::string prepare_outside(const Spec& spec, pid_t init, int link, CommandGroups& groups,
                            pid_t& left) {
  const auto wants = [&](Layer layer) { return (spec.wanted & bit(layer)) != 0; };
  if (wants(Layer::user_namespace) && !wants(Layer::identity)) {
    if (!map_own_ids(init)) return "ids";
    tell(link, Say::mapped);
  }
  if (wants(Layer::cgroup)) groups.make(spec);
  std::int32_t what = 0;
  if (groups.limits_memory()) what |= kMemoryLimited;
  if (groups.limits_processes()) what |= kProcessesLimited;
  std::vector<int> given = groups.entries();
  Fd identity;
  if (wants(Layer::identity)) {
    identity = user_namespace({kInnerId, kInnerId}, &left);
    if (!identity) return "user namespace";
    given.push_back(identity.get());
    what |= kIdentityIsLast;
  }
  errno = E2BIG;
  if (given.size() > kBesideMax) return "cgroups";
  tell(link, Say::prepared, what, static_cast<std::int32_t>(given.size()), {}, given);
  groups.close_entries();
  return {};
}

bool await_ids(int link) {
  Message said;
  return hear(link, said) && said.say == Say::mapped;
}

bool await_prepared(int link, Prepared& prepared) {
  Message said;
  Beside beside;
  if (!hear(link, said, &beside) || said.say != Say::prepared) return false;
  if (beside.given.size() != static_cast<std::size_t>(said.b)) return false;
  prepared.memory_limited = (said.a & kMemoryLimited) != 0;
  prepared.processes_limited = (said.a & kProcessesLimited) != 0;
  prepared.cgroups = std::move(beside.given);
  if ((said.a & kIdentityIsLast) == 0) return true;
  if (prepared.cgroups.empty()) return false;
  prepared.identity = std::move(prepared.cgroups.back());
  prepared.cgroups.pop_back();
  return true;
}

}  // namespace agentrt::launcher
