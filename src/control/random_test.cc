// control/random_test.cc: tests long random histories. A seed generates thousands of commands and
// reports; each is decided, folded, encoded and decoded, and the invariants are checked.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "control/testing/given.h"
#include "schema/envelope.h"
#include "state/index.h"

namespace agentrt::control {

using namespace schema;
using state::kSession;
using state::Session;
using state::Thread;

namespace {

class World {
 public:
  explicit World(std::uint64_t seed) : dice_(seed) {
    live_.id = replayed_.id = kSession;
    settings_.queue_turns_max = 5;
    settings_.threads_max = 3;
  }

  void step() {
    now_ = now_ + below(400);
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return take(submit());
      case 4:
        return take(interrupt());
      case 5:
        return take(RemoveQueuedTurn{kSession, thread(), waiting(), {}});
      case 6:
        return take(PromoteQueuedTurn{kSession, thread(), waiting(), {}});
      case 7:
        return take(ResumeThread{kSession, thread(), {}, {}});
      case 8:
        return below(4) == 0 ? restart() : take(UpdateSession{kSession, "title", {}, {}, {}});
      case 9:
      case 10:
        return take(prepared(below(8)));
      case 11:
        return take(ReportFragments{request(), pieces(), written()});
      case 12:
      case 13:
        return take(completed());
      case 14:
        return take(failed());
      default:
        return take(ReportRetryDue{running()});
    }
  }

  // Lets every thread finish its open work, without new work.
  void finish() {
    for (int steps = 0; live_.tasks.active > 0 && steps < 200; ++steps)
      for (const auto& id : threads()) {
        const Thread& t = live_.threads.at(id);
        if (!t.active) continue;
        const TurnId turn = t.active->ids.turn;
        if (t.status == Status::blocked)
          take(ResumeThread{kSession, id, {}, {}});
        else if (t.active->call)
          take(ReportModelCompleted{.request = t.active->call->id});
        else if (t.active->retry_at)
          take(ReportRetryDue{turn});
        else
          take(prepared_turn(turn, 1));
      }
  }

  void check_round_trip() const {
    Session read;
    const auto done = from_json(to_json(live_), read, Unknown::refuse);
    const std::string problem = done ? "" : done.error().message;
    CHECK(problem == "");
    CHECK(read == live_);
  }

  const Session& view() const { return live_; }
  std::uint64_t accepted() const { return accepted_; }
  std::uint64_t refused() const { return refused_; }

 private:
  std::uint64_t below(std::uint64_t n) { return dice_() % n; }

  Inputs inputs() {
    Inputs out = inputs_at(now_);
    out.ids = FreshIds{now_, dice_()};
    out.boot = BootId{"boot_" + std::to_string(boot_)};
    out.settings = &settings_;
    return out;
  }

  // --- random choices ---

