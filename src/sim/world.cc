#include "sim/world.h"

#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/fakes/fickle_hooks.h"
#include "sim/fakes/fickle_models.h"
#include "sim/faulty_store.h"
#include "sim/followers.h"
#include "sim/ledger.h"
#include "sim/node.h"
#include "sim/people.h"
#include "sim/terminals.h"
#include "sim/watch.h"

namespace agentrt::sim {
namespace {

constexpr std::int64_t kActionMs = 5'000;          // time limit for the steps before an action
constexpr std::int64_t kRestMs = 20 * 60 * 1'000;  // time limit to become idle
constexpr std::size_t kStepsMax = 400'000;         // per run
// Time limit for a read, unless a fault makes the disk slow.
constexpr std::int64_t kReadMs = 60'000;
constexpr std::uint64_t kReadsLookedAtEvery = 64;  // steps between checks of pending reads
constexpr int kResumeRounds = 40;
constexpr std::int64_t kIdleMs = 60'000;  // after which an owner that nothing needs leaves
const std::string kOwnEnvironment = "the runtime";
constexpr std::size_t kMoodsMax = 16;
// Allows for small changes of the wall clock, which count as time passed (kClockDriftMs).
constexpr std::int64_t kClockAllowanceMs = 60'000;

control::Settings settings_of(const Plan& plan) {
  control::Settings settings;
  settings.queue_turns_max = 4;
  settings.threads_max = 8;
  settings.subagents_running_max = 2;
  settings.subagents_kept_max = 2;
  settings.after_restart =
      plan.resume_by_itself ? control::AfterRestart::resume : control::AfterRestart::ask;
  return settings;
}

// Small limits that differ per seed, so that runs reach them.
kernel::Limits limits_of(const Plan& plan) {
  Random random{plan.seed ^ 0x11317};
  kernel::Limits limits;
  limits.commands_in_flight_max = 8 + random.below(24);
  limits.lane_queue_max = 2 + random.below(8);
  limits.decisions_per_batch_max = 1 + random.below(8);
  limits.appends_per_commit_max = 1 + random.below(4);
  limits.idle_sessions_max = random.below(3);
  limits.snapshot_every_facts = 5 + random.below(60);
  limits.recoveries_at_once_max = 1 + random.below(3);
  limits.history.kept_bytes = random.below(4) * 1024;
  return limits;
}

SessionId session_of(const Action& action) { return SessionId{fmt::format("s{}", action.session)}; }

class World {
 public:
  World(const Plan& plan, Plant plant, const Trace& trace)
      : plan_(plan),
        plant_(plant),
        trace_(trace),
        settings_(settings_of(plan)),
        limits_(limits_of(plan)),
        node_(node_options()),
        watch_(node_.disk(), settings_, limits_, [this](Violation v) { broken(std::move(v)); }),
        ledger_(limits_.idempotency_keep_ms - kClockAllowanceMs),
        followers_(
            node_, [this](const SessionId& s, Sequence n) { return watch_.stored_text(s, n); },
            [this](Violation v) { broken(std::move(v)); }),
        terminals_(
            plant_ != Plant::approve_typed_ahead,
            [this](const SessionId& s) { return people_.waiting_in(s, watch_); },
            [this](std::uint32_t client, const Question& question, bool yes) {
              answer_typed(client, question, yes);
            },
            [this](Violation v) { broken(std::move(v)); }) {
    provider_.on_start = [this](const ports::ModelRequest& request) {
      watch_.model_started(request, node_.boot_id());
    };
    node_.governance().hook = [this](const ports::HookRequest& request) {
      watch_.hook_started(request.id, node_.boot_id());
      return hooks_.answer(request);
    };
    node_.machine().on_release = [this](const ProcessId& process) {
      watch_.process_released(process, node_.boot_id());
      check_environment(process);
    };
    node_.machine().environment_of = [this](const TurnId& turn) { return environment_of(turn); };
    node_.machine().on_end = [this] { fault_at_end(); };
    node_.files().on_write = [this](const ToolCallId& call) { watch_.file_written(call); };
    plant_in_ports(plant_, node_.governance(), node_.machine(), node_.files());
    began_ms_ = node_.time().monotonic_ms();
  }

  RunResult run() {
    for (const Action& action : plan_.actions) {
      steps(action.steps);
      if (broken_) break;
      say(in_words(action));
      act(action);
      if (broken_) break;
    }
    if (!broken_) heal();
    if (!broken_) say_at_rest("the faults stop");
    if (!broken_) crash(0, 0);
    if (!broken_) ask_everything_again();
    if (!broken_) finish_turns();
    if (!broken_) finish_followers();
    if (!broken_) look_back();
    if (!broken_) final_checks();
    counts_.simulated_ms = node_.time().monotonic_ms() - began_ms_;
    counts_.facts = watch_.facts_stored();
    followers_.disconnect();
    return {broken_, counts_};
  }

