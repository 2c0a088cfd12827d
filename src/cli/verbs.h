// cli/verbs.h: the commands. Each function runs one and returns its exit code.
#pragma once

#include "cli/context.h"

namespace agentrt::cli {

int run_turn(Context& context, const RunArguments& arguments);
int chat(Context& context, const ChatArguments& arguments);
int serve(Context& context, const ServeArguments& arguments);
int own(Context& context);
int stop_owner(Context& context, const StopArguments& arguments);
int compact_thread(Context& context, const CompactArguments& arguments);
int fork_thread(Context& context, const ForkArguments& arguments);
int rollback_thread(Context& context, const RollbackArguments& arguments);
int relay_rpc(Context& context);
int attach_session(Context& context, const AttachArguments& arguments);
int call(Context& context, const CallArguments& arguments);
int resume_session(Context& context, const ResumeArguments& arguments);
int list_sessions(Context& context, const SessionsArguments& arguments);
int show_session(Context& context, const ShowArguments& arguments);
int find_by_id(Context& context, const FindArguments& arguments);
int show_jobs(Context& context, const JobsArguments& arguments);
int print_events(Context& context, const EventsArguments& arguments);
int create_token(Context& context, const TokenCreateArguments& arguments);
int list_tokens(Context& context);
int revoke_token(Context& context, const TokenRevokeArguments& arguments);
int serve_acp(Context& context);
int serve_mcp(Context& context);
int list_mcp_servers(Context& context, const McpListArguments& arguments);
int log_in_to_mcp(Context& context, const McpLoginArguments& arguments);
int log_out_of_mcp(Context& context, const McpLogoutArguments& arguments);
int print_schema(Context& context, const SchemaArguments& arguments);
int examine(Context& context);
int run_sandboxed(Context& context, const SandboxArguments& arguments);
int list_approvals(Context& context, const ApprovalsArguments& arguments);
int list_channels(Context& context, const ChannelsArguments& arguments);
int list_tasks(Context& context, const TasksArguments& arguments);
int answer_action(Context& context, const AnswerArguments& arguments);
int list_agents(Context& context, const AgentsArguments& arguments);
int explain(Context& context, const ExplainArguments& arguments);
int list_rules(Context& context, const RulesArguments& arguments);
int remove_rules(Context& context, const RemoveRuleArguments& arguments);
int trust_workspace(Context& context, const TrustArguments& arguments);
int demo(Context& context, const DemoArguments& arguments);
int open_page(Context& context, const OpenArguments& arguments);
int validate_stream(Context& context, const ValidateArguments& arguments);

}  // namespace agentrt::cli
