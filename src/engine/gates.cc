#include "engine/gates.h"

#include <algorithm>

#include "engine/effects.h"
#include "engine/running_call.h"
#include "engine/running_process.h"
#include "schema/tools.h"

namespace agentrt::engine {

using namespace schema;

namespace {

// Adds the call that the hook is about: a running one, or the one that has just ended.
void tell_call(HookInput& input, const state::Turn& turn, const ToolCallId& id) {
  input.tool_call_id = id;
  const auto open = std::ranges::find(turn.tools, id, &state::ToolCall::id);
  if (open != turn.tools.end()) {
    input.tool_name = open->tool;
    input.tool_input = open->args;
  } else if (turn.ended_call && turn.ended_call->id == id) {
    input.tool_name = turn.ended_call->tool;
    input.tool_input = turn.ended_call->args;
    if (turn.ended_call->failed)
      input.error = Failure{Category::internal, turn.ended_call->preview, false};
    else
      input.tool_output = turn.ended_call->preview;
  }
}

HookInput input_of(const state::Session& view, const state::Turn& turn, HookPoint point,
                   const policy::Effective& policy) {
  HookInput input;
  input.point = point;
  input.session_id = view.id;
  input.thread_id = turn.ids.thread;
  input.turn_id = turn.ids.turn;
  input.cwd = view.cwd;
  input.mode = policy.mode;
  input.sandbox = {policy.sandbox, policy.network};
  if (point == HookPoint::session_start) input.source = "startup";
  if (point == HookPoint::user_prompt_submit) input.prompt = turn.preview;
  if (point == HookPoint::post_sampling || point == HookPoint::stop)
    input.text = turn.answer_preview;
  if (point == HookPoint::stop) input.stop_hook_active = turn.stops_refused > 0;
  if (turn.hook->call) tell_call(input, turn, *turn.hook->call);
  return input;
}

std::string text_of(const std::vector<InputPart>& parts) {
  std::string text;
  for (const InputPart& part : parts) {
    if (!text.empty()) text += '\n';
    text += part.text ? *part.text : part.path.value_or("");
  }
  return text;
}

}  // namespace

// --- hooks ---

class Engine::RunningHook::Listener final : public ports::HookListener {
 public:
  Listener(const Parts& parts, SessionId session, TurnId turn, std::string run)
      : parts_(parts), session_(std::move(session)), turn_(std::move(turn)), run_(std::move(run)) {}

  void on_ended(HookOutcome outcome) override {
    if (!std::exchange(wanted_, false)) return;
    parts_.reports.report(session_, ReportHookEnded{turn_, run_, std::move(outcome)}, {});
  }
  bool wanted() const { return wanted_; }
  void stop() { wanted_ = false; }

 private:
  const Parts& parts_;
  SessionId session_;
  TurnId turn_;
  std::string run_;
  bool wanted_ = true;
};

Engine::RunningHook::RunningHook(const Parts& parts, const state::Session& view,
                                 const RunHook& what)
    : parts_(parts),
      run_(what.run),
      listener_(std::make_shared<Listener>(parts, view.id, what.turn.turn, what.run)) {
  const state::Turn* turn = state::find_turn(view, what.turn.turn);
  check(turn && turn->hook, "a plan is of its view");
  ports::HookRequest request{
      run_, turn->hook->hook,
      input_of(view, *turn, turn->hook->point, effective_policy(parts, view, *turn))};
  if (turn->hook->point != HookPoint::user_prompt_submit) {
    parts.hooks.start(std::move(request), listener_);
    return;
  }
  // The view has only a preview of the input, so the complete text is read from the log.
  auto task =
      std::make_shared<ports::Step>([&parts, query = history_of(view, what.turn),
                                     request = std::move(request), listener = listener_]() mutable {
        const auto history = parts.history.window(query);
        if (history) request.input.prompt = text_of(history->input);
        parts.loop.post([&parts, request = std::move(request), listener,
                         read = history.has_value()]() mutable {
          if (!listener->wanted()) return;
          if (read) return parts.hooks.start(std::move(request), listener);
          // Fail, because the preview alone could hide what the hook checks for.
          listener->on_ended(
              {.failure = Failure{Category::unavailable, "the prompt could not be read", true}});
        });
      });
  run_soon(parts.loop, parts.worker, std::move(task));
}

Engine::RunningHook::~RunningHook() {
  if (!listener_->wanted()) return;
  listener_->stop();
  parts_.hooks.cancel(run_);
}

// --- inspections ---

Engine::Inspecting::Inspecting(const Parts& parts, const state::Session& view,
                               const Inspect& what) {
  const state::Turn* turn = state::find_turn(view, what.turn);
  check(turn && !turn->tools.empty(), "a plan is of its view");
  const state::ToolCall& call = turn->tools.front();
  const policy::Effective policy = effective_policy(parts, view, *turn);
  auto task = std::make_shared<ports::Step>(
      [&parts, wanted = wanted_, session = view.id, what,
       request = RunningProcess::request_of(view, what.turn, policy, call),
       executes = RunningProcess::executes(view, policy, call),
       overwrites = RunningProcess::overwrites(view, call),
       objection = RunningCall::objection(parts, view, policy, call)]() mutable {
        ReportInspected report{what.turn, what.call, {}, {}};
        for (std::string& file : overwrites)
          if (parts.inspector.is_absent(file)) report.absent.push_back(std::move(file));
        auto binding = request ? look_at(parts.inspector, *request, executes)
                               : std::unexpected(request.error());
        report.failure = objection();
        if (binding)
          report.binding = *std::move(binding);
        else if (!report.failure)
          report.failure = failure_of(binding.error());
        parts.loop.post([&parts, wanted, session, report = std::move(report)]() mutable {
          if (*wanted) parts.reports.report(session, std::move(report), {});
        });
      });
  run_soon(parts.loop, parts.worker, std::move(task));
}

Engine::Inspecting::~Inspecting() { *wanted_ = false; }

// --- waits ---

Engine::Expiring::Expiring(const Parts& parts, const state::Session& view, const AwaitAnswer& what)
    : parts_(parts) {
  // The deadline is a wall clock time, which may have been set since; within_ms bounds the wait.
  const std::int64_t within = std::max<std::int64_t>(what.within_ms, 0);
  const std::int64_t delay =
      std::max<std::int64_t>(0, within - parts.loop.since(what.at + -within));
  timer_ = parts.loop.after(delay, [&parts, session = view.id, action = what.action] {
    parts.reports.report(session, ReportActionExpired{action}, {});
  });
}

Engine::Expiring::~Expiring() { parts_.loop.cancel(timer_); }

Engine::AwaitingSubagents::AwaitingSubagents(const Parts& parts, const state::Session& view,
                                             const AwaitSubagents& what)
    : parts_(parts) {
  timer_ = parts.loop.after(what.timeout_ms,
                            [&parts, session = view.id, turn = what.turn, call = what.call] {
                              parts.reports.report(session, ReportWaitDue{turn, call}, {});
                            });
}

Engine::AwaitingSubagents::~AwaitingSubagents() { parts_.loop.cancel(timer_); }

}  // namespace agentrt::engine