 private:
  Node::Options node_options() {
    Node::Seams seams;
    seams.store = [this](store::MemoryStore& memory) { return store_seam(memory); };
    seams.models = [this](ports::Loop& loop) {
      auto models = std::make_unique<FickleModels>(loop, provider_);
      models_ = models.get();
      return models;
    };
    seams.published = [this](const ports::FeedBatch& batch) {
      publish(plant_in_feed(plant_, batch));
    };
    seams.shown = [this](const state::Session& view) { watch_.shown(view); };
    return {.seed = plan_.seed,
            .answers = {},
            .settings = settings_,
            .limits = limits_,
            .policy = plan_.policy,
            .seams = std::move(seams)};
  }

  // The stack of stores from top to bottom: planted defect, faults, memory.
  std::unique_ptr<store::Store> store_seam(store::MemoryStore& memory) {
    faulty_ = std::make_unique<FaultyStore>(memory, *memory.disk(), disk_faults_);
    return plant_in_store(plant_, *faulty_, *memory.disk(),
                          [this](const ports::FeedBatch& batch) { publish(batch); });
  }

  void publish(const ports::FeedBatch& batch) {
    if (batch->empty()) return;
    for (const ports::FeedEvent& event : *batch)
      if (event.event.type == schema::PolicyChanged::kType &&
          event.event.payload.contains(R"("change":"trusted")"))
        node_.governance().trust_files();
    watch_.published(*batch);
    followers_.published(batch);
    for (const ports::FeedEvent& event : *batch)
      terminals_.look(event.event.session, node_.time().monotonic_ms());
  }

  void broken(Violation violation) {
    if (broken_) return;
    say("!! " + violation.invariant + ": " + violation.what);
    broken_ = std::move(violation);
  }
  void check(Checked checked) {
    if (checked) broken(*std::move(checked));
  }
  void say(const std::string& line) {
    if (trace_) trace_(line);
  }

  // --- time ---

  // Runs one step if it is due by `until_ms`. If power failed in it, restarts the runtime.
  bool step_until(std::int64_t until_ms) {
    if (++counts_.steps > kStepsMax) {
      broken({std::string(invariant::kRest), "too many steps: something goes round in circles"});
      return false;
    }
    plant_in_readers(plant_, disk_faults_.full_commits > 0, *node_.boot().readers);
    if (!node_.step_until(until_ms)) return false;
    if (disk_faults_.stopped) crash(down_ms_, crash_draw_);
    terminals_.read(node_.time().monotonic_ms());
    if (!slow_ && counts_.steps % kReadsLookedAtEvery == 0)
      check(ledger_.check_reads_answered(node_.time().monotonic_ms() - kReadMs));
    return !broken_;
  }
  void steps(std::uint32_t count) {
    const std::int64_t until = node_.time().monotonic_ms() + kActionMs;
    for (std::uint32_t i = 0; i < count && step_until(until); ++i) {
    }
  }
  void pass(std::int64_t ms) {
    const std::int64_t until = node_.time().monotonic_ms() + ms;
    while (step_until(until)) {
    }
  }

  // --- actions ---

  void act(const Action& action) {
    if (is_command(action.kind)) return send(action);
    if (is_read(action.kind)) return read(action);
    if (is_fault(action.kind)) return fault(action);
    switch (action.kind) {
      case Kind::vanish:
        return vanish(action);
      case Kind::follow:
        return followers_.follow(action.client, session_of(action));
      case Kind::stop_read:
        return followers_.stop_reading(action.client, session_of(action));
      case Kind::go_read:
        return followers_.go_reading(action.client, session_of(action));
      case Kind::type:
        return terminals_.type(action.client, session_of(action), types_yes(action),
                               node_.time().monotonic_ms());
      default:
        pass(action.amount);
        if (action.draw % 2 == 0) leave_if_idle();
    }
  }

  // The client's terminal is closed, or it was killed. Nothing that it began may notice.
  void vanish(const Action& action) {
    ledger_.vanish(action.client);
    if (plant_ != Plant::cancel_on_hangup) return;
    for (const auto& [session, thread] : watch_.open_threads())
      node_.call(
          "interrupt_turn",
          fmt::format(R"({{"sessionId":"{}","threadId":"{}"}})", session.text(), thread.text()),
          "p0", [](const ports::Reply&) {});
  }

