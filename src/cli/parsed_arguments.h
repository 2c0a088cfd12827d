// cli/parsed_arguments.h: for the files that declare commands: where the parser puts what it reads.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "cli/arguments.h"

namespace agentrt::cli {

struct Parsed {
  Arguments arguments;
  RunArguments run;
  ChatArguments chat;
  AttachArguments attach;
  ServeArguments serve;
  CallArguments call;
  SessionsArguments sessions;
  ShowArguments show;
  FindArguments find;
  EventsArguments events;
  TokenCreateArguments token_create;
  TokenRevokeArguments token_revoke;
  OpenArguments open;
  McpListArguments mcp_list;
  McpLoginArguments mcp_login;
  McpLogoutArguments mcp_logout;
  DemoArguments demo;
  SchemaArguments schema;
  ValidateArguments validate;
  SandboxArguments sandbox;
  ApprovalsArguments approvals;
  ChannelsArguments channels;
  TasksArguments tasks;
  JobsArguments jobs;
  AgentsArguments agents;
  AnswerArguments answer;
  ExplainArguments explain;
  TrustArguments trust;
  StopArguments stop;
  CompactArguments compact;
  ForkArguments fork;
  RollbackArguments rollback;
  ResumeArguments resume;
  RulesArguments rules;
  RemoveRuleArguments remove_rule;
};

// Adds a command with the options that every command has. `examples` is the end of its help.
CLI::App* add_verb(CLI::App& app, Parsed& out, const std::string& name, const std::string& about,
                   const std::string& examples);
// Adds the options that every command has.
void add_shared(CLI::App& app, Arguments& out);
// Adds --config.
void add_config(CLI::App& app, Arguments& out);

// Declares the commands of cli/decisions: approvals, approve, deny, explain, trust and rules.
void add_decisions(CLI::App& app, Parsed& out);
// Declares the commands of cli/tasks: tasks, jobs and agents.
void add_tasks(CLI::App& app, Parsed& out);
void add_jobs(CLI::App& app, Parsed& out);
// Declares the commands about the history of a thread: compact, fork and rollback.
void add_history(CLI::App& app, Parsed& out);
// Declares the commands of cli/page: open and demo.
void add_page(CLI::App& app, Parsed& out);
// Declares the commands of cli/mcp and cli/acp: mcp serve, list, login and logout; acp.
void add_mcp(CLI::App& app, Parsed& out);
// Declares the commands of cli/remote: rpc, attach and channels.
void add_remote(CLI::App& app, Parsed& out);

}  // namespace agentrt::cli
