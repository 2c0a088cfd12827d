// ports/workspace.h: what a turn reads before a model is asked: instruction files and history.
#pragma once

#include <string>
#include <vector>

#include "ports/models.h"
#include "schema/facts/context.h"

namespace agentrt::ports {

// A file with instructions for particular work. The model reads it when it needs it; where its
// tools cannot, it is told the text at once.
struct Skill {
  std::string name;
  std::string description;
  std::string path;
  schema::ContextRef ref;
  std::optional<std::string> text;  // absent: the model can read the file
};

struct Instructions {
  std::string text;
  std::vector<Skill> skills;
  std::vector<schema::ContextRef> refs;     // of the text
  std::vector<schema::ContextRef> omitted;  // what did not fit
  std::vector<schema::ContextRef> missing;  // what cannot be used
};

// A file that a person gave with the question: an image or a document as it is, any other text as
// text. `ref.reason` says why neither is there.
struct GivenFile {
  std::optional<Attachment> attachment;
  std::string text;
  std::string real_path;  // where the path leads, absolute; empty: nothing was opened
  schema::ContextRef ref;
};

class Workspace {
 public:
  virtual ~Workspace() = default;
  // Reads the AGENTS.md files that speak for the workspace, and the heads of its skills. Blocks;
  // called on a Worker.
  virtual Instructions instructions(const std::string& cwd) = 0;
  // Reads a file of the workspace; `path` is relative to it or lies in it. Blocks; called on a
  // Worker.
  virtual GivenFile given_file(const std::string& cwd, const std::string& path) = 0;
};

struct HistoryWindow {
  std::vector<Message> messages;         // of earlier turns, oldest first
  std::vector<schema::InputPart> input;  // what the turn that asks was given
  std::vector<Message> so_far;           // what it has been answered since, with calls and results
  std::vector<OfferedTool> tools;        // that it may call; none before that is resolved
  std::optional<schema::HistoryWindowLoaded> loaded;
  std::vector<schema::ContextRef> omitted;  // what did not fit, and why
};

struct HistoryQuery {
  SessionId session;
  ThreadId thread;
  TurnId turn;                           // the one that asks
  std::optional<std::size_t> bytes_max;  // of all messages; absent: a limit of the history's own
  // What the view knows that calls for this; it may not be stored yet.
  Sequence up_to = 0;                // of the turn's own facts; 0: all that are stored
  std::optional<TurnId> last_ended;  // of the thread
};

class History {
 public:
  virtual ~History() = default;
  // The turn that asks, and those of its thread before it, as far as they fit: the newest first.
  // Blocks; called on a Worker. unavailable, not_found: what is asked for is not stored.
  virtual Result<HistoryWindow> window(const HistoryQuery& query) = 0;
};

}  // namespace agentrt::ports
