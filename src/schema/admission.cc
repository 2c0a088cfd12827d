#include "schema/admission.h"

namespace agentrt::schema {
namespace {

template <class AnyId>
AdmissionPlan on_owner(ObjectKind kind, const AnyId& id) {
  return {.lane = LaneChoice::owner, .object = NamedObject{kind, id.text()}};
}

AdmissionPlan on_named_with(const std::optional<TurnId>& turn) {
  return {.lane = LaneChoice::named, .turn = turn};
}

template <class Options>
FolderChoice folders_of(const Options& options) {
  return {options.cwd, options.additional_roots.value_or(std::vector<std::string>{})};
}

std::vector<std::string> outputs_in(const std::vector<InputPart>& input) {
  std::vector<std::string> refs;
  for (const InputPart& part : input)
    if (part.type == InputKind::output && part.ref) refs.push_back(*part.ref);
  return refs;
}

template <class C>
AdmissionPlan on_task(const C& command) {
  AdmissionPlan plan = on_owner(ObjectKind::task, command.task_id);
  plan.tasks.push_back(command.task_id);
  return plan;
}

template <class C>
AdmissionPlan on_edge(const C& command) {
  AdmissionPlan plan = on_task(command);
  const EdgeKind kind = command.kind;
  if (kind == EdgeKind::parent || kind == EdgeKind::child || kind == EdgeKind::blocks ||
      kind == EdgeKind::blocked_by || kind == EdgeKind::source_task)
    plan.tasks.emplace_back(command.target_id);
  return plan;
}

template <class C>
AdmissionPlan on_peer_task(const C& command) {
  AdmissionPlan plan = on_owner(ObjectKind::channel, command.channel_id);
  plan.tasks.push_back(command.task_id);
  return plan;
}

struct AdmissionTable {
  AdmissionPlan operator()(const CreateSession& c) const {
    return {.lane = LaneChoice::opened,
            .folders = folders_of(c),
            .id_chosen = c.session_id.has_value()};
  }
  AdmissionPlan operator()(const SubmitTurn& c) const {
    return {.lane = LaneChoice::opened,
            .new_turn = c.turn_id,
            .new_task = c.task_id,
            .tasks = c.task_id ? std::vector{*c.task_id} : std::vector<TaskId>{},
            .outputs = outputs_in(c.input),
            .folders = folders_of(c.options.value_or(TurnOptions{})),
            .id_chosen = c.turn_id.has_value()};
  }
  AdmissionPlan operator()(const TrustWorkspace&) const { return {.lane = LaneChoice::system}; }
  AdmissionPlan operator()(const SetFolderPolicy&) const { return {.lane = LaneChoice::system}; }

  AdmissionPlan operator()(const UpdateSession&) const { return {}; }
  AdmissionPlan operator()(const SetPolicy&) const { return {}; }
  AdmissionPlan operator()(const ResumeThread&) const { return {}; }
  AdmissionPlan operator()(const InterruptTurn& c) const { return on_named_with(c.turn_id); }
  AdmissionPlan operator()(const RemoveQueuedTurn& c) const {
    return on_named_with(c.queued_turn_id);
  }
  AdmissionPlan operator()(const PromoteQueuedTurn& c) const {
    return on_named_with(c.queued_turn_id);
  }

  AdmissionPlan operator()(const RespondAction& c) const {
    return on_owner(ObjectKind::action, c.action_id);
  }
  AdmissionPlan operator()(const ResolvePermission& c) const {
    return on_owner(ObjectKind::action, c.action_id);
  }
  AdmissionPlan operator()(const WriteProcessStdin& c) const {
    return on_owner(ObjectKind::process, c.process_id);
  }
  AdmissionPlan operator()(const ResizeProcess& c) const {
    return on_owner(ObjectKind::process, c.process_id);
  }
  AdmissionPlan operator()(const TerminateProcess& c) const {
    return on_owner(ObjectKind::process, c.process_id);
  }

