// tests/torture/crash_vfs.h: a SQLite VFS that ends the process at the n-th sync.
//
// It wraps the system's VFS and becomes the default, so a program that names no VFS uses it. Syncs
// of all files are counted together. At the n-th sync, the files are left as after a power cut of
// the chosen kind (crash_disk.h), a line on standard error says so, and the process exits at once
// with kCrashExit. Earlier syncs only record which data is safe; they do not wait for the disk,
// because the power is not really cut.
//
// Shared memory of the write-ahead log passes through: the next process that opens the store
// creates it again.
//
// Threads: any; changes, syncs and the crash are serialized.
#pragma once

#include <cstdint>

#include "crash_disk.h"

namespace agentrt::torture {

constexpr int kCrashExit = 86;

// lying: confirms syncs but keeps nothing. Used to test the tests.
enum class Disk { honest, lying };

struct CrashPlan {
  std::uint64_t at_sync = 0;  // counted from 1; 0: never
  Damage damage = Damage::drop;
  std::uint64_t seed = 1;
  Disk disk = Disk::honest;
};

// REQUIRES: called once per process, before SQLite opens a file.
void install_crash_vfs(const CrashPlan& plan);

}  // namespace agentrt::torture
