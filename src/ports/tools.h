// ports/tools.h: tools that are no commands, as the engine sees them: the files of the workspace,
// and the tools of servers that somebody configured.
//
// A call that changes a file announces the change and waits until the log has it, as a process
// waits at its gate. A call of a server may ask a person something on its way.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/file_tools.h"
#include "schema/outputs.h"
#include "schema/tools.h"

namespace agentrt::ports {

struct ToolRequest {
  SessionId session;
  ToolCallId call;
  std::string tool;
  schema::Json args;
  std::string workspace;
  std::vector<std::string> additional_roots;
  schema::SandboxMode sandbox = schema::SandboxMode::workspace_write;
  std::vector<std::string> hidden;  // paths that policy denies
  // Policy's word about where a path really leads, absolute: why the call may not use it. Any
  // thread.
  std::function<std::optional<schema::Failure>(const std::string& real_path)> refused;
  // The change that an earlier boot announced for this call: the file says whether it was made.
  std::optional<schema::FileChange> announced;
};

struct ToolEnd {
  std::optional<schema::Failure> failure;   // the tool gave no result
  bool is_error = false;                    // its result is an error
  std::string text;                         // for the model, at most kToolTextBytesMax
  std::vector<schema::KeptOutput> outputs;  // the first is the whole of what `text` begins
  std::optional<schema::KeptOutput> structured;
};

// A question of a server, for a person.
struct ToolQuestion {
  std::string id;  // of the question, within the call
  std::string server;
  std::string prompt;
  schema::Json schema;             // of the answer, a flat object
  std::optional<std::string> url;  // instead of an answer here: where to go
};

BOOST_DEFINE_ENUM_CLASS(QuestionAnswer, accept, decline, cancel)

// What comes of one call. Called on the core, in order; nothing after on_ended.
class ToolListener {
 public:
  virtual ~ToolListener() = default;
  // The call waits until release() to make this change. `diff` is kept already.
  virtual void on_change(schema::FileChange change, schema::KeptOutput diff) = 0;
  virtual void on_progress(std::string text) = 0;
  virtual void on_question(ToolQuestion question) = 0;
  virtual void on_ended(ToolEnd end) = 0;
};

struct ToolListing {
  std::vector<schema::CatalogTool> tools;  // beside the runtime's own
  std::vector<schema::MissingServer> missing;
};

// What an objection may be drawn from, since it tells the model what is there: the letters of the
// path, or also the file, which the model may read unasked.
enum class Sight { path, file };

// Core only, but for objection(); listeners are never called before the call that starts them
// returns.
class Tools {
 public:
  virtual ~Tools() = default;
  // The tools of servers, for a session in `cwd` with these folders beside it. Answers once, on the
  // core, within a bounded time.
  virtual void list(const SessionId& session, const std::string& cwd,
                    const std::vector<std::string>& additional_roots,
                    std::move_only_function<void(ToolListing)> listing_to) = 0;
  // Why the call would be refused as things stand, so that no person is asked about it in vain.
  // Changes nothing; what is known only later is no objection. Blocks; called on a Worker.
  virtual std::optional<schema::Failure> objection(const ToolRequest& request, Sight sight) = 0;
  virtual void start(ToolRequest request, std::shared_ptr<ToolListener> listener) = 0;
  // The change is stored: make it.
  virtual void release(const ToolCallId& call) = 0;
  virtual void answer(const ToolCallId& call, const std::string& question, QuestionAnswer answer,
                      std::optional<schema::Json> content) = 0;
  // Ends the call; its listener hears nothing more. Unknown ones are ignored.
  virtual void cancel(const ToolCallId& call) = 0;
};

}  // namespace agentrt::ports
