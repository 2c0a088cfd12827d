// launcher/supervisor.h: the process outside that answers for one command.
//
// It spools what the command writes, feeds it, passes on signals, answers for stopped calls,
// records how it ended, and tells all of this to whoever is connected: over the descriptor it was
// born with, and over RUN/control for those that come later. It needs nobody: whatever happens to
// the runtime, the record of the command is whole. When it ends itself, the kernel ends everything
// inside. One thread; only a connect that it makes for the command has one of its own.
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

inline constexpr std::size_t kInputBytesMax = 1 << 20;  // waiting for the command to read it
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
    Fd in, out, err;       // our ends of the command's pipes; unused without a run folder
    Fd control;            // where the runtime is connected
    Layers dropped;        // namespaces that the kernel does not give
    CommandGroups groups;  // made by prepare()
    RootLocks locks;
    HeldFiles held;
  };

  explicit Supervisor(Parts parts);

  // Until the command has ended and is recorded. The exit code for a plain caller.
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
  Fd folder_;  // the run folder, as it was when it was given to us
  Record exit_record_;
  Connections connections_;
  const bool plain_;  // nobody is connected: the command starts at once
  std::string input_;
  bool input_ends_ = false;
  bool going_ = false;
  bool abandoned_ = false;  // the command was ended because nobody was connected
  pid_t command_ = 0;
  Fd command_fd_;
  pid_t left_ = 0;             // killed, and not waited for yet
  std::optional<int> status_;  // of the command
  bool inside_gone_ = false;   // all but init, which does nothing any more
  std::uint64_t violations_ = 0;
  std::vector<std::string> limits_hit_;
  Layers in_force_ = 0;
  std::vector<std::pair<Layer, std::string>> layers_;  // how each is in force, or why not
};

}  // namespace agentrt::launcher
