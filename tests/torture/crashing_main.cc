// tests/torture/crashing_main.cc: agentrt on a disk that loses power. For tests; never installed.
//
// AGENTRT_CRASH_SYNC=N        power fails at the N-th sync; 0 or absent: never
// AGENTRT_CRASH_DAMAGE=KIND   drop, tear, reorder or late
// AGENTRT_CRASH_SEED=S        selects which unsynced changes survive
// AGENTRT_CRASH_LYING=1       syncs are confirmed but not made, as by a faulty disk
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cli/program.h"
#include "crash_vfs.h"

namespace {

std::uint64_t number_of(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace

using agentrt::torture::Disk;

int main(int argc, char** argv) {
  const char* kind = std::getenv("AGENTRT_CRASH_DAMAGE");
  const auto damage = agentrt::torture::damage_named(kind == nullptr ? "drop" : kind);
  if (!damage) {
    std::fprintf(stderr, "agentrt_crashing: no such damage: %s\n", kind);
    return 2;
  }
  agentrt::torture::install_crash_vfs(
      {number_of("AGENTRT_CRASH_SYNC", 0), *damage, number_of("AGENTRT_CRASH_SEED", 1),
       number_of("AGENTRT_CRASH_LYING", 0) == 0 ? Disk::honest : Disk::lying});
  return agentrt::cli::run_program(argc, argv);
}