  // A background owner that nothing has needed for a while leaves; the next command starts another.
  void leave_if_idle() {
    const auto needed = [this] {
      if (!node_.recovered()) return true;
      if (plant_ == Plant::exit_with_open_work) return node_.engine().running() > 0;
      return node_.engine().sessions_in_need() > 0;
    };
    const bool disk_fails = disk_faults_.full_commits + disk_faults_.failing_commits > 0;
    if (broken_ || slow_ || disk_fails || needed()) return;
    pass(kIdleMs);
    if (broken_ || needed()) return;
    for (const SessionId& session : watch_.sessions())
      if (!broken_) check(check_no_open_work(watch_.replayed(session)));
    if (broken_) return;
    say("the owner leaves: nothing needs it");
    crash(0, 0);
  }

  // --- environments of clients ---

  std::string environment_of(const TurnId& turn) const {
    if (plant_ == Plant::leak_client_environment) return last_environment_;
    const auto found = environments_.find(turn);
    return found == environments_.end() ? kOwnEnvironment : found->second;
  }
  void check_environment(const ProcessId& process) {
    const auto found = environments_.find(watch_.turn_of(process));
    const std::string expected = found == environments_.end() ? kOwnEnvironment : found->second;
    const std::string& actual = node_.machine().processes[process].environment;
    if (!broken_ && actual != expected)
      broken({std::string(invariant::kEnvironments),
              fmt::format("{} has the environment of {} instead of {}", process.text(), actual,
                          expected)});
  }

  // Monotonic time, in which the age of keys is measured; the wall clock may jump.
  Timestamp passed() { return {node_.time().monotonic_ms()}; }

  void send(const Action& action) {
    ++counts_.commands;
    const auto attempt = ledger_.send(action, passed());
    const bool answers = action.kind == Kind::answer;
    const Request request = answers ? people_.request(action, watch_) : request_of(action);
    note(action, request);
    node_.call(request.name, request.params, fmt::format("p{}", principal_of(action.client)),
               [this, attempt, action, answers](ports::Reply reply) {
                 if (trace_) say_reply(action, reply);
                 if (answers && reply) check(people_.told(action.order));
                 check(ledger_.replied(
                     *attempt, reply, passed(),
                     [this](const SessionId& s, Sequence n) { return watch_.stored(s, n); }));
               });
  }
  // A person at the terminal of this client has answered.
  void answer_typed(std::uint32_t client, const Question& question, bool yes) {
    const auto [order, request] = people_.typed(question, yes);
    node_.call(request.name, request.params, fmt::format("p{}", principal_of(client)),
               [this, order](const ports::Reply& reply) {
                 if (reply) check(people_.told(order));
               });
  }
  // What the client supplies with the command, and whether the command may cancel turns.
  void note(const Action& action, const Request& request) {
    last_environment_ = fmt::format("client {}", action.client);
    if (action.kind == Kind::submit && action.turn > 0)
      environments_.try_emplace(TurnId{fmt::format("u{}", action.turn)}, last_environment_);
    if (action.kind == Kind::interrupt || action.kind == Kind::remove ||
        request.params.contains(R"("queuePolicy":"interrupt")"))
      may_cancel_.insert(session_of(action));
  }
  void read(const Action& action) {
    const auto attempt = ledger_.send(action, passed());
    attempt->sent_ms = node_.time().monotonic_ms();
    const Request request = request_of(action);
    node_.call(request.name, request.params, fmt::format("p{}", principal_of(action.client)),
               [this, attempt, action](const ports::Reply& reply) {
                 check(ledger_.read_replied(*attempt, session_of(action), reply));
               });
  }
  void say_reply(const Action& action, const ports::Reply& reply) {
    Action first = action;
    first.again = false;
    say(fmt::format("  reply to \"{}\": {}", in_words(first),
                    reply ? *reply : "refused: " + reply.error().message));
  }

