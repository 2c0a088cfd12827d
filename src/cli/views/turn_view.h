// cli/views/turn_view.h: one turn as a person watches it: events in, text out.
//
// A call of a tool is one line, printed when it has ended; while it runs, doing() says so for the
// line below everything else. Of an event that an older or newer runtime wrote, what is not there
// is not shown. Pure: the view reads no clock and writes nothing; a diff that it wants to show is
// asked for with take_diff() and given with show_diff().
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "cli/views/envelope.h"
#include "cli/views/page.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

// What became of the turn, as far as its events tell.
enum class Ending { open, completed, failed, cancelled, blocked };

struct TurnEnd {
  Ending ending = Ending::open;
  std::string reason;  // for failed, cancelled and blocked: a sentence without its full stop
  std::string phase;   // for blocked: no_model, restart
  bool needs_person = false;
  std::optional<schema::Category> category{};  // for failed
};

// What is under way, and since when.
struct Doing {
  std::string what;
  Timestamp since;
};

class TurnView {
 public:
  TurnView(TurnId turn, ThreadId thread, PageStyle style)
      : turn_(std::move(turn)), thread_(std::move(thread)), page_(style) {}

  // What to print for `event`; nothing for events of other turns and for those with nothing to say.
  TurnText show(const Envelope& event);
  // The ref of a diff that should be shown next, once.
  std::optional<std::string> take_diff() { return std::exchange(diff_ref_, std::nullopt); }
  TurnText show_diff(std::string_view diff);
  // True for the events that `run --json` prints.
  bool concerns(const Envelope& event) const;
  // The turn and its task have both ended: nothing more is to come.
  bool settled() const { return end_.ending != Ending::open && task_ended_; }
  const TurnEnd& end() const { return end_; }
  // What the turn waits for.
  const std::optional<schema::ActionSnapshot>& action() const { return action_; }
  // Calls that needed a person where nobody was asked.
  std::size_t unanswered() const { return unanswered_; }
  // Nothing once the turn has ended, and while it waits for a person.
  std::optional<Doing> doing() const;
  bool line_open() const { return page_.line_open(); }
  void set_width(std::size_t width) { page_.set_width(width); }
  // A note from the command line itself.
  TurnText note(std::string_view text, Paint how = Paint::dim);

 private:
  void show_payload(const Envelope& event, const schema::Payload& payload);
  void show_status(const Envelope& event, const schema::RunStatus& status);
  void show_queue(const schema::QueueChanged& change);
  void show_action(const Envelope& event, const schema::ActionRequired& required);
  void show_answer(const schema::ActionResolved& resolved);
  void show_message(const Envelope& event, const schema::ModelCompleted& completed);
  void show_failure(const Envelope& event, const schema::ModelFailed& failed);
  void show_result(const Envelope& event, const schema::ToolResult& result);
  void show_refusal(const Envelope& event, const schema::ToolFailed& failed);
  void show_context(const schema::ContextResolved& context);
  void show_catalog(const schema::ToolCatalogResolved& catalog);
  void start_call(const Envelope& event, const schema::ToolStarted& started);
  void show_failed(const schema::TurnFailed& failed);
  void show_end(const Envelope& event, const schema::TurnCompleted& completed);

  TurnId turn_;
  ThreadId thread_;
  Page page_;
  TurnEnd end_;
  bool task_ended_ = false;
  std::string model_;  // that was asked last
  std::optional<schema::ActionSnapshot> action_;
  std::size_t unanswered_ = 0;
  std::set<ModelRequestId> streamed_;     // requests whose text came in deltas
  std::string not_possible_;              // why no model could be chosen
  std::vector<std::string> not_trusted_;  // what files ask for in vain, until it is told
  std::map<ToolCallId, Call> calls_;      // of the newest message
  std::size_t tools_ = 0;                 // calls that ended
  Doing doing_;                           // beside calls
  std::optional<std::string> diff_ref_;
};

}  // namespace agentrt::cli
