#include "cli/program.h"

#include <csignal>
#include <exception>
#include <filesystem>

#include "cli/remote/remote.h"
#include "cli/verbs.h"

namespace agentrt::cli {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

int perform(Context& context) {
  return std::visit(
      Overloaded{
          [&](const RunArguments& arguments) { return run_turn(context, arguments); },
          [&](const ChatArguments& arguments) { return chat(context, arguments); },
          [&](const ServeArguments& arguments) { return serve(context, arguments); },
          [&](const OwnArguments&) { return own(context); },
          [&](const StopArguments& arguments) { return stop_owner(context, arguments); },
          [&](const CompactArguments& arguments) { return compact_thread(context, arguments); },
          [&](const ForkArguments& arguments) { return fork_thread(context, arguments); },
          [&](const RollbackArguments& arguments) { return rollback_thread(context, arguments); },
          [&](const ResumeArguments& arguments) { return resume_session(context, arguments); },
          [&](const CallArguments& arguments) { return call(context, arguments); },
          [&](const RpcArguments&) { return relay_rpc(context); },
          [&](const AttachArguments& arguments) { return attach_session(context, arguments); },
          [&](const SessionsArguments& arguments) { return list_sessions(context, arguments); },
          [&](const ShowArguments& arguments) { return show_session(context, arguments); },
          [&](const FindArguments& arguments) { return find_by_id(context, arguments); },
          [&](const EventsArguments& arguments) { return print_events(context, arguments); },
          [&](const JobsArguments& arguments) { return show_jobs(context, arguments); },
          [&](const TokenCreateArguments& arguments) { return create_token(context, arguments); },
          [&](const TokenListArguments&) { return list_tokens(context); },
          [&](const TokenRevokeArguments& arguments) { return revoke_token(context, arguments); },
          [&](const AcpArguments&) { return serve_acp(context); },
          [&](const McpServeArguments&) { return serve_mcp(context); },
          [&](const McpListArguments& arguments) { return list_mcp_servers(context, arguments); },
          [&](const McpLoginArguments& arguments) { return log_in_to_mcp(context, arguments); },
          [&](const McpLogoutArguments& arguments) { return log_out_of_mcp(context, arguments); },
          [&](const SchemaArguments& arguments) { return print_schema(context, arguments); },
          [&](const DoctorArguments&) { return examine(context); },
          [&](const ApprovalsArguments& arguments) { return list_approvals(context, arguments); },
          [&](const ChannelsArguments& arguments) { return list_channels(context, arguments); },
          [&](const TasksArguments& arguments) { return list_tasks(context, arguments); },
          [&](const AgentsArguments& arguments) { return list_agents(context, arguments); },
          [&](const AnswerArguments& arguments) { return answer_action(context, arguments); },
          [&](const ExplainArguments& arguments) { return explain(context, arguments); },
          [&](const TrustArguments& arguments) { return trust_workspace(context, arguments); },
          [&](const RulesArguments& arguments) { return list_rules(context, arguments); },
          [&](const RemoveRuleArguments& arguments) { return remove_rules(context, arguments); },
          [&](const DemoArguments& arguments) { return demo(context, arguments); },
          [&](const OpenArguments& arguments) { return open_page(context, arguments); },
          [&](const ValidateArguments& arguments) { return validate_stream(context, arguments); },
          [&](const SandboxArguments& arguments) { return run_sandboxed(context, arguments); }},
      context.arguments.verb);
}

}  // namespace

int run_program(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is handled as a write error
  const Screen screen = standard_screen();
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const bool at_terminal = screen.in_terminal && screen.out_terminal;
  const auto parsed = parse_arguments(words, at_terminal ? Bare::chat : Bare::refuse);
  if (const Answer* answer = std::get_if<Answer>(&parsed)) {
    Output output(screen, answer->json ? Form::json : Form::text);
    output.out(answer->out);
    if (!answer->problem.empty()) output.problem({Code::invalid_params, answer->problem, {}});
    return answer->exit_code;
  }
  const Arguments& arguments = std::get<Arguments>(parsed);
  Output output(screen, arguments.json ? Form::json : Form::text);
  std::error_code error;
  const std::string cwd = std::filesystem::current_path(error).string();
  if (error)
    return output.problem(
        {Code::invalid_params, "The current folder no longer exists; change to another one.", {}});
  Context context{arguments, config::process_environment(), cwd, output};
  if (const auto usable = check_remote_use(context); !usable)
    return context.output.problem(usable.error());
  try {
    return perform(context);
  } catch (const std::exception& exception) {
    return context.output.problem({Code::internal, exception.what(), {}});
  }
}

}  // namespace agentrt::cli
