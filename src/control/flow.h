// control/flow.h: how a turn goes on: what comes next after each thing that happened to it.
//
// Between two requests to a model a turn passes a row of gates: hooks, the checks of a call,
// policy, a person. Each method adds the facts of what comes next and returns as soon as something
// has to be waited for; what happens then comes back as a report or an answer, and the turn goes on
// from the view alone. So a turn that a restart held up at any gate goes on through the same
// methods.
//
// A Flow looks at the turn as it stands with the facts added so far: they are folded as they come.
#pragma once

#include "control/judging.h"
#include "control/turn_facts.h"

namespace agentrt::control {

// What a hook made of what it was asked about: nothing against it, not this, no answer that can be
// gone on without, or the end of the turn.
enum class Heard { fine, blocks, fails, ends };

class Flow {
 public:
  // REQUIRES: the thread has an active turn.
  Flow(Facts& facts, const Session& view, const Thread& thread, Inputs& inputs);

  const Turn& turn();
  schema::TurnScope scope() { return facts_.of(turn().ids); }
  schema::ToolScope scope_of(const state::ToolCall& call) { return {scope(), call.step, call.id}; }

  // The tools that the turn may call.
  schema::ToolCatalogResolved catalog(const schema::ReportPrepared& report);

  // Whatever comes next: hooks about what has just happened, calls, the end, or another request.
  void go_on();
  // A person allowed or refused the call that waited, or nobody did.
  void refuse_call(const state::ToolCall& call, schema::Failure error);
  // What a call is bound to is known: ask, if it still has to be.
  void inspected(const state::ToolCall& call, const schema::Binding& binding);
  // A server asks a person in the middle of the call; nobody is waited for who is not there.
  void ask_for_server(const state::ToolCall& call, const schema::ReportToolAsks& question);
  // The hook that was heard has spoken; these facts say so already.
  void heard(schema::HookPoint point, Heard how, const std::string& reason);
  // Asks to trust the files of the workspace, where that was wished and not refused before.
  bool asks_for_trust(const std::vector<schema::PolicyFile>& files);

 private:
  bool hook_waits();
  void calls();
  bool call_waits();
  void start_beside();
  bool joins_others(const state::ToolCall& call) const;
  bool is_lost(const state::ToolCall& call) const;
  void run_in_session(const state::ToolCall& call);
  void begin(const state::ToolCall& call);
  void start_call(const state::ToolCall& call, const schema::Json& policy);
  bool settle(const state::ToolCall& call, const policy::Judgement& judgement);
  bool ask_input(const state::ToolCall& call);
  void ask_permission(const state::ToolCall& call, const policy::Judgement& judgement,
                      const schema::Binding& binding);
  void limit_wait(schema::ActionRequired& required);
  void require(const schema::TurnScope& held_back, const ActionId& action,
               schema::ActionRequired required);
  bool start_hook(schema::HookPoint point, std::uint64_t from, const std::string& tool,
                  const schema::TurnScope& about);
  void finish();
  void complete();
  void ask_model();
  void end(schema::Failure error);
  policy::Judgement judge(const state::ToolCall& call, const schema::Binding* now = nullptr);
  // The policy that the turn is under, with the facts added so far.
  const policy::Effective& effective();

  Facts& facts_;
  const Thread& thread_;
  const Inputs& inputs_;
  FreshIds ids_;
  state::Session after_;                        // the turn's thread alone, with the facts so far
  std::size_t folded_ = 0;                      // of those facts
  std::optional<policy::Effective> effective_;  // none: not derived yet, or changed since
};

}  // namespace agentrt::control
