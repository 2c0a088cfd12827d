// launcher/spec.h: what the launcher is asked to do, as both sides know it.
//
// The runtime writes a Spec into a file without a name and hands it to the launcher as descriptor
// kSpecFd, so that neither arguments nor environment of a command ever stand in a process list.
// Whoever writes it is trusted; whoever is launched is not. No dependency on the rest of the tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::launcher {

inline constexpr int kSpecFd = 3;                       // a Spec, from its beginning
inline constexpr int kControlFd = 4;                    // SOCK_SEQPACKET: orders in, reports out
inline constexpr const char* kControlName = "control";  // the same, in the run folder

// A launcher with kStay as its argument is an origin (origin.h): it gets CopyOrders on kControlFd,
// with the descriptors of the copy beside them: kSpecFd, kControlFd, then the streams given. An
// order without any makes it get ready for the next copy; it is not answered.
inline constexpr const char* kStay = "stay";
inline constexpr std::size_t kOwnersMax = 16;  // of one order; a copy maps the others itself
struct CopyOrder {
  std::uint32_t streams = 0;  // bit N: standard stream N is given
  std::uint32_t copies = 0;   // 1: the copies of held files are given, after the streams
  std::uint32_t owners = 0;   // how many of these, uid and gid, own a root
  std::uint32_t owner[kOwnersMax][2] = {};
};
struct CopyReply {
  std::int32_t pid = -1;   // of the copy, a child of whoever started the origin
  std::int32_t error = 0;  // errno, where there is none
};

// Under root a command runs as kOuterId, a user that owns nothing, and sees itself as kInnerId. It
// lies beyond all that people, their containers (subuid) and systemd are given.
inline constexpr unsigned kOuterId = 2'000'000'000;
inline constexpr unsigned kInnerId = 1'000;

enum class Mode { read_only, workspace_write, full_access };
// none: no sockets but local ones. loopback: a network of its own, with nobody else in it; where
// the kernel gives none, as none. host: the machine's.
enum class Network { none, loopback, host };

// The layers that confine a command. What each one stops: docs/sandbox.md.
enum class Layer {
  user_namespace,
  mount_namespace,
  pid_namespace,
  network_namespace,
  ipc_namespace,
  landlock,
  seccomp,
  notify,  // seccomp asks the supervisor, so that attempts become facts
  capabilities,
  limits,
  cgroup,
  identity,  // an unprivileged uid under a daemon that is root
};
inline constexpr std::size_t kLayers = 12;
std::string_view name_of(Layer layer);

using Layers = std::uint32_t;
constexpr Layers bit(Layer layer) { return Layers{1} << static_cast<unsigned>(layer); }
inline constexpr Layers kAllLayers = (Layers{1} << kLayers) - 1;

struct Spec {
  std::vector<std::string> argv;
  std::vector<std::string> env;  // NAME=VALUE, the whole environment
  std::string cwd;
  Mode mode = Mode::workspace_write;
  Network network = Network::none;
  // The workspace and what else the command may work in, absolute and without symlinks: writable,
  // or read-only in mode read_only.
  std::vector<std::string> roots;
  // Below a root and read-only, there or not; "/" at the end: a folder.
  std::vector<std::string> protect;
  // Folders below a root or roots themselves: read-only but for the names that `written` lists
  // (guarded/names.h), which the supervisor writes for the command. Inner ones after outer ones.
  std::vector<std::string> guarded;
  std::vector<std::string> written;
  std::vector<std::string> hide;  // empty for the command
  // Folders in which the command sees only what they hold when it starts, without what is hidden.
  // Inner ones may be listed beside outer ones.
  std::vector<std::string> frozen;
  // Files that it executes as they were approved (questions/held.h). Their copies stand one after
  // another in the file given with the order, with these sizes. Each path that leads to one: which
  // it is, the path, and its folder as DEVICE:INODE. The links on the way, and where they lead.
  std::vector<std::string> held_sizes;
  std::vector<std::string> held_files, held_paths, held_folders;
  std::vector<std::string> held_links, held_targets;
  std::string cwd_identity;   // DEVICE:INODE of cwd; another folder is refused. Empty: any
  std::string run_folder;     // where spools and the exit record go; made; empty: stdio is ours
  bool tty = false;           // needs a run folder
  bool no_input = false;      // it reads an empty standard input; with a run folder
  bool survive = false;       // outlives the connection that it was started over
  bool apart = false;         // signals of the caller's terminal do not reach it
  bool watch_writes = false;  // attempts to write elsewhere are reported, as advice
  std::uint16_t rows = 24, columns = 80;
  std::uint64_t spool_bytes = 64 << 20;  // of one stream: half of it head, half of it tail
  std::uint64_t processes = 512;
  std::uint64_t open_files = 4'096;
  std::uint64_t file_bytes = 0;     // 0: no limit
  std::uint64_t address_bytes = 0;  // of one process; 0: no limit
  std::uint64_t tmp_bytes = 512 << 20;
  std::uint64_t memory_bytes = 0;    // of all processes together, by cgroup; 0: no limit
  std::vector<std::string> cgroups;  // cgroups in which one for the command may be made
  Layers wanted = kAllLayers;        // tried
  Layers required = 0;               // without one of these nothing runs
};

// Whether there are guarded folders: only the mode workspace_write has them, by its mounts.
inline bool guards(const Spec& spec) {
  return spec.mode == Mode::workspace_write && !spec.guarded.empty() &&
         (spec.wanted & bit(Layer::mount_namespace)) != 0;
}

// As bytes, and back. False: the bytes are not a whole Spec.
std::string encode(const Spec& spec);
bool decode(std::string_view bytes, Spec& spec);

}  // namespace agentrt::launcher
