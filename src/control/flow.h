// control/flow.h: decides the next step of a turn after each event.
//
// Between two model requests a turn passes several gates: hooks, checks of a call, policy, a user's
// approval. Each method adds the facts of the next step and returns as soon as the turn must wait.
// The outcome comes back as a report or an answer, and the turn continues from the view alone. So a
// turn that a restart interrupted at any gate continues through the same methods.
//
// A Flow sees the turn including the facts added so far: they are folded as they are added.
#pragma once

#include "control/judging.h"
#include "control/turn_facts.h"
#include "tools/tool.h"

namespace agentrt::control {

// The outcome of a hook: no objection; it blocks the action; it failed and must not be ignored; or
// it ends the turn.
enum class HookVerdict { fine, blocks, fails, ends };

// Records the policy that the turns of a thread are under if it differs from the previous one.
void adopt_policy(Facts& facts, const Session& view, const schema::ThreadScope& thread,
                  schema::Policy policy);

class Flow {
 public:
  // REQUIRES: the thread has an active turn, or the facts so far submit one.
  Flow(Facts& facts, const Session& view, const Thread& thread, Inputs& inputs);

  const Turn& turn();
  schema::TurnScope scope() { return facts_.of(turn().ids); }
  schema::ToolScope scope_of(const state::ToolCall& call) { return {scope(), call.step, call.id}; }

  // The tools that the turn may call.
  schema::ToolCatalogResolved catalog(const std::vector<schema::CatalogTool>& of_servers,
                                      const std::vector<schema::MissingServer>& missing);

  // Takes the next step: hooks about the last event, calls, the end of the turn, or a model
  // request.
  void go_on();
  // Ends a call that must not run, with this error.
  void refuse_call(const state::ToolCall& call, schema::Failure error);
  // The binding of a call is known: starts the call, or asks the user if that is still needed.
  // `absent`: files that it would overwrite, and that do not exist.
  void inspected(const state::ToolCall& call, const schema::Binding& binding,
                 const std::vector<std::string>& absent);
  // Asks the user a question of an MCP server, during a call. Withdraws it at once if the run is
  // not interactive.
  void ask_for_server(const state::ToolCall& call, const schema::ReportToolAsks& question);
  // Continues after a hook has ended. Its own facts are already added.
  void heard(schema::HookPoint point, HookVerdict how, const std::string& reason);
  // Asks the user to trust the workspace's files, if the turn requests that and it was not refused
  // before. Returns whether it asked.
  bool asks_for_trust(const std::vector<schema::PolicyFile>& files);

 private:
  bool pauses();
  bool offers(const std::string& tool);
  bool hook_waits();
  void run_item_command();
  void end_item();
  void restores();
  bool reports_first();
  void calls();
  std::optional<schema::Failure> refusal_of(const state::ToolCall& call);
  bool call_waits();
  void start_beside();
  bool joins_others(const state::ToolCall& call) const;
  bool is_lost(const state::ToolCall& call) const;
  void run_in_session(const state::ToolCall& call);
  void begin(const state::ToolCall& call);
  bool start_call(const state::ToolCall& call, const schema::Json& policy);
  void add_started(const state::ToolCall& call, const schema::Json& policy,
                   std::optional<bool> outside = {});
  bool call_agents(const state::ToolCall& call, const tools::AgentCall& request);
  std::variant<std::string, schema::Failure> call_agent(const tools::SpawnCall& request);
  std::variant<std::string, schema::Failure> call_agent(const tools::InputCall& request);
  bool settle(const state::ToolCall& call, const policy::Judgement& judgement);
  bool ask_input(const state::ToolCall& call);
  void ask_permission(const state::ToolCall& call, const policy::Judgement& judgement,
                      const schema::Binding& binding);
  void offer(const state::ToolCall& call, const policy::Judgement& judgement,
             const schema::Binding& binding, bool outside, schema::ActionRequired& required);
  void limit_wait(schema::ActionRequired& required);
  void require(const schema::TurnScope& held_back, const ActionId& action,
               schema::ActionRequired required);
  bool start_hook(schema::HookPoint point, std::uint64_t from, const std::string& tool,
                  const schema::TurnScope& about);
  void finish();
  void complete();
  void ask_model();
  bool compacts_first();  // true: the turn waits for a compaction
  void end(schema::Failure error);
  policy::Judgement judge(const state::ToolCall& call, const schema::Binding* now = nullptr);
  // The policy that the turn is under, with the facts added so far.
  const policy::Effective& effective();

  Facts& facts_;
  const std::size_t threads_;  // of the session
  const Thread& thread_;
  const Inputs& inputs_;
  FreshIds& ids_;                               // of the inputs
  state::Session after_;                        // the turn's thread alone, with the facts so far
  std::size_t folded_ = 0;                      // of those facts
  std::optional<policy::Effective> effective_;  // none: not derived yet, or changed since
};

}  // namespace agentrt::control
