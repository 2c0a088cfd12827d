#include "crash_vfs.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <mutex>
#include <new>

namespace agentrt::torture {
namespace {

struct World {
  std::mutex mutex;
  CrashPlan plan;
  CrashDisk disk;
  std::uint64_t syncs = 0;
};

// Global, because SQLite's callbacks carry no pointer of ours before a file is open. Never
// destroyed, because threads may still sync while the process ends.
World& world() {
  static World* const made = new World;
  return *made;
}

struct CrashFile {
  sqlite3_file base;
  sqlite3_file* real;
  const std::string* path;  // null: a temporary file without a name, which needs no tracking
};

CrashFile* of(sqlite3_file* file) { return reinterpret_cast<CrashFile*>(file); }
sqlite3_file* real_of(sqlite3_file* file) { return of(file)->real; }
const sqlite3_io_methods* methods_of(sqlite3_file* file) { return real_of(file)->pMethods; }

std::uint64_t size_of(sqlite3_file* file) {
  sqlite3_int64 size = 0;
  methods_of(file)->xFileSize(real_of(file), &size);
  return static_cast<std::uint64_t>(size);
}

CrashDisk::Read reader_of(sqlite3_file* file) {
  return [file](std::uint64_t at, std::uint64_t size) {
    std::string bytes(size, '\0');  // xRead fills bytes past the end with zeros
    methods_of(file)->xRead(real_of(file), bytes.data(), static_cast<int>(size),
                            static_cast<sqlite3_int64>(at));
    return bytes;
  };
}

[[noreturn]] void crash(const std::string& path) {
  World& here = world();
  const std::size_t unsynced = here.disk.cut(here.plan.damage, here.plan.seed);
  std::fprintf(stderr, "crash at sync %llu of %s with %zu unsynced changes\n",
               static_cast<unsigned long long>(here.syncs), path.c_str(), unsynced);
  _exit(kCrashExit);
}

int crash_write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 at) {
  const std::lock_guard lock(world().mutex);
  if (of(file)->path != nullptr)
    world().disk.write(*of(file)->path, static_cast<std::uint64_t>(at),
                       {static_cast<const char*>(bytes), static_cast<std::size_t>(count)},
                       reader_of(file));
  return methods_of(file)->xWrite(real_of(file), bytes, count, at);
}

int crash_truncate(sqlite3_file* file, sqlite3_int64 size) {
  const std::lock_guard lock(world().mutex);
  if (of(file)->path != nullptr)
    world().disk.truncate(*of(file)->path, static_cast<std::uint64_t>(size), reader_of(file));
  return methods_of(file)->xTruncate(real_of(file), size);
}

int crash_sync(sqlite3_file* file, int) {
  if (of(file)->path == nullptr) return SQLITE_OK;
  World& here = world();
  const std::lock_guard lock(here.mutex);
  const bool now = ++here.syncs == here.plan.at_sync;
  if (now && here.plan.damage != Damage::late) crash(*of(file)->path);
  if (here.plan.disk == Disk::honest) here.disk.synced(*of(file)->path, size_of(file));
  if (now) crash(*of(file)->path);
  return SQLITE_OK;
}

int crash_close(sqlite3_file* file) {
  delete of(file)->path;
  of(file)->path = nullptr;
  return methods_of(file)->xClose(real_of(file));
}

// Version 2 has no memory-mapped reads (version 3), so all accesses go through here.
const sqlite3_io_methods kCrashMethods = {
    2,
    crash_close,
    [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
      return methods_of(f)->xRead(real_of(f), to, n, at);
    },
    crash_write,
    crash_truncate,
    crash_sync,
    [](sqlite3_file* f, sqlite3_int64* size) { return methods_of(f)->xFileSize(real_of(f), size); },
    [](sqlite3_file* f, int lock) { return methods_of(f)->xLock(real_of(f), lock); },
    [](sqlite3_file* f, int lock) { return methods_of(f)->xUnlock(real_of(f), lock); },
    [](sqlite3_file* f, int* out) { return methods_of(f)->xCheckReservedLock(real_of(f), out); },
    [](sqlite3_file* f, int op, void* arg) {
      return methods_of(f)->xFileControl(real_of(f), op, arg);
    },
    [](sqlite3_file* f) { return methods_of(f)->xSectorSize(real_of(f)); },
    [](sqlite3_file* f) { return methods_of(f)->xDeviceCharacteristics(real_of(f)); },
    [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
      return methods_of(f)->xShmMap(real_of(f), page, size, extend, out);
    },
    [](sqlite3_file* f, int at, int n, int flags) {
      return methods_of(f)->xShmLock(real_of(f), at, n, flags);
    },
    [](sqlite3_file* f) { methods_of(f)->xShmBarrier(real_of(f)); },
    [](sqlite3_file* f, int remove) { return methods_of(f)->xShmUnmap(real_of(f), remove); },
    nullptr,
    nullptr,
};

sqlite3_vfs* system_of(sqlite3_vfs* vfs) { return static_cast<sqlite3_vfs*>(vfs->pAppData); }

int crash_open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
  const std::lock_guard lock(world().mutex);
  auto* made = new (file) CrashFile{};
  made->real = reinterpret_cast<sqlite3_file*>(made + 1);
  const bool there = name != nullptr && access(name, F_OK) == 0;
  const int code = system_of(vfs)->xOpen(system_of(vfs), name, made->real, flags, out);
  if (made->real->pMethods == nullptr) return code;
  made->base.pMethods = &kCrashMethods;
  if (name == nullptr || code != SQLITE_OK) return code;
  made->path = new std::string(name);
  world().disk.opened(*made->path, there ? CrashDisk::Origin::found : CrashDisk::Origin::made,
                      size_of(file));
  return code;
}

int crash_delete(sqlite3_vfs* vfs, const char* name, int sync_folder) {
  const std::lock_guard lock(world().mutex);
  std::ifstream in(name, std::ios::binary);
  if (in) {
    world().disk.removed(
        name, std::string(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()),
        sync_folder != 0 ? CrashDisk::FolderSync::yes : CrashDisk::FolderSync::no);
  }
  return system_of(vfs)->xDelete(system_of(vfs), name, 0);
}

}  // namespace

void install_crash_vfs(const CrashPlan& plan) {
  world().plan = plan;
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
    sqlite3_vfs copy = *system;
    copy.zName = "agentrt_crash";
    copy.pAppData = system;
    copy.pNext = nullptr;
    copy.szOsFile = static_cast<int>(sizeof(CrashFile)) + system->szOsFile;
    copy.xOpen = crash_open;
    copy.xDelete = crash_delete;
    return copy;
  }();
  if (sqlite3_vfs_register(&vfs, 1) != SQLITE_OK) {
    std::fputs("crash vfs: it cannot be registered\n", stderr);
    _exit(1);
  }
}

}  // namespace agentrt::torture
