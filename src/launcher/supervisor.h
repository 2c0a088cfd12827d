// launcher/supervisor.h: the process outside the sandbox that runs one command to its end.
//
// It spools the command's output, writes its input, forwards signals, answers seccomp notifications
// and records the exit. It reports all of this to its connections: the one inherited at start, and
// later ones through RUN/control. It works without the runtime, so the record of the command is
// complete even if the runtime dies. When the supervisor ends, the kernel kills everything inside
// the sandbox. Single-threaded, except for errands (questions/errands.h).
#pragma once

#include <sys/types.h>

#include <optional>

#include "launcher/cgroup.h"
#include "launcher/connections.h"
#include "launcher/notify.h"
#include "launcher/placeholders.h"
#include "launcher/records.h"
#include "launcher/spool.h"

namespace agentrt::launcher {

// Bytes of input that the command has not read yet.
inline constexpr std::size_t kInputBytesMax = 1 << 20;
inline constexpr std::size_t kReadBytes = 64 * 1024;

class Supervisor {
 public:
  struct Parts {
    const Spec& spec;
    pid_t init = 0;
    Fd init_fd;
    Fd link;
    Fd exec_pipe;
    Fd gate;
    // The supervisor's ends of the command's pipes; unused without a run folder.
    Fd in, out, err;
    Fd control;            // the first connection, to the runtime
    Layers dropped;        // namespaces that the kernel does not allow
    CommandGroups groups;  // created by prepare()
    RootLocks locks;
    HeldFiles held;
  };

  explicit Supervisor(Parts parts);

  // Returns when the command has ended and its end is recorded. The result is the exit code for a
  // caller without a connection.
  int run();

 private:
  [[noreturn]] void refuse(const std::string& stage, int error);
  void hear_signals();
  void prepare();
  void listen_for_others();
  void one_round();
  void hear_listener(short heard);
  void report(const Violation& violation);
  void hear_inside();
  void hear_exec();
  void check_beginning();
  void take_signals();
  void hear_connection(std::size_t index);
  void take_order(std::string_view order, Connections::Which from);
  void take_input(const std::string& bytes);
  void open_gate();
  void drain(Fd& from, Spool& spool);
  void drain_all();
  void feed();
  void take_layers(std::string_view lines);
  void take_guarded(const Message& message, std::vector<Fd> given);
  void take_descriptors(const Message& message, std::vector<Fd> given);
  void check_layers();
  void say_ready(pid_t command);
  void signal_command(int signal);
  void ended();
  std::string record_of_end() const;
  std::string layers_json() const;

  Parts parts_;
  Spec spec_;
  Spool out_, err_;
  std::vector<Guarded> guarded_;
  Fd listener_, master_, signals_, door_;
  Fd folder_;  // the run folder, opened at start
  Record exit_record_;
  Connections connections_;
  const bool plain_;  // there is no connection: the command starts at once
  std::string input_;
  bool input_ends_ = false;
  bool going_ = false;
  bool abandoned_ = false;  // the supervisor killed the command because its first connection closed
  pid_t command_ = 0;
  Fd command_fd_;
  pid_t left_ = 0;             // a killed process that is not reaped yet; 0: none
  std::optional<int> status_;  // wait status of the command
  // All processes inside have ended, except possibly init, which is idle.
  bool inside_gone_ = false;
  std::uint64_t violations_ = 0;
  std::vector<std::string> limits_hit_;
  Layers in_force_ = 0;
  // How each layer is enforced, or why it is not.
  std::vector<std::pair<Layer, std::string>> layers_;
};

}  // namespace agentrt::launcher