  void fault(const Action& action) {
    slow_ = slow_ || action.kind == Kind::disk_slow || action.kind == Kind::reads_slow ||
            action.kind == Kind::readers_full;
    const auto count = static_cast<std::size_t>(action.amount);
    switch (action.kind) {
      case Kind::crash:
        return crash(action.amount, action.draw);
      case Kind::crash_in_commit:
      case Kind::sync_fails:
        return arm(action);
      case Kind::disk_full:
        disk_faults_.full_commits = count;
        return;
      case Kind::disk_fails:
        disk_faults_.failing_commits = count;
        return;
      case Kind::reads_fail:
        disk_faults_.failing_reads = count;
        return;
      case Kind::readers_full:
        return node_.boot().readers->refuse(count);
      case Kind::disk_slow:
        return node_.time().hold(*node_.boot().writer, action.amount);
      case Kind::reads_slow:
        return node_.time().hold(*node_.boot().readers, action.amount);
      case Kind::clock_jump:
        return node_.time().jump(action.amount);
      case Kind::model_absent:
        provider_.absent = 1 + action.draw % 3;
        return;
      case Kind::world_changes:
        node_.governance().world = fmt::format("{}", action.draw % 1'000);
        return;
      case Kind::end_unstored:
        at_end_ = action;
        return;
      case Kind::launcher_killed:
        return node_.processes().kill_launchers();
      case Kind::hook_slow:
      case Kind::hook_fails:
      case Kind::hook_objects:
      case Kind::hook_rewrites:
        if (hooks_.next.size() < kMoodsMax)
          hooks_.next.push_back({action.kind, action.amount, action.draw});
        return;
      default:
        if (provider_.next.size() < kMoodsMax)
          provider_.next.push_back({action.kind, action.amount, action.draw});
    }
  }

  // Called when the end of a process is about to be reported.
  void fault_at_end() {
    const auto action = std::exchange(at_end_, std::nullopt);
    if (!action) return;
    switch (action->draw % 3) {
      case 0:
        slow_ = true;
        return node_.time().hold(*node_.boot().writer, action->amount);
      case 1:
        disk_faults_.failing_commits = 1 + action->draw / 3 % 4;
        return;
      default:
        return arm(*action);
    }
  }

  void arm(const Action& action) {
    using Outage = DiskFaults::Outage;
    constexpr std::array kPlaces = {Outage::before_write, Outage::before_sync, Outage::before_sync,
                                    Outage::after_sync};
    disk_faults_.in_next_commit = action.kind == Kind::sync_fails
                                      ? Outage::before_sync
                                      : kPlaces[action.draw / 64 % kPlaces.size()];
    down_ms_ = action.amount;
    crash_draw_ = action.draw;
  }

  void crash(std::int64_t down_ms, std::uint64_t draw) {
    ++counts_.crashes;
    node_.crash();
    followers_.disconnect();
    ledger_.forget_attempts();
    models_ = nullptr;
    disk_faults_.stopped = false;
    const auto outage = node_.disk()->cut_power(fates(draw));
    say(fmt::format("crash: {} of {} unsynced writes lost, {} torn pieces found",
                    outage.written - outage.kept, outage.written, outage.torn_pieces));
    if (draw % 2 == 1) node_.machine().run_on();
    node_.time().pass(down_ms);
    watch_.restarted(ledger_.acknowledged());
    if (!broken_) node_.start();
  }

  // Depending on the draw: everything is kept, most is, or each piece's fate is random.
  static std::function<store::MemoryDisk::Fate()> fates(std::uint64_t draw) {
    using Fate = store::MemoryDisk::Fate;
    const std::uint64_t style = draw % 4;
    auto random = std::make_shared<Random>(draw);
    return [style, random] {
      if (style == 0) return Fate::kept;
      if (style == 1) return random->one_in(10) ? Fate::torn : Fate::kept;
      return std::array{Fate::kept, Fate::lost, Fate::torn}[random->below(3)];
    };
  }

  // --- after the plan ---

  void heal() {
    disk_faults_ = {};
    at_end_.reset();
    provider_.next.clear();
    hooks_.next.clear();
    provider_.absent = 0;
    node_.time().release(*node_.boot().writer);
    node_.time().release(*node_.boot().readers);
    node_.boot().readers->refuse(0);
    if (models_) models_->hurry();
  }

  // Runs until the runtime should be idle, then checks everything that must hold then.
  void say_at_rest(const std::string& when) {
    say(when);
    pass(kRestMs);
    if (broken_) return;
    check(ledger_.check_answered());
    for (const SessionId& session : watch_.sessions()) {
      if (broken_) return;
      check(watch_.check_at_rest(session, node_.governance().seen, real_processes()));
    }
    // Sessions that wait for a user stay in memory.
    const std::uint64_t held = node_.metrics().sessions_in_memory;
    if (!broken_ && held > limits_.idle_sessions_max + watch_.sessions_asking())
      broken({std::string(invariant::kBounds), fmt::format("{} sessions are held at rest, limit {}",
                                                           held, limits_.idle_sessions_max)});
    for (const auto* counted : {&node_.files().written, &node_.files().acted})
      for (const auto& [id, times] : *counted)
        if (!broken_ && times > 1)
          broken({std::string(invariant::kCalls),
                  fmt::format("{} was made {} times", id.text(), times)});
    for (const auto& [id, process] : node_.machine().processes)
      if (!broken_ && process.runs > 1)
        broken({std::string(invariant::kProcesses),
                fmt::format("{} ran {} times", id.text(), process.runs)});
    for (const auto& [id, process] : node_.machine().processes)
      if (!broken_ && process.stage == FakeStage::running)
        broken({std::string(invariant::kProcesses), id.text() + " runs, and nobody follows it"});
    // Only calls whose MCP server waits for a user may still run.
    if (!broken_ && node_.engine().running() != watch_.servers_asking())
      broken({std::string(invariant::kTurns), "an effect runs that no turn waits for"});
  }

  Watch::Real real_processes() {
    Watch::Real real;
    for (const auto& [id, process] : node_.machine().processes)
      real[id] = {.background = process.background,
                  .recorded = process.stage == FakeStage::ended,
                  .printed = process.text.substr(0, process.printed)};
    return real;
  }

  void ask_everything_again() {
    say("every command is sent once more");
    const auto orders = ledger_.orders();
    for (const auto& [_, order] : orders) {
      if (!order.repeatable() || broken_) continue;
      Action action = order.action;
      action.again = true;
      say(in_words(action));
      send(action);
      steps(200);
    }
    if (!broken_) say_at_rest("everything has been asked again");
  }

  void finish_turns() {
    for (int round = 0; round < kResumeRounds && !broken_; ++round) {
      bool open = false;
      for (const auto& [session, thread] : watch_.open_threads()) {
        open = true;
        node_.call(
            "resume_thread",
            fmt::format(R"({{"sessionId":"{}","threadId":"{}"}})", session.text(), thread.text()),
            "p0", [](const ports::Reply&) {});
      }
      if (!open) break;
      for (const Request& answer : people_.last_answers(watch_))
        node_.call(answer.name, answer.params, "p0", [](const ports::Reply&) {});
      say_at_rest("whatever waits is resumed or answered");
    }
    for (const SessionId& session : watch_.sessions())
      if (!broken_) check(check_all_ended(watch_.replayed(session)));
  }

  void finish_followers() {
    constexpr int kRounds = 60;
    const auto head_of = [this](const SessionId& session) { return watch_.head(session); };
    for (int round = 0; round < kRounds && !broken_ && !followers_.caught_up(head_of); ++round) {
      followers_.read_all();
      pass(1'000);
    }
    if (!broken_ && !followers_.caught_up(head_of))
      broken({std::string(invariant::kStreams), "a follower never gets to the end"});
  }

  // Reads what the runtime returned at earlier facts once more.
  void look_back() {
    const Ask ask =
        plant_in_past(plant_, [this](const std::string& name, const std::string& params) {
          return node_.ask(name, params);
        });
    for (const SessionId& session : watch_.sessions())
      if (!broken_) check(watch_.check_past(session, ask));
  }

  void final_checks() {
    Facts everything;
    for (const SessionId& session : watch_.sessions()) {
      if (broken_) return;
      const std::size_t before = everything.size();
      check(watch_.check_finally(session, ledger_.acknowledged(), everything));
      const Facts own(everything.begin() + static_cast<std::ptrdiff_t>(before), everything.end());
      if (!broken_) check(check_cancelled(own, may_cancel_.contains(session)));
    }
    if (!broken_) check(check_marks(everything, ledger_.marks()));
  }

  const Plan& plan_;
  const Plant plant_;
  const Trace& trace_;
  const control::Settings settings_;
  const kernel::Limits limits_;
  Provider provider_;
  FickleHooks hooks_;
  People people_;
  DiskFaults disk_faults_;
  std::map<TurnId, std::string> environments_;  // of turns that clients named
  std::string last_environment_ = kOwnEnvironment;
  std::set<SessionId> may_cancel_;  // sessions to which a command was sent that cancels turns
  bool slow_ = false;               // a fault of this run slows reads or commits down
  std::int64_t down_ms_ = 0;
  std::uint64_t crash_draw_ = 0;
  std::optional<Action> at_end_;    // fault for the next end of a process
  FickleModels* models_ = nullptr;  // of the current boot
  std::unique_ptr<FaultyStore> faulty_;
  Checked broken_;
  Counts counts_;
  std::int64_t began_ms_ = 0;
  Node node_;
  Watch watch_;
  Ledger ledger_;
  Followers followers_;
  Terminals terminals_;
};

}  // namespace

RunResult run_plan(const Plan& plan, Plant plant, const Trace& trace) {
  return World{plan, plant, trace}.run();
}

}  // namespace agentrt::sim
