// adapters/tools/file_tools.h: the tools that work on files: read_file, write_file, edit_file,
// list_files, search_files. One part of ports::Tools; who routes calls asks serves().
//
// Whatever blocks runs on the worker, several calls side by side where it has several threads; the
// listener is called on the core. A change is worked out first and announced with its diff; it is
// made when release() says that the log has it. A call that an earlier boot announced looks at the
// file: the change was made, is still to be made, or somebody else has been there.
//
// Core only, but for objection() and what runs on the worker, which use nothing but their own call
// and the parts.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "base/result.h"
#include "policy/redaction.h"
#include "ports/loop.h"
#include "ports/outputs.h"
#include "ports/tools.h"
#include "schema/sandbox.h"

namespace agentrt::adapters::tools {

class FileTools {
 public:
  struct Parts {
    ports::Loop& loop;
    ports::Worker& worker;  // not the one that serves `outputs`: a call waits for those
    ports::OutputKeeper& keeper;
    ports::Outputs& outputs;
    const policy::Redactor* redactor = nullptr;
    // What a command of the call's session may see and touch; may look at the disk. Called on the
    // worker. What is hidden and protected there is so for files too.
    std::function<Result<schema::SandboxProfile>(const ports::ToolRequest&)> profile;
  };

  explicit FileTools(Parts parts) : parts_(std::move(parts)) {}
  ~FileTools() { stop(); }

  static bool serves(std::string_view tool);

  // Why the call would be refused as the files stand: the same checks that it will meet again when
  // it is made. Blocks; any thread.
  std::optional<schema::Failure> objection(const ports::ToolRequest& request,
                                           ports::Sight sight) const;
  void start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener);
  void release(const ToolCallId& call);
  void cancel(const ToolCallId& call);
  // Cancels every call: what runs on the worker ends soon.
  void stop();

 private:
  struct Call;
  using CallPtr = std::shared_ptr<Call>;

  void run(const CallPtr& call, void (FileTools::*step)(const CallPtr&));
  // On the worker.
  void begin(const CallPtr& call);
  void take_up(const CallPtr& call);
  void make(const CallPtr& call);
  // Both hand over to the core.
  void announce(const CallPtr& call, schema::KeptOutput diff);
  void end(const CallPtr& call, ports::ToolEnd end);

  Parts parts_;
  std::unordered_map<ToolCallId, CallPtr> calls_;
  std::mutex placing_;  // one change at a time looks at its file and replaces it
};

}  // namespace agentrt::adapters::tools
