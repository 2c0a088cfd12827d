#include "validate/replay.h"

#include <algorithm>

#include <fmt/format.h>

#include "schema/wire_event.h"
#include "state/index.h"
#include "state/read_models.h"

namespace agentrt::validate {
namespace {

// The members that identify a snapshot: session, thread, sequence.
struct Place {
  SessionId session_id;
  ThreadId thread_id;
  std::optional<Sequence> as_of_sequence;
  std::optional<std::vector<schema::Json>> history;
};
BOOST_DESCRIBE_STRUCT(Place, (), (session_id, thread_id, as_of_sequence, history))

struct NamedTurn {
  TurnId turn_id;
};
BOOST_DESCRIBE_STRUCT(NamedTurn, (), (turn_id))

struct Channels {
  schema::ChannelSummary channel_summary;
};
BOOST_DESCRIBE_STRUCT(Channels, (), (channel_summary))

// Acknowledgements are stored beside the log, and the tasks of peers in index rows: what the stream
// cannot tell is taken from the snapshot.
void take_what_is_beside(const std::string& snapshot, schema::SessionSnapshot& replayed) {
  Channels given;
  if (!schema::from_json(snapshot, given, schema::Unknown::ignore)) return;
  for (schema::ChannelSnapshot& channel : replayed.channel_summary.channels) {
    const auto same = std::ranges::find(given.channel_summary.channels, channel.channel_id,
                                        &schema::ChannelSnapshot::channel_id);
    if (same == given.channel_summary.channels.end()) continue;
    channel.acknowledged_sequence = same->acknowledged_sequence;
    channel.last_seen_at = same->last_seen_at;
    channel.peer_tasks = same->peer_tasks;
    channel.peer_task_count = same->peer_task_count;
  }
}

}  // namespace

Result<Replay> Replay::of(std::string snapshot) {
  TRY(schema::check_json(snapshot));
  Place place;
  TRY(schema::from_json(snapshot, place, schema::Unknown::ignore));
  if (place.session_id.empty())
    return fail(Code::invalid_params,
                "The snapshot has no sessionId; give the reply of get_session or get_thread_read.");
  Replay replay;
  replay.snapshot_ = std::move(snapshot);
  replay.session_ = place.session_id;
  replay.thread_ = place.thread_id;
  replay.as_of_ = place.as_of_sequence;
  replay.view_.id = place.session_id;
  for (const schema::Json& row : place.history.value_or(std::vector<schema::Json>{})) {
    NamedTurn turn;
    TRY(schema::from_json(row.text, turn, schema::Unknown::ignore));
    replay.turns_[turn.turn_id.text()] = "";
  }
  return replay;
}

void Replay::event(std::string_view text) {
  if (!unreadable_.empty()) return;
  const auto event = schema::read_event(text);
  if (event && event->session != session_) return;
  if (event && as_of_ && event->sequence > *as_of_) return;
  const auto fact =
      event ? schema::decode(*event) : Result<schema::Fact>(std::unexpected(event.error()));
  if (!fact) {
    unreadable_ = fmt::format("An event cannot be replayed: {}", fact.error().message);
    return;
  }
  state::fold(view_, *fact);
  if (turns_.empty()) return;
  for (state::ObjectRow& row : state::index(view_, *fact))
    if (const auto turn = turns_.find(row.id); row.kind == "turn" && turn != turns_.end())
      turn->second = std::move(row.record);
}

std::vector<std::string> Replay::differences() const {
  if (!unreadable_.empty()) return {unreadable_};
  if (!view_.exists()) return {fmt::format("the stream has no session {}", session_.text())};
  if (as_of_ && view_.sequence < *as_of_)
    return {fmt::format("the snapshot is as of sequence {}, but the stream ends at {}", *as_of_,
                        view_.sequence)};
  std::vector<std::string> out;
  if (thread_.empty()) {
    schema::SessionSnapshot replayed = state::session_snapshot(view_);
    for (const auto& [id, record] : turns_)
      if (!record.empty()) replayed.history.push_back({record});
    take_what_is_beside(snapshot_, replayed);
    compare_json(snapshot_, schema::to_json(replayed), out);
  } else if (const state::Thread* thread = state::find_thread(view_, thread_)) {
    compare_json(snapshot_, schema::to_json(state::thread_read(view_, *thread)), out);
  } else {
    out.push_back(fmt::format("the stream has no thread {}", thread_.text()));
  }
  return out;
}

}  // namespace agentrt::validate
