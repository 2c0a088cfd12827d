#include "control/decide.h"

#include "control/decisions.h"

namespace agentrt::control {
namespace {

using namespace schema;

struct CommandTable {
  const Session& view;
  Inputs& inputs;

  Decision operator()(const CreateSession& c) { return create_session(view, c, std::move(inputs)); }
  Decision operator()(const UpdateSession& c) { return update_session(view, c, std::move(inputs)); }
  Decision operator()(const SubmitTurn& c) { return submit_turn(view, c, std::move(inputs)); }
  Decision operator()(const InterruptTurn& c) { return interrupt_turn(view, c, std::move(inputs)); }
  Decision operator()(const ResumeThread& c) { return resume_thread(view, c, std::move(inputs)); }
  Decision operator()(const RemoveQueuedTurn& c) {
    return remove_queued_turn(view, c, std::move(inputs));
  }
  Decision operator()(const PromoteQueuedTurn& c) {
    return promote_queued_turn(view, c, std::move(inputs));
  }
  Decision operator()(const RespondAction& c) { return respond_action(view, c, std::move(inputs)); }
  Decision operator()(const ResolvePermission& c) {
    return resolve_permission(view, c, std::move(inputs));
  }
  Decision operator()(const SetPolicy& c) { return set_policy(view, c, std::move(inputs)); }
  Decision operator()(const TrustWorkspace& c) {
    return trust_workspace(view, c, std::move(inputs));
  }
  Decision operator()(const WriteProcessStdin& c) {
    return write_process_stdin(view, c, std::move(inputs));
  }
  Decision operator()(const ResizeProcess& c) { return resize_process(view, c, std::move(inputs)); }
  Decision operator()(const TerminateProcess& c) {
    return terminate_process(view, c, std::move(inputs));
  }
  template <class Read>
  Decision operator()(const Read&) {
    static_assert(Read::kTraits.effect == Effect::reads, "every mutating command has a decision");
    stop("a command that only reads is not decided");
  }
};

struct ReportTable {
  const Session& view;
  Inputs& inputs;

  Decision operator()(const ReportRestarted& r) { return restarted(view, r, std::move(inputs)); }
  Decision operator()(const ReportPrepared& r) { return prepared(view, r, std::move(inputs)); }
  Decision operator()(const ReportFragments& r) { return fragments(view, r, std::move(inputs)); }
  Decision operator()(const ReportModelCompleted& r) {
    return model_completed(view, r, std::move(inputs));
  }
  Decision operator()(const ReportModelFailed& r) {
    return model_failed(view, r, std::move(inputs));
  }
  Decision operator()(const ReportRetryDue& r) { return retry_due(view, r, std::move(inputs)); }
  Decision operator()(const ReportInspected& r) { return inspected(view, r, std::move(inputs)); }
  Decision operator()(const ReportHookEnded& r) { return hook_ended(view, r, std::move(inputs)); }
  Decision operator()(const ReportActionExpired& r) {
    return action_expired(view, r, std::move(inputs));
  }
  Decision operator()(const ReportProcessReady& r) {
    return process_ready(view, r, std::move(inputs));
  }
  Decision operator()(const ReportProcessNews& r) {
    return process_news(view, r, std::move(inputs));
  }
  Decision operator()(const ReportProcessNotice& r) {
    return process_notice(view, r, std::move(inputs));
  }
  Decision operator()(const ReportToolEnded& r) { return tool_ended(view, r, std::move(inputs)); }
  Decision operator()(const ReportFileChange& r) { return file_change(view, r, std::move(inputs)); }
  Decision operator()(const ReportToolProgress& r) {
    return tool_progress(view, r, std::move(inputs));
  }
  Decision operator()(const ReportToolAsks& r) { return tool_asks(view, r, std::move(inputs)); }
  Decision operator()(const ReportCallEnded& r) { return call_ended(view, r, std::move(inputs)); }
  Decision operator()(const ReportUploaded& r) { return uploaded(view, r, std::move(inputs)); }
  Decision operator()(const ReportOutputDue& r) { return output_due(view, r, std::move(inputs)); }
};

}  // namespace

Decision decide(const Session& view, const Command& command, Inputs inputs) {
  return std::visit(CommandTable{view, inputs}, command);
}

Decision decide(const Session& view, const Report& report, Inputs inputs) {
  return std::visit(ReportTable{view, inputs}, report);
}

}  // namespace agentrt::control
