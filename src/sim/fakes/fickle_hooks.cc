#include "sim/fakes/fickle_hooks.h"

#include <fmt/format.h>

namespace agentrt::sim {
namespace {

using schema::Decision;
using schema::HookOutcome;
using schema::HookPoint;

bool decides(HookPoint point) {
  return point == HookPoint::pre_tool_use || point == HookPoint::permission_request;
}

// The outcome without a planned mood: nothing, a text for the model, or a decision on the call.
HookOutcome plain(HookPoint point, std::uint64_t draw) {
  HookOutcome outcome;
  if (draw % 3 == 0) outcome.additional_context = {"by the way"};
  if (decides(point) && draw % 4 == 0)
    outcome.decision = draw % 8 == 0 ? Decision::ask : Decision::allow;
  return outcome;
}

HookOutcome objection(HookPoint point, std::uint64_t draw) {
  HookOutcome outcome;
  outcome.reason = "the hook is against it";
  if (draw % 3 == 0)
    outcome.continue_ = false;
  else if (decides(point) && draw % 3 == 1)
    outcome.decision = Decision::deny;
  else
    outcome.block = true;
  return outcome;
}

HookOutcome rewrite(const ports::HookRequest& request, std::uint64_t draw) {
  HookOutcome outcome;
  if (request.hook.point == HookPoint::post_tool_use) outcome.updated_tool_output = "nothing";
  if (!decides(request.hook.point)) return outcome;
  // Input that does not parse, or that is not an object, fails the call or the hook.
  outcome.updated_input =
      schema::Json{draw % 9 == 0   ? R"({"cmd":"ls"})"
                   : draw % 9 == 1 ? "7"
                                   : fmt::format(R"({{"command":"ls {}"}})", draw % 3)};
  if (draw % 2 == 0) outcome.decision = Decision::allow;
  return outcome;
}

}  // namespace

HookAnswer FickleHooks::answer(const ports::HookRequest& request) {
  Mood mood{Kind::quiet, 0, ++runs * 77};
  if (!next.empty()) {
    mood = next.front();
    next.pop_front();
  }
  HookAnswer out{static_cast<std::int64_t>(mood.draw / 64 % 30), {}};
  switch (mood.kind) {
    case Kind::hook_slow:
      out.after_ms = mood.stall_ms;
      break;
    case Kind::hook_fails:
      out.outcome.failure =
          schema::Failure{schema::Category::exit_nonzero, "the hook ended with exit code 1", false};
      break;
    case Kind::hook_objects:
      out.outcome = objection(request.hook.point, mood.draw);
      break;
    case Kind::hook_rewrites:
      out.outcome = rewrite(request, mood.draw);
      break;
    default:
      out.outcome = plain(request.hook.point, mood.draw);
  }
  return out;
}

}  // namespace agentrt::sim
