// cli/chat/conversation.h: one thread of a session as a conversation, from its events.
//
// take() returns the lines to put on the screen for an event; the other functions describe the
// current state, which the frame below the conversation shows. Everything kept is bounded. Pure: no
// clock, no I/O.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/views/turn_view.h"

namespace agentrt::cli {

struct Queued {
  TurnId turn;
  std::string text;
};

// An ended call, as /output shows it.
struct CallOutput {
  std::string title;
  Sequence ended = 0;  // of its tool.result or tool.failed, which has the output
};

struct ChangedFile {
  std::string path;
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
  std::vector<std::string> diffs;  // refs, oldest first
};

struct Tokens {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::uint64_t cached = 0;
};

class Conversation {
 public:
  static constexpr std::size_t kOutputsMax = 10'000;
  static constexpr std::size_t kTitleBytesMax = 500;  // of an ended call
  static constexpr std::size_t kFilesMax = 2'000;
  static constexpr std::size_t kDiffsPerFileMax = 200;  // the newest
  static constexpr std::size_t kTailLines = 4;          // of the output of a running command
  static constexpr std::size_t kTailBytesMax = std::size_t{4} * 1024;
  static constexpr std::size_t kMessageLinesMax = 12;  // of a message, in the conversation

  Conversation(ThreadId thread, PageStyle style) : thread_(std::move(thread)), style_(style) {}

  // The text for the screen; complete lines, except that the last line of an answer may be open.
  std::string take(const Envelope& event);
  // An event that is not shown, before those that are. Those of other types than recalled_types()
  // are not needed.
  void recall(const Envelope& event);
  static std::vector<std::string> recalled_types();
  // The ref of a diff to show next, returned once; pass its text to show_diff().
  std::optional<std::string> take_diff();
  std::string show_diff(std::string_view diff);
  void set_width(std::size_t width);

  // The turn that runs, waits or is blocked.
  const std::optional<TurnId>& active() const { return active_; }
  // Whether it is blocked: it waits for /continue. The reason; empty: it is not blocked.
  std::string blocked() const;
  bool blocked_for_model() const;
  // The question that it waits for, or else one of its subagents, also after the turn; null: none.
  const schema::ActionSnapshot* question() const;
  // A call that the model is writing counts first: "write src/a.cc · 12 KiB".
  std::optional<Doing> doing() const;
  const std::vector<Queued>& queue() const { return queue_; }
  // Lines about what is running: the end of its output, and the plan.
  std::vector<std::string> running() const;

  // Facts for the status line.
  const std::string& model_name() const { return model_name_; }  // empty: none used yet
  const std::string& model() const { return model_; }            // as the provider calls it
  const std::map<std::string, Tokens>& tokens() const { return tokens_; }  // per model_name
  std::uint64_t context_tokens() const { return context_tokens_; }         // of the newest request
  // Counts changes of the policy; the caller reads the mode again when it has changed.
  std::size_t policy_changes() const { return policy_changes_; }
  const std::optional<std::string>& title() const { return title_; }

  const CallOutput* output(std::size_t number) const;
  std::size_t last_output() const { return calls_; }
  // The files that the session changed, in all its threads.
  const std::vector<ChangedFile>& files() const { return files_; }
  std::size_t files_omitted() const { return files_omitted_; }  // changes beyond kFilesMax

 private:
  void see(const Envelope& event, const schema::Payload& payload, std::string& out);
  void begin_turn(const Envelope& event, std::string& out);
  void end_turn(const Envelope& event, std::string& out);
  void add_queued(Queued queued);
  void change_queue(const schema::QueueChanged& change);
  void add_tokens(const std::string& model, const schema::Usage& usage);
  void note_output(const Envelope& event, const schema::ProcessOutput& output);
  void note_change(const schema::FileChange& change);
  void note_item(const Envelope& event);
  void keep_output(const Envelope& event);
  std::string message_text(const TurnId& turn) const;
  std::string noted(std::string_view text, Paint how);

  ThreadId thread_;
  PageStyle style_;
  std::optional<TurnId> active_;
  std::optional<TurnView> view_;          // of the active turn, or of the one that ended last
  std::map<TurnId, std::string> inputs_;  // of turns that have not started
  std::vector<Queued> queue_;
  std::string blocked_shown_;                // the reason that was printed
  std::map<ToolCallId, std::string> tails_;  // of running commands
  struct Writing {
    std::string tool;
    std::string preview;
    std::uint64_t bytes = 0;
    Timestamp since;
  };
  std::optional<Writing> writing_;  // the call that the model is writing
  std::deque<CallOutput> outputs_;
  std::size_t calls_ = 0;
  std::vector<ChangedFile> files_;
  std::size_t files_omitted_ = 0;
  std::string model_name_;
  std::string model_;
  std::map<std::string, Tokens> tokens_;
  std::uint64_t context_tokens_ = 0;
  std::size_t policy_changes_ = 0;
  std::optional<std::string> title_;
  bool said_something_ = false;
};

// "write src/a.cc · 12 KiB": a call of which `bytes` of its arguments are written so far.
// `preview`: the beginning of them, as text.
std::string writing_text(std::string_view tool, std::string_view preview, std::uint64_t bytes);

// What a person wrote, from the parts of a turn's input.
std::string input_text(const std::vector<schema::InputPart>& input);

}  // namespace agentrt::cli
