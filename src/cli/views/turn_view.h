// cli/views/turn_view.h: renders one turn from its events, for a person who watches it.
//
// A tool call is one line, printed when it has ended; while it runs, doing() describes it for the
// status line. Members missing from events of older or newer runtimes are not shown. Pure: the view
// reads no clock and does no I/O. Fetch the diff named by take_diff() and pass it to show_diff().
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "cli/tasks/child_lines.h"
#include "cli/views/envelope.h"
#include "cli/views/page.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

// The outcome of the turn according to the events seen.
enum class Ending { open, completed, failed, cancelled, blocked };

struct TurnEnd {
  Ending ending = Ending::open;
  std::string reason;  // for failed, cancelled and blocked: a sentence without full stop
  std::string phase;   // for blocked: no_model, restart
  bool needs_person = false;
  std::optional<schema::Category> category{};      // for failed
  std::optional<std::uint64_t> provider_status{};  // of the model request that made it fail
};

// The current activity, and its start.
struct Doing {
  std::string what;
  Timestamp since;
};

// Where a turn is shown. single: alone. conversation: the screen has a status line, so the model
// and the session are not repeated; a plan is shown there and printed once, when the turn ends;
// each call gets a number.
enum class Setting { single, conversation };

// The name of a model where there is little room: a script without its folder.
std::string short_model_name(const std::string& name);

class TurnView {
 public:
  // `calls_before`: of the turns before it; the first call here gets the next number.
  TurnView(TurnId turn, ThreadId thread, PageStyle style, Setting setting = Setting::single,
           std::size_t calls_before = 0)
      : turn_(std::move(turn)),
        thread_(std::move(thread)),
        page_(style),
        setting_(setting),
        calls_before_(calls_before),
        children_(thread_) {}

  // The text to print for `event`; empty for events of other turns and for hidden ones.
  TurnText show(const Envelope& event);
  // The ref of a diff to show next; returned once.
  std::optional<std::string> take_diff() { return std::exchange(diff_ref_, std::nullopt); }
  TurnText show_diff(std::string_view diff);
  // True for the events that `run --json` prints.
  bool concerns(const Envelope& event) const;
  // The turn and its task have both ended: no further events are expected.
  bool settled() const { return end_.ending != Ending::open && task_ended_; }
  const TurnEnd& end() const { return end_; }
  // The open action that the turn waits for, or else one of its subagents; null: none.
  const schema::ActionSnapshot* action() const;
  // The subagents below the thread; a conversation passes them on to the view of the next turn.
  const ChildLines& children() const { return children_; }
  void set_children(ChildLines children) { children_ = std::move(children); }
  // The number of calls that needed a person when none could be asked.
  std::size_t unanswered() const { return unanswered_; }
  // nullopt once the turn has ended, and while it waits for a person.
  std::optional<Doing> doing() const;
  bool line_open() const { return page_.line_open(); }
  void set_width(std::size_t width) { page_.set_width(width); }
  // The number of the call that ended last, counted from 1 across turns.
  std::size_t last_call() const { return calls_before_ + tools_; }
  // A call of the newest message; nullptr: unknown.
  const Call* call(const ToolCallId& id) const;
  // The plan as lines, while it is not printed yet.
  std::string plan() const;
  // Renders a note of the command line itself.
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
  void show_request(const Envelope& event, const schema::ModelRequested& requested);
  void show_not_compacted(const schema::CompactionFailed& failed);
  void show_compacted(const schema::CompactionCompleted& compacted);
  void show_catalog(const schema::ToolCatalogResolved& catalog);
  void start_writing(const Envelope& event, const schema::ItemStarted& started);
  void show_writing(const Envelope& event, const schema::ItemUpdated& updated);
  void start_call(const Envelope& event, const schema::ToolStarted& started);
  void note_sandbox(const Envelope& event, const schema::SandboxApplied& applied);
  void show_failed(const schema::TurnFailed& failed);
  void show_end(const Envelope& event, const schema::TurnCompleted& completed);
  void end_call(Call& call);
  void print_plan();

  TurnId turn_;
  ThreadId thread_;
  Page page_;
  Setting setting_;
  std::size_t calls_before_;
  std::string plan_;  // the arguments of the newest update_plan; empty: none, or printed
  TurnEnd end_;
  bool turn_ended_ = false;
  bool task_ended_ = false;                       // or it waits for something else than this turn
  std::string model_;                             // the model requested last
  std::optional<std::uint64_t> provider_status_;  // of the newest request, if it failed
  std::optional<schema::ActionSnapshot> action_;
  ChildLines children_;
  std::optional<std::string> user_;  // that commands outside the sandbox run as
  std::size_t unanswered_ = 0;
  std::set<ModelRequestId> streamed_;     // requests whose text arrived in deltas
  std::string not_possible_;              // why no model could be selected
  std::vector<std::string> not_trusted_;  // ignored requests of untrusted files, until reported
  std::map<ToolCallId, Call> calls_;      // of the newest message
  std::size_t tools_ = 0;                 // calls that ended
  Doing doing_;                           // when no call is running
  // The tools of calls that the model is still writing, by call.
  std::map<ToolCallId, std::string> writing_;
  std::optional<std::string> diff_ref_;
};

}  // namespace agentrt::cli
