#include "validate/turn_rules.h"

#include <algorithm>

namespace agentrt::validate {

using namespace schema;

namespace {

bool contains(const std::vector<Key>& keys, Key key) {
  return std::ranges::find(keys, key) != keys.end();
}

bool in_family(std::string_view type, std::string_view family) {
  return type.starts_with(family) && type.size() > family.size() && type[family.size()] == '.';
}

// Whether only a running turn can cause an event of this type.
bool is_work(std::string_view type) {
  static constexpr std::string_view kFamilies[] = {"model", "reasoning", "item", "tool", "action"};
  return type != "tool.catalog.resolved" && type != "action.resolved" &&
         (in_family(type, "context.compaction") ||
          std::ranges::any_of(kFamilies, [&](auto family) { return in_family(type, family); }));
}

// Whether events of this type must precede the turn's end, unlike processes, tasks, queues and
// costs.
bool is_of_open_turn(std::string_view type) {
  static constexpr std::string_view kFamilies[] = {"turn", "run", "context", "routing",
                                                   "permission"};
  return is_work(type) || type == "tool.catalog.resolved" ||
         std::ranges::any_of(kFamilies, [&](auto family) { return in_family(type, family); });
}

// The task of a turn is created just before the turn.
bool may_precede_turn(std::string_view type) {
  return type == TurnSubmitted::kType || type == TaskCreated::kType ||
         type == TaskAccepted::kType || type == TaskQueued::kType;
}

bool is_long_output(std::string_view type) {
  return type == ModelDelta::kType || type == ReasoningDelta::kType || type == "tool.progress" ||
         type == "process.output" || type == "tool.result" || type == ModelCompleted::kType;
}

}  // namespace

const JudgedTurn* TurnRules::turn_of_event() const {
  const std::string& id = hearing_.head().turn_id;
  return id.empty() ? nullptr : turns_.find(hearing_.key(id));
}

void TurnRules::any() {
  session_first();
  thread_first();
  turn_first();
}

void TurnRules::session_first() {
  Session& session = sessions_.at(hearing_.session);
  if (session.known) return;
  session.known = true;
  ++sessions_seen_;
  const Head& head = hearing_.head();
  if (head.type != SessionCreated::kType && head.session_id != kSystemSession && !hearing_.partial)
    hearing_.fail("session.first", fmt::format("the first event of the session is {}", head.type));
}

void TurnRules::thread_first() {
  const Head& head = hearing_.head();
  if (head.thread_id.empty() || head.type == ThreadStarted::kType) return;
  Thread& of_event = thread();
  if (of_event.known) return;
  of_event.known = true;
  if (!hearing_.excuses(threads_))
    hearing_.fail("thread.first", fmt::format("thread {} has not started", head.thread_id));
}

void TurnRules::turn_first() {
  const Head& head = hearing_.head();
  if (head.type == TaskCreated::kType) further_task();
  if (head.turn_id.empty() || may_precede_turn(head.type)) return;
  const Key key = hearing_.key(head.turn_id);
  if (JudgedTurn* turn = turns_.find(key)) {
    stable(*turn);
    return work(*turn);
  }
  JudgedTurn& turn = turns_.at(key);
  turn.id = head.turn_id;
  turn.thread = hearing_.key(head.thread_id);
  turn.state = TurnState::running;
  turn.told = true;
  if (!hearing_.excuses(turns_))
    hearing_.fail("turn.first", fmt::format("turn {} was not submitted", head.turn_id));
}

// A running turn may create tasks. Their facts name the turn, but are not about its own task.
void TurnRules::further_task() {
  JudgedTurn* turn = turns_.find(hearing_.key(hearing_.head().turn_id));
  if (turn && turn->state == TurnState::running && turn->further_tasks.size() < kTasksOfTurn)
    turn->further_tasks.push_back(hearing_.key(hearing_.head().task_id));
}

void TurnRules::stable(JudgedTurn& turn) {
  const Head& head = hearing_.head();
  const auto same = [&](Key& known, const std::string& id, std::string_view what) {
    if (id.empty()) return;
    const Key key = hearing_.key(id);
    if (known != 0 && known != key)
      hearing_.fail("ids.stable",
                    fmt::format("turn {} had a different {} before {}", turn.id, what, id));
    known = key;
  };
  same(turn.thread, head.thread_id, "thread");
  if (in_family(head.type, "task") && contains(turn.further_tasks, hearing_.key(head.task_id)))
    return;
  same(turn.task, head.task_id, "task");
  same(turn.run, head.run_id, "run");
  same(turn.attempt, head.attempt_id, "attempt");
}

void TurnRules::work(JudgedTurn& turn) {
  const std::string& type = hearing_.head().type;
  if (turn.state == TurnState::ended && is_of_open_turn(type))
    return hearing_.fail("turn.final", fmt::format("turn {} has ended", turn.id));
  if (turn.state != TurnState::running && turn.state != TurnState::ended && is_work(type))
    hearing_.fail("turn.order", fmt::format("turn {} has not started", turn.id));
  if (!turn.told && is_long_output(type)) {
    turn.told = true;
    hearing_.fail("turn.first_status",
                  fmt::format("turn {} has output before its first run.status", turn.id));
  }
}

void TurnRules::operator()(const SessionCreated&) {
  if (hearing_.head().sequence.value_or(1) != 1)
    hearing_.fail("session.first", "session.created is not the first event of the session");
}

void TurnRules::operator()(const ThreadStarted& p) {
  if (hearing_.head().thread_id.empty()) return;
  if (schema::ended(p.status))
    hearing_.fail("thread.first", fmt::format("a thread starts with status {}", name_of(p.status)));
  Thread& started = thread();
  if (started.known)
    hearing_.fail("thread.first",
                  fmt::format("thread {} starts a second time", hearing_.head().thread_id));
  started.known = true;
}

void TurnRules::operator()(const TurnSubmitted& p) {
  const Head& head = hearing_.head();
  if (head.turn_id.empty()) return;
  const Key key = hearing_.key(head.turn_id);
  if (turns_.find(key))
    return hearing_.fail("turn.order",
                         fmt::format("turn {} is submitted a second time", head.turn_id));
  JudgedTurn& turn = turns_.at(key);
  turn.id = head.turn_id;
  turn.state = p.status == Status::queued ? TurnState::queued : TurnState::submitted;
  stable(turn);
  if (hearing_.has("status") && p.status != Status::queued && p.status != Status::accepted)
    hearing_.fail(
        "turn.outcome",
        fmt::format("turn.submitted has status {}, not accepted or queued", name_of(p.status)));
}

void TurnRules::operator()(const TurnStarted& p) {
  const Head& head = hearing_.head();
  if (hearing_.has("status") && p.status != Status::running && p.status != Status::preparing)
    hearing_.fail("turn.outcome", fmt::format("turn.started has status {}", name_of(p.status)));
  JudgedTurn* turn = turns_.find(hearing_.key(head.turn_id));
  if (!turn || turn->state == TurnState::ended) return;
  Thread& of_turn = thread();
  if (turn->state == TurnState::running && of_turn.running == turn->id)
    return hearing_.fail("turn.order", fmt::format("turn {} starts a second time", turn->id));
  if (!of_turn.running.empty() && of_turn.running != turn->id)
    hearing_.fail("thread.one_turn",
                  fmt::format("turn {} starts while turn {} of the same thread is running",
                              turn->id, of_turn.running));
  if (turn->state == TurnState::queued)
    hearing_.fail(
        "queue.runs",
        turn->waits
            ? fmt::format("turn {} is running but still in the queue", turn->id)
            : fmt::format("turn {} was queued, but no queue.changed removed it from the queue",
                          turn->id));
  turn->state = TurnState::running;
  of_turn.running = turn->id;
}

void TurnRules::operator()(const TurnCompleted& p) {
  const JudgedTurn* turn = turn_of_event();
  if (turn && turn->state != TurnState::running && turn->state != TurnState::ended)
    hearing_.fail("turn.order", fmt::format("turn {} completes without having started", turn->id));
  if (hearing_.has("status") && p.status != Status::completed)
    hearing_.fail("turn.outcome", fmt::format("turn.completed has status {}", name_of(p.status)));
  ended();
}

void TurnRules::operator()(const TurnFailed& p) {
  if (hearing_.has("status") && p.status != Status::failed && p.status != Status::cancelled &&
      p.status != Status::timed_out)
    hearing_.fail("turn.outcome", fmt::format("turn.failed has status {}", name_of(p.status)));
  ended();
}

void TurnRules::ended() {
  const Key key = hearing_.key(hearing_.head().turn_id);
  JudgedTurn* turn = turns_.find(key);
  if (!turn || turn->state == TurnState::ended) return;
  turn->state = TurnState::ended;
  if (Thread* of_turn = threads_.find(turn->thread); of_turn && of_turn->running == turn->id)
    of_turn->running.clear();
  turns_.end(key);
}

void TurnRules::operator()(const RunStatus& p) {
  if (p.status == Status::idle)
    hearing_.fail("payload.shape", "payload.status: idle is a status of threads, not of turns");
  if (JudgedTurn* turn = turns_.find(hearing_.key(hearing_.head().turn_id))) turn->told = true;
}

void TurnRules::operator()(const QueueChanged& p) {
  const Head& head = hearing_.head();
  if (head.thread_id.empty() || hearing_.partial || !hearing_.has("change")) return;
  Thread& of_event = thread();
  const std::string& id = p.turn_id.empty() ? head.turn_id : p.turn_id.text();
  const Key key = hearing_.key(id);
  JudgedTurn* turn = turns_.find(key);
  if (!turn && !turns_.forgot() && p.change != QueueChange::cleared)
    return hearing_.fail("queue.place", fmt::format("turn {} was not submitted", id));
  if (p.change == QueueChange::added) {
    if (!added(p, of_event, turn, key)) return;
  } else if (p.change == QueueChange::cleared) {
    for (const Key waiting : of_event.queue)
      if (JudgedTurn* cleared = turns_.find(waiting)) cleared->waits = false;
    of_event.queue.clear();
  } else if (contains(of_event.queue, key)) {
    left(p, of_event, turn, key);
  } else {
    return hearing_.fail("queue.place", fmt::format("turn {} is not in the queue", id));
  }
  count(p, of_event);
}

bool TurnRules::added(const QueueChanged& p, Thread& thread, JudgedTurn* turn, Key key) {
  if (contains(thread.queue, key)) {
    hearing_.fail("queue.place", "the turn is already in the queue");
    return false;
  }
  if (turn && turn->state != TurnState::queued && turn->state != TurnState::submitted) {
    hearing_.fail("queue.place",
                  fmt::format("turn {} cannot be queued: it {}", turn->id,
                              turn->state == TurnState::ended ? "has ended" : "runs"));
    return false;
  }
  const std::size_t size = thread.queue.size();
  if (size >= kQueueJudged) return true;
  if (p.position > size + 1)
    hearing_.fail("queue.place", fmt::format("position {} in a queue of {}", p.position, size + 1));
  const std::size_t at = p.position == 0 ? size : std::min<std::size_t>(p.position - 1, size);
  thread.queue.insert(thread.queue.begin() + static_cast<std::ptrdiff_t>(at), key);
  if (!turn) return true;
  turn->waits = true;
  turn->state = TurnState::queued;
  return true;
}

void TurnRules::left(const QueueChanged& p, Thread& thread, JudgedTurn* turn, Key key) {
  auto& queue = thread.queue;
  const auto at = std::ranges::find(queue, key);
  if (p.change == QueueChange::started && at != queue.begin())
    hearing_.fail("queue.place", "the started turn is not at the front of the queue");
  queue.erase(at);
  if (p.change == QueueChange::promoted) {
    if (p.position > queue.size() + 1)
      hearing_.fail("queue.place",
                    fmt::format("position {} in a queue of {}", p.position, queue.size() + 1));
    const std::size_t to =
        p.position == 0 ? 0 : std::min<std::size_t>(p.position - 1, queue.size());
    queue.insert(queue.begin() + static_cast<std::ptrdiff_t>(to), key);
    return;
  }
  if (!turn) return;
  turn->waits = false;
  if (p.change == QueueChange::started && turn->state == TurnState::queued)
    turn->state = TurnState::submitted;
}

void TurnRules::count(const QueueChanged& p, const Thread& thread) {
  if (thread.queue.size() < kQueueJudged && hearing_.has("count") && p.count != thread.queue.size())
    hearing_.fail("queue.count", fmt::format("count is {}, but {} turns are queued", p.count,
                                             thread.queue.size()));
}

}  // namespace agentrt::validate
