// ports/processes.h: commands that run in the world, as the engine sees them.
//
// A process is started confined and held at a gate; it is let go only when the fact that it runs is
// stored. Its id names its traces on disk, so that a later boot can find out what became of it;
// they stay until the fact that it ended is stored. One in the background outlives the runtime that
// let it go, and the next one follows it.
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

// The files that an approved command executes, copied: the process gets these bytes, whatever
// stands at their paths by then.
struct HeldFiles {
  struct Path {
    std::size_t file = 0;  // which of the sizes
    std::string path;
    std::string folder;  // that it stands in: DEVICE:INODE
  };
  struct Link {
    std::string path, target;
  };
  std::vector<schema::ExecutedFile> files;  // by the digests of the copies; without one: none
  Descriptor copies;                        // one after another
  std::vector<std::uint64_t> sizes;
  std::vector<Path> paths;   // all that lead to one of them
  std::vector<Link> links;   // on the way
  std::string cwd_identity;  // of the folder that the command runs in
};

struct ProcessRequest {
  ProcessId id;
  std::vector<std::string> argv;
  std::string command;  // as a person reads it
  std::string workspace;
  std::vector<std::string> additional_roots;
  std::optional<std::string> cwd;  // in the workspace; relative to it or absolute
  std::optional<schema::SandboxMode> sandbox;
  bool network = false;
  std::vector<std::string> hidden;  // paths that policy denies
  bool background = false;
  bool tty = false;
  std::shared_ptr<const HeldFiles> held = {};  // by a person's answer
};

// What was heard of a process before; the rest is heard from there on.
struct HeardSoFar {
  bool tty = false;
  std::uint64_t out = 0;
  std::uint64_t err = 0;
};

enum class AfterInput { stays_open, closes };

struct ProcessEnd {
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> signal;
  std::optional<schema::Failure> failure;   // it never ran, or nobody knows how it ended
  bool never_ran = false;                   // and that is certain: it was never let go
  std::string preview;                      // beginning and end of what it wrote
  std::vector<schema::KeptOutput> outputs;  // the whole of it, where that is more
  std::vector<schema::LostOutput> lost;     // what could not be kept of it
};

// What comes of one process. Called on the core, in order; nothing after on_ended.
class ProcessListener {
 public:
  virtual ~ProcessListener() = default;
  virtual void on_ready(const schema::SandboxApplied& sandbox,
                        const schema::ProcessStarted& started) = 0;
  virtual void on_output(schema::ProcessOutput output) = 0;
  virtual void on_violation(schema::SandboxViolation violation) = 0;
  virtual void on_found() = 0;          // by follow()
  virtual void on_input_refused() = 0;  // by write()
  virtual void on_ended(ProcessEnd end) = 0;
};

class Processes {
 public:
  virtual ~Processes() = default;
  // All of these: core only; the listener is never called before they return.
  virtual void start(ProcessRequest request, std::shared_ptr<ProcessListener> listener) = 0;
  // Lets it go.
  virtual void release(const ProcessId& process) = 0;
  // Asks it to end, and ends it when it does not.
  virtual void terminate(const ProcessId& process) = 0;
  // Ends it, if it still runs; its listener hears nothing more.
  virtual void forget(const ProcessId& process) = 0;
  // Its listener hears nothing more; in the background it goes on.
  virtual void leave(const ProcessId& process) = 0;
  // The log has the end that its listener heard: what the process left on disk may go. Until then
  // it stays, so that a later boot can hear the same end.
  virtual void settled(const ProcessId& process) = 0;
  // What became of a process of an earlier boot.
  virtual void find(const ProcessId& process, std::shared_ptr<ProcessListener> listener) = 0;
  // The same for one in the background: where it still runs, it is heard from now on.
  virtual void follow(const ProcessId& process, const HeardSoFar& heard,
                      std::shared_ptr<ProcessListener> listener) = 0;
  // For those in the background. One that has ended takes nothing.
  virtual void write(const ProcessId& process, std::string input, AfterInput after) = 0;
  virtual void resize(const ProcessId& process, std::uint64_t rows, std::uint64_t columns) = 0;

  // What commands of such a request find around them. Blocks; called on a Worker.
  virtual Result<schema::ExecutionEnvironment> environment(const ProcessRequest& request) = 0;
};

}  // namespace agentrt::ports
