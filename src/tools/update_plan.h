// tools/update_plan.h: the tool `update_plan`: shows the user the plan and its progress. Has no
// other effect.
#pragma once

#include "tools/tool.h"

namespace agentrt::tools {

BOOST_DEFINE_ENUM_CLASS(PlanStatus, pending, in_progress, completed)

struct PlanStep {
  std::string step;
  PlanStatus status = PlanStatus::pending;

  bool operator==(const PlanStep&) const = default;
};
BOOST_DESCRIBE_STRUCT(PlanStep, (), (step, status))

struct UpdatePlanArgs {
  static constexpr bool kFromModel = true;

  std::vector<PlanStep> plan;
  std::optional<std::string> explanation;

  bool operator==(const UpdatePlanArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(UpdatePlanArgs, (), (plan, explanation))

inline constexpr schema::Argument kUpdatePlanArguments[] = {
    {"plan",
     R"("minItems":1,"maxItems":50,"items":{"type":"object","properties":{"step":{"type":"string",)"
     R"("minLength":1,"description":"What is to be done, in a few words."},"status":{"type":)"
     R"("string","enum":["pending","in_progress","completed"],"description":"How far it is. Keep )"
     R"(exactly one step in_progress while you work."}},"required":["step","status"],)"
     R"("additionalProperties":false})",
     "All steps in order, finished ones included. Replaces the previous plan."},
    {"explanation", "", "Why the plan changed, in one sentence."},
};

inline constexpr ToolSpec kUpdatePlan = {
    .name = "update_plan",
    .description =
        "Shows the person the steps of the work and how far each one is. Use it for work of three "
        "or more steps: once at the beginning, and again whenever a step starts or ends. Returns a "
        "confirmation, and changes nothing else.",
    .arguments = kUpdatePlanArguments,
    .runs = Runner::session,
    .access = Access::read,
    .item = schema::ItemKind::todo,
    .verb = "plan",
    .claude = {{"TodoWrite"}},
};

// Views render the plan from the item.
inline SessionResult run(const UpdatePlanArgs&, const SessionCall& call) {
  return {.text = "The plan was updated.", .item_text = std::string(call.args)};
}

}  // namespace agentrt::tools