  ThreadId thread() { return ThreadId{"thread_" + std::to_string(below(4))}; }
  std::vector<ThreadId> threads() const {
    std::vector<ThreadId> out;
    for (const auto& [id, _] : live_.threads) out.push_back(id);
    return out;
  }
  TurnId waiting() {
    for (const auto& [_, t] : live_.threads)
      if (!t.queue.empty() && below(2) == 0) return t.queue[below(t.queue.size())].ids.turn;
    return running();
  }
  TurnId running() {
    for (const auto& [_, t] : live_.threads)
      if (t.active && below(2) == 0) return t.active->ids.turn;
    return TurnId{"turn_unknown"};
  }
  ModelRequestId request() {
    for (const auto& [_, t] : live_.threads)
      if (t.active && t.active->call && below(3) > 0) return t.active->call->id;
    return ModelRequestId{"mreq_unknown"};
  }
  std::vector<ReportFragments::Piece> pieces() {
    std::vector<ReportFragments::Piece> out;
    for (std::uint64_t left = below(4); left > 0; --left)
      out.push_back({below(3) == 0, below(5) == 0 ? "" : "caf\u00e9 \"\n\" \u20ac"});
    return out;
  }
  std::vector<ReportFragments::WrittenCall> written() {
    std::vector<ReportFragments::WrittenCall> out;
    for (std::uint64_t left = below(3); left > 0; --left)
      out.push_back({below(3), below(2) == 0 ? "shell" : "read_file", "{", 1});
    return out;
  }
  SubmitTurn submit() {
    SubmitTurn out{.thread_id = thread(), .input = {text_part("ask \u20ac")}};
    if (below(2) == 0) out.turn_id = TurnId{"turn_chosen_" + std::to_string(++chosen_)};
    if (below(4) == 0) out.task_id = TaskId{"task_chosen_" + std::to_string(++chosen_)};
    if (below(4) == 0) out.metadata = Json{R"({"n":1.10})"};
    if (below(3) == 0)
      out.options = TurnOptions{.queue_policy = static_cast<QueuePolicy>(below(3))};
    return out;
  }
  InterruptTurn interrupt() {
    InterruptTurn out{.session_id = kSession};
    if (below(3) > 0) out.thread_id = thread();
    if (below(3) == 0) out.turn_id = waiting();
    if (below(3) == 0) out.queue = QueueKeep::clear;
    return out;
  }
  ReportPrepared prepared(std::uint64_t models) { return prepared_turn(running(), models); }
  static ReportPrepared prepared_turn(TurnId turn, std::uint64_t models) {
    ReportPrepared out;
    out.turn = std::move(turn);
    out.context.cwd = "/w";
    for (std::uint64_t i = 0; i < models; ++i)
      out.candidates.push_back(
          {.name = "m" + std::to_string(i), .provider = "script", .model = "x"});
    return out;
  }
  ReportModelCompleted completed() {
    ReportModelCompleted out{.request = request(), .usage = {below(9), below(9), {}, {}}};
    out.pieces = pieces();
    if (below(8) == 0) out.pieces.push_back({false, std::string(kTextInlineMax + 7, 'x')});
    for (const auto& piece : out.pieces) {
      (piece.reasoning ? out.reasoning : out.text) += piece.text;
      (piece.reasoning ? out.reasoning_bytes : out.text_bytes) += piece.text.size();
    }
    return out;
  }
  ReportModelFailed failed() {
    ReportModelFailed out{.request = request(), .pieces = pieces()};
    out.error = {Category::provider, "broken", below(4) > 0};
    out.ended_by_provider = below(2) == 0;
    return out;
  }

  // --- steps and checks ---

  void restart() {
    ++boot_;
    settings_.after_restart = below(2) == 0 ? AfterRestart::ask : AfterRestart::resume;
    take(ReportRestarted{});
    CHECK_FALSE(interrupted_work(live_, inputs().boot));
  }

  template <class What>
  void take(const What& what) {
    const Inputs given = inputs();
    const Outcome outcome = when(live_, what, given);
    const Decided again = decide(live_, what, given);
    if (const auto* accepted = std::get_if<Accepted>(&again))
      CHECK(accepted->facts == std::get<Accepted>(outcome.decision).facts);
    if (std::holds_alternative<Error>(outcome.decision)) ++refused_;
    if (!std::holds_alternative<Accepted>(outcome.decision)) return;
    ++accepted_;
    CHECK_FALSE(outcome.facts.empty());
    if constexpr (requires { typename What::Reply; }) check_reply(outcome, what);
    if constexpr (!std::is_same_v<What, PromoteQueuedTurn>) check_order(live_, outcome.after);
    for (const Fact& fact : outcome.facts) store(fact);
    live_ = outcome.after;
    CHECK(live_ == replayed_);
    check_view();
  }

  template <class What>
  void check_reply(const Outcome& outcome, const What& what) {
    const auto reply = outcome.reply<typename What::Reply>();
    CHECK(reply.sequence == outcome.after.sequence);
    if constexpr (std::is_same_v<typename What::Reply, QueueReply>) {
      std::vector<std::string> order;
      for (const TurnId& turn : reply.queue) order.push_back(turn.text());
      CHECK(order == names_of(outcome.after.threads.at(what.thread_id).queue));
    }
  }