  AdmissionPlan operator()(const CreateTask& c) const {
    AdmissionPlan plan{
        .lane = LaneChoice::named, .new_task = c.task_id, .id_chosen = c.task_id.has_value()};
    if (c.task_id) plan.tasks.push_back(*c.task_id);
    if (c.parent_task_id) plan.tasks.push_back(*c.parent_task_id);
    for (const TaskId& blocker : c.blocked_by.value_or(std::vector<TaskId>{}))
      plan.tasks.push_back(blocker);
    return plan;
  }
  AdmissionPlan operator()(const ClaimTask&) const { return {.lane = LaneChoice::named}; }
  AdmissionPlan operator()(const UpdateTask& c) const { return on_task(c); }
  AdmissionPlan operator()(const StartTask& c) const { return on_task(c); }
  AdmissionPlan operator()(const RetryTask& c) const { return on_task(c); }
  AdmissionPlan operator()(const AppendTaskProgress& c) const { return on_task(c); }
  AdmissionPlan operator()(const CompleteTask& c) const { return on_task(c); }
  AdmissionPlan operator()(const FailTask& c) const { return on_task(c); }
  AdmissionPlan operator()(const PauseTask& c) const { return on_task(c); }
  AdmissionPlan operator()(const ResumeTask& c) const { return on_task(c); }
  AdmissionPlan operator()(const ArchiveTask& c) const { return on_task(c); }
  AdmissionPlan operator()(const CancelTask& c) const { return on_task(c); }
  AdmissionPlan operator()(const LinkTasks& c) const { return on_edge(c); }
  AdmissionPlan operator()(const UnlinkTasks& c) const { return on_edge(c); }

  AdmissionPlan operator()(const CompactThread&) const { return {.lane = LaneChoice::named}; }
  AdmissionPlan operator()(const RollbackThread&) const { return {.lane = LaneChoice::named}; }
  AdmissionPlan operator()(const ForkThread& c) const {
    AdmissionPlan plan{.lane = LaneChoice::named,
                       .id_chosen = c.new_thread_id || c.new_session_id};
    if (c.new_session_id && *c.new_session_id != c.session_id) plan.new_session = c.new_session_id;
    return plan;
  }

  AdmissionPlan operator()(const CreateJob& c) const {
    AdmissionPlan plan{.lane = LaneChoice::named,
                       .new_task = c.task_id,
                       .new_job = c.job_id,
                       .checks_items = true,
                       .id_chosen = c.job_id.has_value()};
    if (c.task_id) plan.tasks.push_back(*c.task_id);
    return plan;
  }
  AdmissionPlan operator()(const CancelJob& c) const { return on_owner(ObjectKind::job, c.job_id); }
  AdmissionPlan operator()(const RetryJobItem& c) const {
    return on_owner(ObjectKind::job, c.job_id);
  }

  AdmissionPlan operator()(const SpawnSubagent& c) const {
    return {.lane = LaneChoice::named,
            .tasks = c.task_id ? std::vector{*c.task_id} : std::vector<TaskId>{},
            .new_subagent = c.subagent_id,
            .id_chosen = c.subagent_id.has_value()};
  }
  AdmissionPlan operator()(const SendSubagentInput& c) const {
    AdmissionPlan plan = on_owner(ObjectKind::subagent, c.subagent_id);
    plan.outputs = outputs_in(c.input);
    return plan;
  }
  AdmissionPlan operator()(const ResumeSubagent& c) const {
    return on_owner(ObjectKind::subagent, c.subagent_id);
  }
  AdmissionPlan operator()(const CloseSubagent& c) const {
    return on_owner(ObjectKind::subagent, c.subagent_id);
  }

  AdmissionPlan operator()(const ConnectChannel& c) const {
    return {.lane = LaneChoice::named, .new_channel = c.channel_id};
  }
  AdmissionPlan operator()(const ReconnectChannel& c) const {
    return on_owner(ObjectKind::channel, c.channel_id);
  }
  AdmissionPlan operator()(const DisconnectChannel& c) const {
    return on_owner(ObjectKind::channel, c.channel_id);
  }
  AdmissionPlan operator()(const SendChannelMessage& c) const {
    return on_owner(ObjectKind::channel, c.channel_id);
  }
  AdmissionPlan operator()(const LinkPeerTask& c) const { return on_peer_task(c); }
  AdmissionPlan operator()(const UpdatePeerTask& c) const { return on_peer_task(c); }
  AdmissionPlan operator()(const AckEvents& c) const {
    return {.lane = LaneChoice::beside,
            .object = NamedObject{ObjectKind::channel, c.channel_id.text()}};
  }

  AdmissionPlan operator()(const GetTrust& c) const { return {.reads_folder = c.cwd}; }
  AdmissionPlan operator()(const GetRules& c) const {
    return {.reads_folder = c.session_id ? std::nullopt : c.cwd};
  }
  AdmissionPlan operator()(const EvaluatePermission& c) const {
    return {.reads_folder = c.session_id ? std::nullopt : c.cwd};
  }
  // Every other read needs nothing but its own params.
  template <class Read>
  AdmissionPlan operator()(const Read&) const {
    static_assert(Read::kTraits.effect == CommandEffect::reads,
                  "every mutating command has a row here");
    return {};
  }
};

}  // namespace

AdmissionPlan plan_admission(const Command& command) {
  return std::visit(AdmissionTable{}, command);
}

}  // namespace agentrt::schema
