// tests/torture/crash_vfs.h: a SQLite VFS under which the process ends at the n-th sync.
//
// It wraps the system's own VFS and becomes the default, so a program that names none runs on it
// unchanged. Syncs of all files are counted together. At the n-th the files are left as a power cut
// of the chosen kind would leave them (crash_disk.h), one line on standard error says so, and the
// process ends at once with kCrashExit. Until then syncs only mark what is safe: the disk is not
// waited for, since nothing here takes the power away for real.
//
// Shared memory of the write-ahead log passes through: whoever opens the store next makes it anew.
//
// Threads: any; changes, syncs and the crash happen one at a time.
#pragma once

#include <cstdint>

#include "crash_disk.h"

namespace agentrt::torture {

constexpr int kCrashExit = 86;

// A lying disk confirms syncs and keeps nothing: what the tests of the tests use.
enum class Disk { honest, lying };

struct CrashPlan {
  std::uint64_t at_sync = 0;  // counted from 1; 0: never
  Damage damage = Damage::drop;
  std::uint64_t seed = 1;
  Disk disk = Disk::honest;
};

// REQUIRES: called once in a process, before SQLite opens a file.
void install_crash_vfs(const CrashPlan& plan);

}  // namespace agentrt::torture
