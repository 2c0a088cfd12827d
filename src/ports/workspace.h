// ports/workspace.h: the ports that read a turn's context before the model request: instruction
// files, attached files and history.
#pragma once

#include <string>
#include <vector>

#include "ports/models.h"
#include "schema/facts/context.h"
#include "schema/rollback.h"

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

// A part of the instructions, as the model gets it.
struct InstructionText {
  schema::ContextRef ref;
  std::string text;
};

struct Instructions {
  std::vector<InstructionText> files;  // the closest to the workspace last
  std::vector<Skill> skills;
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

// The conversation of a thread up to and with the requesting turn.
struct HistoryWindow {
  std::vector<Message> messages;         // oldest first
  std::size_t own = 0;                   // index of the first message of the requesting turn
  std::optional<std::size_t> question;   // index of its input; absent: a summary contains it
  std::vector<schema::InputPart> input;  // of the requesting turn
  bool answered = false;               // a model has answered it: its files stay as they were sent
  std::vector<OfferedTool> tools;      // of HistoryQuery::catalog
  std::optional<Message> summary;      // of HistoryQuery::summary
  Sequence own_started = 0;            // the turn.started of the requesting turn
  std::vector<std::size_t> questions;  // indexes of the users' inputs
  std::optional<schema::HistoryWindowLoaded> loaded;
  Sequence omitted_through = 0;   // of the query, or more, so that the window fits
  std::size_t turns_omitted = 0;  // by that
  std::size_t bytes = 0;          // of all messages, as the estimate of tokens counts them
  std::size_t own_bytes = 0;      // of those of the requesting turn
  // Of what precedes the requesting turn (conversation/messages/turn_digest.h); empty: nothing.
  std::string history_digest;
};

struct HistoryQuery {
  // A part of another thread that precedes this one.
  struct Part {
    SessionId session;
    ThreadId thread;
    Sequence up_to = 0;
  };
  SessionId session;
  ThreadId thread;
  TurnId turn;             // the requesting turn
  Sequence submitted = 0;  // of its turn.submitted
  // Taken from the view that requests the history; these facts may not be stored yet.
  Sequence up_to = 0;                // last fact to include
  Sequence omitted_through = 0;      // turns that ended at or before it are not sent
  Sequence catalog = 0;              // the tool.catalog.resolved with the tools; 0: none are needed
  bool alone = false;                // an item of a job: it sees no earlier turns
  std::vector<Part> inherited = {};  // oldest first
  // The part of the conversation up to fact `covered_through` of session `covered_in` is replaced
  // by the continuation, an output of that session.
  SessionId covered_in = {};
  Sequence covered_through = 0;
  std::string continuation_ref = {};  // empty: nothing is replaced
  Sequence rolled_back = 0;  // the newest history.rollback.completed of the thread; 0: none
  Sequence summary = 0;      // a model.completed whose text the window returns; 0: none
  // Omit the oldest turns if all messages have more bytes than this.
  std::optional<std::size_t> fit_bytes = {};
};

// The files whose changes within a range a turn undoes.
struct RestoreQuery {
  SessionId session;
  ThreadId thread;
  schema::RestoreRange range;
  std::uint64_t skip = 0;  // files before these, in the order of their paths
  std::size_t max = 0;
};

class History {
 public:
  virtual ~History() = default;
  // The next files that can be restored, as the log says. Blocks; called on a Worker. Errors:
  // unavailable; limit_exceeded: too many changes; internal: the log is damaged.
  virtual Result<std::vector<schema::FileRestore>> restores(const RestoreQuery& /*query*/) {
    return fail(Code::unavailable, "this runtime restores no files");
  }
  // Blocks; called on a Worker. Costs what is new since the last call for the thread, unless its
  // conversation was dropped from memory. Errors: unavailable, not_found: the requested facts are
  // not stored; internal: the log is damaged.
  virtual Result<HistoryWindow> window(const HistoryQuery& query) = 0;
};

}  // namespace agentrt::ports
