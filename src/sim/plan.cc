// sim/plan.cc: draws a plan from a seed.
#include "sim/plan.h"

#include <algorithm>
#include <array>

#include "sim/virtual_time.h"

namespace agentrt::sim {
namespace {

constexpr std::uint32_t kActionsMin = 15;
constexpr std::uint32_t kActionsSpread = 90;
constexpr std::int64_t kFullForLong = 1'000'000;  // commits
constexpr std::int64_t kSecondMs = 1'000;
constexpr std::int64_t kDayMs = 24 * 3'600 * kSecondMs;
constexpr std::int64_t kYearMs = 365 * kDayMs;

struct Weight {
  Kind kind;
  std::uint32_t share;
};
constexpr std::array kWork = {
    Weight{Kind::create, 3},        Weight{Kind::update, 8},       Weight{Kind::submit, 34},
    Weight{Kind::interrupt, 6},     Weight{Kind::remove, 5},       Weight{Kind::promote, 6},
    Weight{Kind::resume, 7},        Weight{Kind::read_session, 4}, Weight{Kind::read_thread, 3},
    Weight{Kind::list_sessions, 2}, Weight{Kind::list_events, 3},  Weight{Kind::vanish, 2},
    Weight{Kind::follow, 4},        Weight{Kind::stop_read, 2},    Weight{Kind::go_read, 3},
    Weight{Kind::quiet, 8},         Weight{Kind::answer, 22},      Weight{Kind::rule, 3},
    Weight{Kind::type, 8},
};

class Drawer {
 public:
  explicit Drawer(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15ULL + 1) {
    plan_.seed = seed;
    plan_.resume_by_itself = random_.one_in(3);
    clients_ = 1 + below(4);
    sessions_ = 1 + below(3);
    threads_ = 1 + below(3);
    // Each run uses a random subset of the faults, so that many runs cover every combination.
    for (auto fault = static_cast<int>(kFirstFault); fault <= static_cast<int>(kLastKind); ++fault)
      if (random_.one_in(3)) faults_.push_back(static_cast<Kind>(fault));
    fault_every_ = 3 + below(12);
    draw_policy();
  }

  Plan draw() {
    const std::uint32_t count = kActionsMin + below(kActionsSpread);
    while (plan_.actions.size() < count) {
      if (!faults_.empty() && random_.one_in(fault_every_))
        fault(faults_[random_.below(faults_.size())]);
      else if (!sent_.empty() && random_.one_in(6))
        repeat();
      else
        work(kind_of_work());
    }
    return std::move(plan_);
  }

 private:
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(random_.below(bound));
  }

  // Half of the runs ask before commands, half have hooks, some have untrusted configuration files.
  void draw_policy() {
    using Mode = schema::PermissionMode;
    constexpr std::array kModes = {Mode::bypass,   Mode::bypass,   Mode::bypass,    Mode::default_,
                                   Mode::default_, Mode::default_, Mode::untrusted, Mode::never};
    schema::Policy& policy = plan_.policy;
    policy.mode = kModes[below(kModes.size())];
    constexpr auto kPoints = static_cast<std::uint32_t>(schema::HookPoint::stop) + 1;
    for (std::uint32_t left = random_.one_in(2) ? 1 + below(4) : 0; left > 0; --left)
      policy.hooks.push_back({.point = static_cast<schema::HookPoint>(below(kPoints)),
                              .command = "hook",
                              .on_failure = static_cast<schema::OnFailure>(below(2))});
    if (random_.one_in(6)) policy.files.push_back({.path = "/f", .digest = "sha256:f"});
  }

  // Steps before an action: often none, so that actions race; mostly a few; sometimes many.
  std::uint32_t gap() {
    switch (below(8)) {
      case 0:
      case 1:
      case 2:
        return 0;
      case 3:
      case 4:
      case 5:
        return below(12);
      case 6:
        return below(60);
      default:
        return below(400);
    }
  }

