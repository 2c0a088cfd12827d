// launcher/spec.h: a Spec describes one command and its sandbox. The runtime sends it to the
// launcher.
//
// The runtime writes the Spec into an unnamed file and passes it as descriptor kSpecFd, so that the
// launcher does not expose arguments or environment of the command in process lists. The writer of
// a Spec is trusted; the command is not. This header depends on nothing else in the source tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::launcher {

inline constexpr int kSpecFd = 3;     // the encoded Spec; read from offset 0
inline constexpr int kControlFd = 4;  // SOCK_SEQPACKET: orders in, reports out
// The name of the control socket in the run folder.
inline constexpr const char* kControlName = "control";

// A launcher started with the argument kStay is an origin (origin.h). It receives CopyOrders on
// kControlFd, each with the descriptors of the copy: kSpecFd, kControlFd, the standard streams in
// `streams`, then the copies of held files. An order without descriptors tells it to prepare
// namespaces for the next copy; it sends no reply.
inline constexpr const char* kStay = "stay";
inline constexpr std::size_t kOwnersMax = 16;  // per order; the copy maps further owners itself
struct CopyOrder {
  std::uint32_t streams = 0;  // bit N: standard stream N is sent
  std::uint32_t copies = 0;   // 1: the copies of held files are sent after the streams
  std::uint32_t owners = 0;   // number of entries of `owner`: uid and gid of the owner of a root
  std::uint32_t owner[kOwnersMax][2] = {};
};
struct CopyReply {
  std::int32_t pid = -1;   // the copy, a child of the process that started the origin
  std::int32_t error = 0;  // errno if there is no copy
};

// Under root a command runs as the uid kOuterId, which owns nothing on the machine, and sees itself
// as kInnerId. kOuterId is above the ranges for users, containers (subuid) and systemd.
inline constexpr unsigned kOuterId = 2'000'000'000;
inline constexpr unsigned kInnerId = 1'000;

enum class Mode { read_only, workspace_write, full_access };
// none: only local (Unix) sockets. loopback: a private network namespace with only a loopback
// interface; `none` if the kernel does not allow one. host: the network of the machine.
enum class Network { none, loopback, host };

// The layers of the sandbox. docs/sandbox.md describes what each layer prevents.
enum class Layer {
  user_namespace,
  mount_namespace,
  pid_namespace,
  network_namespace,
  ipc_namespace,
  landlock,
  seccomp,
  notify,  // seccomp notifications to the supervisor, so that attempts are reported
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
  std::vector<std::string> env;  // NAME=VALUE; the complete environment
  std::string cwd;
  Mode mode = Mode::workspace_write;
  Network network = Network::none;
  // The workspace and other folders for the command. Absolute, without symlinks. Writable, except
  // in mode read_only.
  std::vector<std::string> roots;
  // Read-only paths below a root, existing or not. A trailing "/" means a folder.
  std::vector<std::string> protect;
  // Folders that are roots or below one. They are read-only except for the names in `written`
  // (guarded/names.h), which the supervisor writes for the command. Outer folders come first.
  std::vector<std::string> guarded;
  std::vector<std::string> written;
  std::vector<std::string> hide;  // paths that appear empty to the command
  // Folders in which the command sees only the entries that exist when it starts, without hidden
  // ones. May contain a folder and folders inside it.
  std::vector<std::string> frozen;
  // Files that are executed with their approved content (questions/held.h). The copies follow each
  // other in one file, which is sent with the order; `held_sizes` holds their sizes in bytes. For
  // each path to a held file: the index of the file, the path, and its folder as DEVICE:INODE. Then
  // the symlinks on these paths, and their targets.
  std::vector<std::string> held_sizes;
  std::vector<std::string> held_files, held_paths, held_folders;
  std::vector<std::string> held_links, held_targets;
  std::string cwd_identity;  // DEVICE:INODE that cwd must have; empty: any
  // For spools and exit record; created if missing; empty: inherited stdio.
  std::string run_folder;
  bool tty = false;          // run on a pseudo-terminal; needs a run folder
  bool no_input = false;     // standard input is empty; only with a run folder
  bool given_input = false;  // standard input is that of the launcher; only with a run folder
  bool survive = false;      // the command outlives its first connection
  std::uint8_t nice = 0;     // by how much the command gives way to other processes: 0 to 19
  // In a session of its own, out of reach of the caller's terminal signals.
  bool apart = false;
  bool watch_writes = false;  // report attempts to write outside the roots, as advisory violations
  std::uint16_t rows = 24, columns = 80;
  std::uint64_t spool_bytes = 64 << 20;  // per stream; half for the head, half for the tail
  std::uint64_t processes = 512;
  std::uint64_t open_files = 4'096;
  std::uint64_t file_bytes = 0;     // 0: no limit
  std::uint64_t address_bytes = 0;  // per process; 0: no limit
  std::uint64_t tmp_bytes = 512 << 20;
  std::uint64_t memory_bytes = 0;    // for all processes together, by cgroup; 0: no limit
  std::vector<std::string> cgroups;  // parent cgroups in which to create the command's
  Layers wanted = kAllLayers;        // layers to try
  Layers required = 0;               // the command does not start if one of these is missing
};

// Whether folders are guarded. That needs mode workspace_write and the mount namespace.
inline bool guards(const Spec& spec) {
  return spec.mode == Mode::workspace_write && !spec.guarded.empty() &&
         (spec.wanted & bit(Layer::mount_namespace)) != 0;
}

// Conversion to bytes and back. False: the bytes are not a complete Spec.
std::string encode(const Spec& spec);
bool decode(std::string_view bytes, Spec& spec);

}  // namespace agentrt::launcher
