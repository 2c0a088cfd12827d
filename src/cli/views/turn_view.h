// cli/views/turn_view.h: one turn as a person watches it: events in, text out.
//
// The answer and the notes about it are kept apart: at a terminal they share the screen, and a note
// starts on a line of its own; in a pipe the answer alone is the output. Pure: the view reads no
// clock and writes nothing.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "cli/views/envelope.h"
#include "cli/views/terminal.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

// What became of the turn, as far as its events tell.
enum class Ending { open, completed, failed, cancelled, blocked };

struct TurnEnd {
  Ending ending = Ending::open;
  std::string reason;  // for failed, cancelled and blocked: a sentence without its full stop
  std::string phase;   // for blocked: no_model, restart
  bool needs_person = false;
};

struct TurnText {
  std::string answer;        // for standard output
  std::string notes;         // for standard error
  bool notes_first = false;  // they end a line that the answer must not continue

  bool operator==(const TurnText&) const = default;
};

// Whether answer and notes appear on the same screen.
enum class Layout { together, apart };

class TurnView {
 public:
  struct Style {
    Layout layout = Layout::apart;
    Colour out_colour = Colour::off;
    Colour err_colour = Colour::off;
    bool answer_on_terminal = false;  // then it is made safe to print
  };

  TurnView(TurnId turn, ThreadId thread, Style style)
      : turn_(std::move(turn)), thread_(std::move(thread)), style_(style) {}

  // What to print for `event`; nothing for events of other turns and for those with nothing to say.
  TurnText show(const Envelope& event);
  // True for the events that `run --json` prints.
  bool concerns(const Envelope& event) const;
  // The turn and its task have both ended: nothing more is to come.
  bool settled() const { return end_.ending != Ending::open && task_ended_; }
  const TurnEnd& end() const { return end_; }
  // What the turn waits for.
  const std::optional<schema::ActionSnapshot>& action() const { return action_; }
  // Calls that needed a person where nobody was asked.
  std::size_t unanswered() const { return unanswered_; }
  // A note from the command line itself.
  TurnText note(std::string_view text, Paint how = Paint::dim);

 private:
  void add_note(TurnText& out, std::string_view text, Paint how);
  void add_answer(TurnText& out, std::string_view text, Paint how);
  void end_line(TurnText& out);
  void show_payload(TurnText& out, const Envelope& event, const schema::Payload& payload);
  void show_status(TurnText& out, const schema::RunStatus& status);
  void show_queue(TurnText& out, const schema::QueueChanged& change);
  void show_action(const Envelope& event, const schema::ActionRequired& required);
  void show_answer(TurnText& out, const schema::ActionResolved& resolved);
  void show_failure(TurnText& out, const schema::ModelFailed& failed);
  void show_end(TurnText& out, const Envelope& event, const schema::TurnCompleted& completed);

  TurnId turn_;
  ThreadId thread_;
  Style style_;
  TurnEnd end_;
  bool task_ended_ = false;
  bool line_open_ = false;       // the answer's last line has no end yet
  bool reasoning_open_ = false;  // that line is reasoning
  bool said_model_ = false;
  std::optional<schema::ActionSnapshot> action_;
  std::size_t unanswered_ = 0;
  std::set<ModelRequestId> streamed_;  // requests whose text came in deltas
  std::string not_possible_;           // why no model could be chosen
};

}  // namespace agentrt::cli
