#include "sim/history/history_story.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "schema/facts/history.h"
#include "schema/rollback.h"
#include "sim/node.h"
#include "sim/store_over.h"
#include "sim/virtual_time.h"

namespace agentrt::sim {
namespace {

constexpr std::uint64_t kActions = 70;
constexpr std::size_t kThreadsMax = 6;
constexpr std::string_view kAsks = "question ";  // before the id of a turn, in its input
constexpr std::size_t kLongConversation = 8;     // messages; see prefix_moved

constexpr std::array kDefects = {
    HistoryDefect{HistoryPlant::removed_turn_sent, "removed_turn_sent", 20},
    HistoryDefect{HistoryPlant::kept_survives_rollback, "kept_survives_rollback", 20},
    HistoryDefect{HistoryPlant::prefix_moved, "prefix_moved", 10},
    HistoryDefect{HistoryPlant::fork_sees_later_turns, "fork_sees_later_turns", 40},
    HistoryDefect{HistoryPlant::rolled_back_beyond_target, "rolled_back_beyond_target", 20},
};

// Changes the rows of rollbacks on their way from the store.
class WrongRollbacks final : public StoreOver {
 public:
  WrongRollbacks(store::Store& inner, HistoryPlant plant) : StoreOver(inner), plant_(plant) {}

  Result<std::vector<store::IndexEntry>> list(const store::IndexQuery& query) override {
    TRY_ASSIGN(auto entries, inner().list(query));
    if (query.kind != schema::kRollbackKind) return entries;
    if (plant_ == HistoryPlant::removed_turn_sent) entries.clear();
    if (plant_ == HistoryPlant::rolled_back_beyond_target)
      for (store::IndexEntry& entry : entries) {
        schema::RollbackRecord record;
        TRY(schema::from_json(entry.row.record, record, schema::Unknown::ignore));
        if (record.baseline_sequence > 0) --record.baseline_sequence;
        entry.row.record = schema::to_json(record);
      }
    return entries;
  }

 private:
  HistoryPlant plant_;
};

// Changes the conversations on their way to the engine.
class WrongHistory final : public ports::History {
 public:
  WrongHistory(ports::History& inner, HistoryPlant plant) : inner_(inner), plant_(plant) {}

  Result<ports::HistoryWindow> window(const ports::HistoryQuery& query) override {
    ports::HistoryQuery asked = query;
    if (plant_ == HistoryPlant::fork_sees_later_turns)
      for (ports::HistoryQuery::Part& part : asked.inherited)
        if (part.session == query.session) part.up_to = query.submitted - 1;
    TRY_ASSIGN(ports::HistoryWindow window, inner_.window(asked));
    if (plant_ == HistoryPlant::prefix_moved && window.own > kLongConversation)
      replace_before(window, {window.messages.begin() + 2,
                              window.messages.begin() + static_cast<std::ptrdiff_t>(window.own)});
    if (plant_ == HistoryPlant::kept_survives_rollback) survive(query, window);
    return window;
  }

 private:
  struct Kept {
    TurnId turn;  // that was asked for last
    Sequence rolled_back = 0;
    std::vector<ports::Message> messages;
    std::optional<std::vector<ports::Message>> stale;  // sent instead, during this turn
  };

  // Replaces the messages before those of the requesting turn.
  static void replace_before(ports::HistoryWindow& window, std::vector<ports::Message> before) {
    const std::size_t count = before.size();
    before.insert(before.end(), window.messages.begin() + static_cast<std::ptrdiff_t>(window.own),
                  window.messages.end());
    if (window.question) *window.question = *window.question - window.own + count;
    window.own = count;
    window.messages = std::move(before);
  }
  void survive(const ports::HistoryQuery& query, ports::HistoryWindow& window) {
    Kept& kept = kept_[{query.session, query.thread}];
    if (kept.turn != query.turn) {
      kept.stale.reset();
      if (kept.rolled_back != query.rolled_back) kept.stale = kept.messages;
      kept.turn = query.turn;
      kept.rolled_back = query.rolled_back;
    }
    if (kept.stale) replace_before(window, *kept.stale);
    kept.messages = window.messages;
  }

  ports::History& inner_;
  HistoryPlant plant_;
  std::map<std::pair<SessionId, ThreadId>, Kept> kept_;
};

// Shows each request to the story before a fake model answers it.
class ShownModels final : public ports::Models {
 public:
  using Show = std::function<void(const ports::ModelRequest&)>;
  ShownModels(ports::Loop& loop, Show show) : inner_(loop, kAnswers), show_(std::move(show)) {}

  ports::ModelChoice choice(const TurnId& turn, const std::vector<std::string>& named) override {
    return inner_.choice(turn, named);
  }
  void start(ports::ModelRequest request, std::shared_ptr<ports::ModelListener> listener) override {
    show_(request);
    inner_.start(std::move(request), std::move(listener));
  }
  void cancel(const ModelRequestId& request) override { inner_.cancel(request); }

