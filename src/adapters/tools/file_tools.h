// adapters/tools/file_tools.h: the file tools: read_file, write_file, edit_file, list_files,
// search_files, and restore_file of the runtime. Implements part of ports::Tools; the router asks
// serves().
//
// Blocking work runs on the worker, several calls in parallel if it has several threads. Listeners
// are called on the core. A call that changes a file first computes the change and announces it
// with its diff; it makes the change after release() confirms that the log has stored it. A call
// that an earlier boot announced checks the file: the change was made, is still to be made, or
// another program changed the file.
//
// Core only, except objection() and the steps on the worker. Those use only their own call and the
// parts.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "adapters/tools/process_text.h"
#include "base/result.h"
#include "policy/redaction.h"
#include "ports/file_digests.h"
#include "ports/loop.h"
#include "ports/outputs.h"
#include "ports/tools.h"
#include "schema/sandbox.h"

namespace agentrt::adapters::tools {

struct Found;
struct StagedChange;

class FileTools final : public ports::FileDigests {
 public:
  struct Parts {
    ports::Loop& loop;
    ports::Worker& worker;  // must not be the worker that serves `outputs`: calls wait for it
    ports::OutputKeeper& keeper;
    ports::Outputs& outputs;
    const policy::Redactor* redactor = nullptr;
    // The sandbox profile of a command in the call's session. Its hidden and protected paths also
    // apply to file tools. May read the disk; called on the worker.
    std::function<Result<schema::SandboxProfile>(const ports::ToolRequest&)> profile;
    // The text of the user's global git excludes (adapters/files/git_excludes.h). Called on the
    // worker, with the rights of the call. Empty: there are none.
    std::function<std::string()> git_excludes = {};
    FindProcess process = {};
  };

  explicit FileTools(Parts parts) : parts_(std::move(parts)) {}
  ~FileTools() override { stop(); }

  static bool serves(std::string_view tool);

  // Why the call would be refused given the current files. The call itself repeats the same checks.
  // Blocks; any thread.
  std::optional<schema::Failure> objection(const ports::ToolRequest& request,
                                           ports::Sight sight) const;
  // Blocks; on a worker other than `worker` and that of `outputs`.
  std::vector<ports::FileDigest> digests(const ports::FileDigestQuery& query) override;
  void start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener);
  void release(const ToolCallId& call);
  void cancel(const ToolCallId& call);
  // Cancels every call. Steps running on the worker end soon after.
  void stop();

 private:
  struct Call;
  // What was stored about a change.
  struct KeptTexts {
    schema::KeptOutput diff;
    std::optional<schema::KeptOutput> previous;
  };
  using CallPtr = std::shared_ptr<Call>;

  void run(const CallPtr& call, void (FileTools::*step)(const CallPtr&));
  // These run on the worker.
  void begin(const CallPtr& call);
  void take_up(const CallPtr& call);
  void make(const CallPtr& call);
  ports::ToolEnd result_of(Found found) const;
  Result<KeptTexts> keep_texts(const StagedChange& staged) const;
  // Both post to the core.
  void announce(const CallPtr& call, KeptTexts kept);
  void end(const CallPtr& call, ports::ToolEnd end);

  Parts parts_;
  std::unordered_map<ToolCallId, CallPtr> calls_;
  std::mutex placing_;  // serializes the final check and replacement of files
};

}  // namespace agentrt::adapters::tools
