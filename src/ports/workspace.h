// ports/workspace.h: the ports that read a turn's context before the model request: instruction
// files, attached files and history.
#pragma once

#include <string>
#include <vector>

#include "ports/models.h"
#include "schema/facts/context.h"

namespace agentrt::ports {

// A file with instructions for a particular kind of work. The model reads it when needed. If its
// tools cannot read it, the text is included here.
struct Skill {
  std::string name;
  std::string description;
  std::string path;
  schema::ContextRef ref;
  std::optional<std::string> text;  // absent: the model can read the file itself
};

struct Instructions {
  std::string text;
  std::vector<Skill> skills;
  std::vector<schema::ContextRef> refs;     // sources of the text
  std::vector<schema::ContextRef> omitted;  // did not fit
  std::vector<schema::ContextRef> missing;  // unreadable or invalid
};

// A file or an output that the user attached: an image or document as bytes, anything else as text.
// If both are absent, `ref.reason` says why.
struct GivenFile {
  std::optional<Attachment> attachment;
  std::string text;
  std::string real_path;  // of a file: absolute, symlinks resolved; empty: none was opened
  schema::ContextRef ref;
};

// The git repository of a folder.
struct GitState {
  std::string branch;           // empty: no branch is checked out
  std::string commit;           // that is checked out instead, abbreviated; empty: unknown
  std::optional<bool> changed;  // tracked files have uncommitted changes; absent: not determined
  std::string operation;        // in progress, such as "merge"; empty: none

  bool operator==(const GitState&) const = default;
};

class Workspace {
 public:
  virtual ~Workspace() = default;
  // Reads the instruction files (AGENTS.md, or CLAUDE.md where a folder has none) that apply to the
  // workspace and the headers of its skills. Blocks; called on a Worker.
  virtual Instructions instructions(const std::string& cwd) = 0;
  // The repository that contains the folder; nullopt: there is none. Runs no program. Blocks, for a
  // bounded time; called on a Worker.
  virtual std::optional<GitState> git(const std::string& /*cwd*/) { return std::nullopt; }
  // Reads a file of the workspace. `path` is relative to `cwd` or absolute within it. Blocks;
  // called on a Worker.
  virtual GivenFile given_file(const std::string& cwd, const std::string& path) = 0;
  // Reads an output of the session, with the same limits. Blocks; called on a Worker.
  virtual GivenFile given_output(const SessionId& session, const std::string& ref) = 0;
};

// The input of an earlier turn that named files. The log has their names and digests, and not their
// bytes.
struct EarlierInput {
  Sequence asked = 0;       // of its turn.submitted
  std::size_t message = 0;  // its index in HistoryWindow::messages; that text only names the files
  std::vector<schema::InputPart> input;
  std::vector<schema::ContextRef> files;  // the files that the turn was given, with digests
};

struct HistoryWindow {
  std::vector<Message> messages;         // of earlier turns, oldest first
  std::vector<EarlierInput> with_files;  // oldest first
  std::vector<Message> before;           // messages of the runtime that precede the input
  std::vector<schema::InputPart> input;  // input of the requesting turn
  std::vector<Message> so_far;     // the requesting turn's messages so far, with calls and results
  std::vector<OfferedTool> tools;  // tools it may call; empty until they are resolved
  std::optional<schema::HistoryWindowLoaded> loaded;
  // Set if the first turn of the thread is not in the window: the surroundings that its message,
  // which is the first of `messages` nevertheless, describes.
  std::optional<schema::Surroundings> opened_with;
  std::vector<schema::ContextRef> omitted;  // did not fit, with the reason
  std::size_t bytes = 0;                    // size of messages, before, input and so_far
};

struct HistoryQuery {
  SessionId session;
  ThreadId thread;
  TurnId turn;                           // the requesting turn
  std::optional<std::size_t> bytes_max;  // of all messages; absent: the history's own limit
  // Taken from the view that requests the history; these facts may not be stored yet.
  Sequence up_to = 0;                // last fact of the turn to include; 0: all stored facts
  std::optional<TurnId> last_ended;  // of the thread
  // The context.resolved facts of the thread that have a message, the first of the thread first.
  std::vector<Sequence> told = {};
  // Of an item of a job: the sequence of its turn.submitted. It sees no earlier turns. 0: any other
  // turn, which is found by its index row.
  Sequence alone_from = 0;
};

class History {
 public:
  virtual ~History() = default;
  // The requesting turn and as many earlier turns of its thread as fit; the oldest are dropped
  // first. Blocks; called on a Worker. Errors: unavailable, not_found: the requested facts are not
  // stored.
  virtual Result<HistoryWindow> window(const HistoryQuery& query) = 0;
};

}  // namespace agentrt::ports
