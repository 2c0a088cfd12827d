// ports/tools.h: the port to tools that are not commands: the workspace file tools, web_fetch and
// the tools of configured MCP servers.
//
// A call that changes a file announces the change and waits until the log has stored it, as a
// process waits at its start gate. A call to an MCP server may ask the user a question before it
// ends.
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
  // Asks policy why the call may not use a path, or the canonical URL of a redirect; absent: it
  // may. A path is absolute, with symlinks resolved. Any thread.
  std::function<std::optional<schema::Failure>(const std::string& what)> refused;
  // A change that an earlier boot announced for this call. The file's content shows whether it was
  // made.
  std::optional<schema::FileChange> announced;
};

struct ToolEnd {
  std::optional<schema::Failure> failure;   // the tool gave no result
  bool is_error = false;                    // its result is an error
  std::string text;                         // for the model, at most kToolTextBytesMax bytes
  std::vector<schema::KeptOutput> outputs;  // the first holds the full, untruncated text
  std::optional<schema::KeptOutput> structured;
};

// A question that an MCP server asks the user (elicitation).
struct ToolQuestion {
  std::string id;  // unique within the call
  std::string server;
  std::string prompt;
  schema::Json schema;             // JSON schema of the answer, a flat object
  std::optional<std::string> url;  // a page where the user answers instead
};

BOOST_DEFINE_ENUM_CLASS(QuestionAnswer, accept, decline, cancel)

// Receives the events of one call. Called on the core, in order; no call follows on_ended.
class ToolListener {
 public:
  virtual ~ToolListener() = default;
  // The call waits for release() before it makes this change. `diff` is already stored, and so is
  // the old content if the diff does not give it.
  virtual void on_change(schema::FileChange change, schema::KeptOutput diff,
                         std::optional<schema::KeptOutput> previous) = 0;
  virtual void on_progress(std::string text) = 0;
  // `code`: of the fact runtime.warning that records it.
  virtual void on_warning(std::string code, std::string message) = 0;
  virtual void on_question(ToolQuestion question) = 0;
  virtual void on_ended(ToolEnd end) = 0;
};

struct ToolListing {
  std::vector<schema::CatalogTool> tools;  // in addition to the built-in tools
  std::vector<schema::MissingServer> missing;
};

// What objection() may base its answer on. An objection tells the model what exists, so `file` is
// allowed only if the model may read the file without approval; otherwise only the path text is
// used.
enum class Sight { path, file };

// Core only, except objection(). Listeners are never called before the function that starts the
// call returns.
class Tools {
 public:
  virtual ~Tools() = default;
  // Lists the MCP tools for a session in `cwd` with these additional folders. Calls `listing_to` on
  // the core, first within a short bounded time. A server that is still starting then is listed as
  // missing, and `listing_to` is called again when it is ready or has failed.
  virtual void list(const SessionId& session, const std::string& cwd,
                    const std::vector<std::string>& additional_roots,
                    std::move_only_function<void(ToolListing)> listing_to) = 0;
  // Why the call would fail now, so that the user is not asked to approve it in vain. Changes
  // nothing. Reasons that only execution can reveal are not reported. Blocks; called on a Worker.
  virtual std::optional<schema::Failure> objection(const ToolRequest& request, Sight sight) = 0;
  virtual void start(ToolRequest request, std::shared_ptr<ToolListener> listener) = 0;
  // The announced change is stored; the call now makes it.
  virtual void release(const ToolCallId& call) = 0;
  virtual void answer(const ToolCallId& call, const std::string& question, QuestionAnswer answer,
                      std::optional<schema::Json> content) = 0;
  // Cancels the call. Its listener is not called again. Unknown ids are ignored.
  virtual void cancel(const ToolCallId& call) = 0;
};

}  // namespace agentrt::ports