 private:
  inline static const std::vector<FakeAnswer> kAnswers = {{{"Let me ", "look"}, 15, {}, {"ls"}, {}},
                                                          {{"That ", "is it"}, 15, {}, {}, {}}};

  FakeModels inner_;
  Show show_;
};

class HistoryStory {
 public:
  HistoryStory(std::uint64_t seed, HistoryPlant plant)
      : dice_(seed * 0x9e3779b97f4a7c15ULL + 11), node_(options(seed, plant)) {
    threads_.push_back({"s", "t0", {}, {}, {}});
  }

  Checked run() {
    for (std::uint64_t i = 0; i < kActions && !broken_; ++i) act();
    pass(60'000);
    restart();
    for (const Thread& thread : threads_) submit(thread.name);
    pass(60'000);
    return broken_ ? broken_ : check();
  }

 private:
  // A conversation as it must reach the model.
  struct Thread {
    std::string session;
    std::string name;
    std::vector<std::string> turns;        // those that count, oldest first
    std::vector<ports::Message> received;  // with the last request; empty: none, or rolled back
    std::string asked;                     // the turn of the last request
  };

  Node::Options options(std::uint64_t seed, HistoryPlant plant) {
    Node::Options out;
    out.seed = seed;
    out.settings.after_restart = control::AfterRestart::resume;
    out.policy.mode = schema::PermissionMode::bypass;
    out.limits.snapshot_every_facts = 10 + below(60);
    out.limits.idle_sessions_max = below(3);
    out.limits.history.kept_bytes = below(4) * 2'048;
    out.seams.models = [this](ports::Loop& loop) {
      return std::make_unique<ShownModels>(
          loop, [this](const ports::ModelRequest& request) { shown(request); });
    };
    if (plant != HistoryPlant::none) {
      out.seams.store = [plant](store::MemoryStore& memory) {
        return std::make_unique<WrongRollbacks>(memory, plant);
      };
      out.seams.history = [plant](ports::History& history) {
        return std::make_unique<WrongHistory>(history, plant);
      };
    }
    return out;
  }

  std::uint64_t below(std::uint64_t bound) { return dice_.below(bound); }
  Thread& some_thread() { return threads_[below(threads_.size())]; }
  Thread* thread_of(const std::string& turn) {
    for (Thread& thread : threads_)
      if (thread.name == homes_.at(turn)) return &thread;
    return nullptr;
  }
  void broken(std::string_view invariant, std::string what) {
    if (!broken_) broken_ = Violation{std::string(invariant), std::move(what)};
  }
  void pass(std::int64_t ms) {
    const std::int64_t until = node_.time().monotonic_ms() + ms;
    while (!broken_ && node_.step_until(until)) {
    }
  }
  void restart() {
    node_.crash();
    node_.start();
  }

  void act() {
    switch (below(16)) {
      case 0:
      case 1:
        return roll_back(some_thread(), false);
      case 2:
        return roll_back(some_thread(), true);
      case 3:
      case 4:
        return fork(some_thread(), false);
      case 5:
        return fork(some_thread(), true);
      case 6:
        return restart();
      case 7:
        return pass(static_cast<std::int64_t>(below(4'000)));
      default:
        submit(some_thread().name);
        pass(static_cast<std::int64_t>(below(3) == 0 ? below(60) : 2'000));
    }
  }

  void submit(const std::string& name) {
    Thread& thread = *std::ranges::find(threads_, name, &Thread::name);
    const std::string turn = fmt::format("u{}", ++made_);
    homes_[turn] = name;
    thread.turns.push_back(turn);  // before the request, which may come before the reply
    paths_[turn] = thread.turns;
    const auto reply =
        node_.ask("submit_turn", fmt::format(R"({{"sessionId":"{}","threadId":"{}","turnId":"{}",)"
                                             R"("input":[{{"type":"text","text":"{}{}."}}]}})",
                                             thread.session, thread.name, turn, kAsks, turn));
    if (!reply) broken("commands", "a turn was refused: " + reply.error().message);
  }

  // Commands are sometimes cut off by a crash; the log then says whether they happened.
  bool done(const std::string& command, const std::string& params, const std::string& session,
            std::string_view type) {
    const auto count = [&] {
      return std::ranges::count(node_.log(SessionId{session}), type, &schema::StoredEvent::type);
    };
    const auto before = count();
    if (below(3) != 0) {
      const auto reply = node_.ask(command, params);
      return reply.has_value() && count() > before;
    }
    const auto slot = node_.send(command, params);
    for (std::uint64_t step = below(12); step > 0 && !broken_; --step) node_.step();
    const bool acknowledged = slot->has_value() && (*slot)->has_value();
    restart();
    const bool stored = count() > before;
    if (acknowledged && !stored) broken("durability", command + " was acknowledged and lost");
    return stored;
  }

  void roll_back(Thread& thread, bool interrupt) {
    if (thread.turns.empty()) return;
    const std::size_t kept = below(thread.turns.size());
    const std::string target = thread.turns[kept];
    if (homes_.at(target) != thread.name) return;  // an inherited turn
    if (kept + 1 == thread.turns.size()) return;   // nothing would be removed
    rolling_back_ = thread.name;
    const bool happened =
        done("rollback_thread",
             fmt::format(R"({{"sessionId":"{}","threadId":"{}","turnId":"{}","interrupt":{}}})",
                         thread.session, thread.name, target, interrupt),
             thread.session, schema::RollbackCompleted::kType);
    rolling_back_.clear();
    if (!happened) return;
    thread.turns.resize(kept + 1);
    thread.received.clear();
  }

  void fork(Thread& source, bool new_session) {
    if (threads_.size() >= kThreadsMax || homes_.empty()) return;
    // Any turn of the thread that has started, also one that a rollback removed later.
    std::vector<std::string> own;
    for (const auto& [turn, home] : homes_)
      if (home == source.name && started_.contains(turn)) own.push_back(turn);
    if (own.empty()) return;
    const std::string turn = own[below(own.size())];
    Thread fork{source.session, fmt::format("t{}", ++forks_), paths_.at(turn), {}, {}};
    if (new_session) fork.session = fmt::format("s{}", forks_);
    const bool happened =
        done("fork_thread",
             fmt::format(R"({{"sessionId":"{}","threadId":"{}","turnId":"{}",)"
                         R"("newThreadId":"{}"{}}})",
                         source.session, source.name, turn, fork.name,
                         new_session ? fmt::format(R"(,"newSessionId":"{}")", fork.session) : ""),
             fork.session, schema::ThreadStarted::kType);
    if (happened) threads_.push_back(std::move(fork));
  }

  // The turns whose questions the messages contain, in order.
  static std::vector<std::string> asked_in(const std::vector<ports::Message>& messages) {
    std::vector<std::string> out;
    for (const ports::Message& message : messages) {
      if (message.role != ports::Role::user) continue;
      for (std::size_t at = message.text.find(kAsks); at != std::string::npos;
           at = message.text.find(kAsks, at)) {
        at += kAsks.size();
        out.push_back(message.text.substr(at, message.text.find('.', at) - at));
      }
    }
    return out;
  }

  void shown(const ports::ModelRequest& request) {
    const std::string turn = request.turn.text();
    Thread* thread = thread_of(turn);
    if (thread == nullptr) return broken("requests", turn + " belongs to no thread");
    // While a rollback waits for its commit, its thread may still be what it was before.
    if (thread->name == rolling_back_) return;
    const auto own = std::ranges::find(thread->turns, turn);
    if (own == thread->turns.end())
      return broken("requests", fmt::format("{} was removed, and a model is asked for it", turn));
    const std::vector<std::string> expected(thread->turns.begin(), own + 1);
    if (const auto sent = asked_in(request.messages); sent != expected)
      return broken("requests", fmt::format("{} of {} sends {}, expected {}", turn, thread->name,
                                            fmt::join(sent, " "), fmt::join(expected, " ")));
    const auto& before = thread->received;
    if (before.size() > request.messages.size() ||
        !std::equal(before.begin(), before.end(), request.messages.begin()))
      return broken("prefix", fmt::format("the request of {} on {} does not begin with that of {}",
                                          turn, thread->name, thread->asked));
    started_.insert(turn);
    thread->received = request.messages;
    thread->asked = turn;
  }

  Checked check() {
    std::vector<std::string> sessions;
    for (const Thread& thread : threads_)
      if (std::ranges::find(sessions, thread.session) == sessions.end())
        sessions.push_back(thread.session);
    for (const std::string& session : sessions) {
      const SessionId id{session};
      if (auto found = check_judged(node_.log(id))) return found;
      if (auto found = check_snapshot(node_.store(), node_.replayed(id))) return found;
      if (auto found = check_index(node_.store(), id)) return found;
    }
    return {};
  }

  Random dice_;
  std::vector<Thread> threads_;
  std::map<std::string, std::string> homes_;               // the thread of each turn
  std::map<std::string, std::vector<std::string>> paths_;  // the conversation of each turn
  std::set<std::string> started_;                          // turns for which a model was asked
  std::string rolling_back_;
  std::uint64_t made_ = 0;
  std::uint64_t forks_ = 0;
  Checked broken_;
  Node node_;  // last: its models call shown()
};

}  // namespace

std::span<const HistoryDefect> history_defects() { return kDefects; }

Checked run_history_story(std::uint64_t seed, HistoryPlant plant) {
  return HistoryStory{seed, plant}.run();
}

}  // namespace agentrt::sim
