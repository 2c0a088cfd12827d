// ports/processes.h: the port that runs commands as processes.
//
// A process is started in its sandbox and waits at a gate. It is released when the fact that it
// runs is stored. Its id names its files on disk, by which a later boot can find out how it ended;
// they stay until the fact that it ended is stored. A background process outlives the runtime that
// released it, and the next runtime follows it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/result.h"
#include "schema/environment.h"
#include "schema/facts/permission.h"
#include "schema/facts/process.h"
#include "schema/outputs.h"
#include "schema/reports.h"

namespace agentrt::ports {

// Copies of the files that an approved command executes. The process gets these bytes, even if the
// files have changed since.
struct HeldFiles {
  struct Path {
    std::size_t file = 0;  // index in `sizes`
    std::string path;
    std::string folder;  // DEVICE:INODE of its folder
  };
  struct Link {
    std::string path, target;
  };
  std::vector<schema::ExecutedFile> files;  // with the digest of each copy; no digest: not copied
  Descriptor copies;                        // one file with all copies in sequence
  std::vector<std::uint64_t> sizes;
  std::vector<Path> paths;   // all paths that lead to one of the files
  std::vector<Link> links;   // symlinks on these paths
  std::string cwd_identity;  // DEVICE:INODE of the working directory
};

// A part of a stored output (ports/job_inputs.h).
struct StoredInput {
  std::string ref;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct ProcessRequest {
  ProcessId id;
  TurnId turn;  // whose environment it gets; the id of the job for its items
  std::vector<std::string> argv;
  std::string command;  // for display
  std::string workspace;
  std::vector<std::string> additional_roots;
  std::optional<std::string> cwd;  // inside the workspace; relative to it or absolute
  std::optional<schema::SandboxMode> sandbox;
  bool network = false;
  std::vector<std::string> hidden;  // paths that policy denies
  // The only folders to write in, of those that the sandbox makes writable; absent: all of them.
  std::optional<std::vector<std::string>> write_roots = {};
  bool background = false;
  bool tty = false;
  // Standard input: these bytes, a newline and the end of the file. Only in the foreground and
  // without a terminal. Absent: standard input is empty.
  std::optional<StoredInput> input = {};
  std::shared_ptr<const HeldFiles> held = {};  // set if a user's approval is bound to these files
};

// What was already received from a process; the rest follows from these offsets.
struct ReceivedSoFar {
  bool tty = false;
  std::uint64_t out = 0;
  std::uint64_t err = 0;
};

enum class AfterInput { stays_open, closes };

struct ProcessEnd {
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;
  std::optional<schema::Failure> failure;   // it never ran, or its end is unknown
  bool never_ran = false;                   // certainly never released
  std::string preview;                      // beginning and end of its output
  std::vector<schema::KeptOutput> outputs;  // the complete output, if it exceeds the preview
  std::vector<schema::LostOutput> lost;     // output that could not be stored
};

// Receives the events of one process. Called on the core, in order; on_ended is the last call.
class ProcessListener {
 public:
  virtual ~ProcessListener() = default;
  virtual void on_ready(const schema::SandboxApplied& sandbox,
                        const schema::ProcessStarted& started) = 0;
  virtual void on_output(schema::ProcessOutput output) = 0;
  virtual void on_violation(schema::SandboxViolation violation) = 0;
  virtual void on_found() = 0;          // follow() found it running
  virtual void on_input_refused() = 0;  // write() was refused
  virtual void on_ended(ProcessEnd end) = 0;
};

class Processes {
 public:
  virtual ~Processes() = default;
  // All functions: core only. The listener is never called before they return.
  virtual void start(ProcessRequest request, std::shared_ptr<ProcessListener> listener) = 0;
  // Opens the gate.
  virtual void release(const ProcessId& process) = 0;
  // Sends SIGTERM, and SIGKILL after a grace period.
  virtual void terminate(const ProcessId& process) = 0;
  // Kills it if it still runs. Its listener is not called again.
  virtual void forget(const ProcessId& process) = 0;
  // Its listener is not called again. A background process keeps running.
  virtual void leave(const ProcessId& process) = 0;
  // The log has stored the end that was reported, so the process's files may be removed. They stay
  // until then, so that a later boot can report the same end.
  virtual void settled(const ProcessId& process) = 0;
  // Reports how a process of an earlier boot ended.
  virtual void find(const ProcessId& process, std::shared_ptr<ProcessListener> listener) = 0;
  // The same for a background process. If it still runs, its further events are reported too.
  virtual void follow(const ProcessId& process, const ReceivedSoFar& heard,
                      std::shared_ptr<ProcessListener> listener) = 0;
  // For background processes. Ignored if the process has ended.
  virtual void write(const ProcessId& process, std::string input, AfterInput after) = 0;
  virtual void resize(const ProcessId& process, std::uint64_t rows, std::uint64_t columns) = 0;

  // Describes the environment in which commands of this request run. Blocks; called on a Worker.
  virtual Result<schema::ExecutionEnvironment> environment(const ProcessRequest& request) = 0;
};

}  // namespace agentrt::ports