  // Queued turns keep their order; new ones come last.
  static void check_order(const Session& before, const Session& after) {
    for (const auto& [id, thread] : before.threads) {
      const auto was = names_of(thread.queue);
      const auto is = names_of(after.threads.at(id).queue);
      std::vector<std::string> expected;
      for (const auto& name : was)
        if (std::ranges::find(is, name) != is.end()) expected.push_back(name);
      for (const auto& name : is)
        if (std::ranges::find(was, name) == was.end()) expected.push_back(name);
      CHECK(is == expected);
    }
  }

  // Encodes the fact as the log would, and folds the decoded copy into a second view.
  void store(const Fact& fact) {
    if (!fact.ids.turn_id.empty()) {
      CHECK_FALSE(fact.ids.task_id.empty());
      CHECK_FALSE(fact.ids.run_id.empty());
      CHECK_FALSE(fact.ids.attempt_id.empty());
      CHECK_FALSE(fact.ids.trace_id.empty());
    }
    Draft draft{SessionScope{kSession}, SessionUpdated{}};
    draft.ids = fact.ids;
    draft.payload = fact.payload;
    const auto read = decode(encode(draft, fact.sequence, fact.at, RuntimeId{"rt_1"}));
    REQUIRE(read.has_value());
    CHECK(*read == fact);
    fold(replayed_, *read);
    state::TaskChanges changes;
    state::fold_tasks(tasks_, *read, changes);
    for (state::ObjectRow& row : task_rows(tasks_, changes)) {
      std::pair key{row.kind, row.id};
      rows_.insert_or_assign(std::move(key), std::move(row));
    }
    for (state::ObjectRow& row : index(replayed_, *read))
      rows_[{row.kind, row.id}] = std::move(row);
  }

  void check_view() const {
    std::uint64_t open = 0;
    for (const auto& [id, thread] : live_.threads) {
      CHECK((thread.active || thread.queue.empty()));
      CHECK((thread.active.has_value() || thread.status == Status::idle));
      CHECK(thread.queue.size() <= settings_.queue_turns_max);
      CHECK(thread.incidents.size() <= state::kIncidentsMax);
      open += thread.queue.size() + (thread.active ? 1 : 0);
      if (thread.active) check_open(*thread.active);
      for (const state::Turn& turn : thread.queue) {
        CHECK(turn.status == Status::queued);
        check_open(turn);
      }
    }
    const TaskSummary& tasks = live_.tasks;
    CHECK(tasks.active == open);
    CHECK(tasks.active + tasks.completed + tasks.failed + tasks.cancelled == live_.turns);
    CHECK(live_.traces.size() <= state::kTracesMax);
    CHECK(live_.unknown_facts == 0);
    const auto open_rows =
        std::ranges::count_if(rows_, [](const auto& e) { return e.second.open; });
    CHECK(static_cast<std::uint64_t>(open_rows) == open);
  }
  void check_open(const state::Turn& turn) const {
    CHECK(rows_.at({"turn", turn.ids.turn.text()}).open);
    CHECK(rows_.contains({"task", turn.ids.task.text()}));
  }

  std::mt19937_64 dice_;
  Settings settings_ = usual_settings();
  Session live_, replayed_;
  state::Tasks tasks_;
  std::map<std::pair<std::string, std::string>, state::ObjectRow> rows_;
  Timestamp now_ = state::kStart;
  std::uint64_t boot_ = 1, chosen_ = 0, accepted_ = 0, refused_ = 0;
};

}  // namespace

TEST_CASE("any history keeps order and counts, and replays to the view it left") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    CAPTURE(seed);
    World world{seed};
    for (int step = 0; step < 2'000; ++step) {
      world.step();
      if (step % 50 == 0 && world.view().exists()) world.check_round_trip();
    }
    CHECK(world.accepted() > 500);
    CHECK(world.refused() > 50);
    world.check_round_trip();

    world.finish();
    CHECK(world.view().tasks.active == 0);
    CHECK(overall_status(world.view()) == Status::idle);
    CHECK(world.view().tasks.completed > 0);
    CHECK(world.view().tasks.failed > 0);
    CHECK(world.view().tasks.cancelled > 0);
  }
}

}  // namespace agentrt::control