  Action blank(Kind kind) {
    Action action;
    action.kind = kind;
    action.steps = gap();
    action.client = below(clients_);
    action.session = below(sessions_);
    action.thread = below(threads_);
    action.draw = random_.next();
    return action;
  }

  Kind kind_of_work() {
    std::uint32_t total = 0;
    for (const Weight& weight : kWork) total += weight.share;
    std::uint32_t at = below(total);
    for (const Weight& weight : kWork) {
      if (at < weight.share) return weight.kind;
      at -= weight.share;
    }
    return Kind::submit;
  }

  void work(Kind kind) {
    Action action = blank(kind);
    if (is_command(kind)) {
      action.order = ++last_order_;
      if (random_.one_in(2)) action.key = key();
      if (kind == Kind::submit && !random_.one_in(4)) {
        action.turn = ++last_turn_;
        turns_.push_back(action);
      } else if (kind == Kind::remove || kind == Kind::promote) {
        aim(action);
      } else if (kind == Kind::interrupt && random_.one_in(2)) {
        aim(action);
      }
      sent_.push_back(action);
    }
    if (kind == Kind::quiet) action.amount = pause();
    plan_.actions.push_back(action);
  }

  // A new key; rarely the key of another command.
  std::uint32_t key() { return random_.one_in(20) && last_key_ > 0 ? last_key_ : ++last_key_; }

  // Names a recently submitted turn, mostly with its session and thread.
  void aim(Action& action) {
    if (turns_.empty()) {
      action.turn = 1;
      return;
    }
    const std::size_t back = random_.below(std::min<std::size_t>(turns_.size(), 6));
    const Action& turn = turns_[turns_.size() - 1 - back];
    action.turn = turn.turn;
    if (random_.one_in(10)) return;
    action.session = turn.session;
    action.thread = turn.thread;
  }

  // Repeats an earlier command, from a client of the same principal.
  void repeat() {
    Action action = sent_[random_.one_in(3) ? random_.below(sent_.size()) : sent_.size() - 1];
    action.again = true;
    action.steps = gap();
    const std::uint32_t other = principal_of(action.client) * 2 + below(2);
    if (other < clients_) action.client = other;
    plan_.actions.push_back(action);
  }

  std::int64_t pause() {
    switch (below(6)) {
      case 0:
        return static_cast<std::int64_t>(random_.below(3 * kDayMs));
      case 1:
        return static_cast<std::int64_t>(random_.below(3'600 * kSecondMs));
      case 2:
        return static_cast<std::int64_t>(random_.below(60 * kSecondMs));
      default:
        return static_cast<std::int64_t>(random_.below(kSecondMs));
    }
  }

  void fault(Kind kind) {
    Action action = blank(kind);
    switch (kind) {
      case Kind::crash:
      case Kind::crash_in_commit:
      case Kind::sync_fails:
        action.amount = random_.one_in(4) ? pause() : 0;  // downtime
        break;
      case Kind::disk_full:
      case Kind::disk_fails:
        action.amount = 1 + below(5);  // commits
        // Sometimes the disk stays full for the rest of the run.
        if (kind == Kind::disk_full && action.draw % 3 == 0) action.amount = kFullForLong;
        break;
      case Kind::reads_fail:
      case Kind::readers_full:
        action.amount = 1 + below(4);
        break;
      case Kind::clock_jump:
        action.amount = (random_.one_in(4) ? kYearMs : pause()) * (random_.one_in(2) ? 1 : -1);
        break;
      default:
        action.amount = pause();
    }
    plan_.actions.push_back(action);
  }

  Random random_;
  Plan plan_;
  std::uint32_t clients_, sessions_, threads_, fault_every_;
  std::vector<Kind> faults_;
  std::vector<Action> sent_, turns_;
  std::uint32_t last_order_ = 0, last_turn_ = 0, last_key_ = 0;
};

}  // namespace

Plan draw_plan(std::uint64_t seed) { return Drawer{seed}.draw(); }

}  // namespace agentrt::sim
