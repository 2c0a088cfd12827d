// cli/arguments.h: the parsed command line. Parses syntax only; the verbs give it meaning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace agentrt::cli {

struct RunArguments {
  // "-" reads standard input. Absent: resumes the session's open turn.
  std::optional<std::string> prompt;
  std::optional<std::string> model, mode, sandbox, cwd, session, thread, turn_id;
  std::vector<std::string> folders;           // in addition to the workspace
  std::vector<std::string> files;             // sent to the model with the prompt
  std::vector<std::string> fallback;          // models to try in this order if the first fails
  std::vector<std::string> allow, ask, deny;  // permission rules for the session
  bool continue_last = false;                 // the session of this folder that was used last
  bool new_session = false;                   // create the session that `session` names
  bool yes = false;
  bool yes_outside = false;
};
struct ResumeArguments {
  std::string search;  // words that the list is filtered by at first
  std::optional<std::string> model, mode, sandbox;
  bool plain = false;
};
struct ChatArguments {
  std::optional<std::string> session;  // absent: a new one
  bool continue_last = false;          // the session of this folder that was used last
  std::optional<std::string> model, mode, sandbox, cwd;
  std::vector<std::string> folders;  // in addition to the workspace, for a new session
  bool plain = false;
  bool attach = false;                // `agentrt attach`: never creates a session
  std::optional<std::string> thread;  // of an attached session
};
struct AttachArguments {
  std::string session;
  std::optional<std::string> thread;
  bool plain = false;
};
struct ServeArguments {
  std::optional<std::string> listen;  // default: [server] listen, else 127.0.0.1:7717
  std::optional<std::string> tls_cert, tls_key;
  std::vector<std::string> hosts;
  bool allow_remote = false;
  bool behind_proxy = false;
};
struct OwnArguments {};  // hidden: the background owner that commands start
struct StopArguments {
  bool yes = false;
};
struct CompactArguments {
  std::string session;
  std::optional<std::string> thread, instructions;
};
struct ForkArguments {
  std::string session;
  std::optional<std::string> thread, turn, new_session;
};
struct RollbackArguments {
  std::string session, turn;
  std::optional<std::string> thread, restore;
  bool interrupt = false;
  bool yes = false;
};
struct CallArguments {
  std::string command;
  std::string params = "{}";  // "-" reads standard input
};
struct RpcArguments {};
struct SessionsArguments {
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;
  bool all = false;
  bool system = false;
};
struct ShowArguments {
  std::string session;
  bool transcript = false;
  bool markdown = false;
  std::optional<std::uint64_t> limit;
  std::optional<std::string> cursor;
  std::optional<std::string> view;    // name of a read model
  std::optional<std::string> thread;  // that narrows it
};
struct FindArguments {
  std::string id;
};
struct EventsArguments {
  std::string session;
  bool follow = false;
  std::uint64_t after = 0;
  std::optional<std::uint64_t> limit;
  std::vector<std::string> types;
};
struct JobsArguments {
  std::optional<std::string> job, session, status, cursor;
  std::optional<std::uint64_t> limit;
  bool watch = false;
};
struct TokenCreateArguments {
  std::vector<std::string> scopes;
  std::optional<std::string> session, cwd, name, expires;
};
struct OpenArguments {
  std::string session;  // empty: the list of sessions
  std::vector<std::string> scopes;
  bool browser = false;
};
struct DemoArguments {
  bool automatic = false;
  bool exit = false;
  bool keep = false;
  bool browser = false;
};
struct McpServeArguments {};
struct AcpArguments {};
struct McpListArguments {
  bool check = false;
};
struct McpLoginArguments {
  std::string server;
  std::vector<std::string> scopes;
  bool open = false;
  bool no_listen = false;
  std::uint64_t timeout_s = 300;
};
struct McpLogoutArguments {
  std::string server;
};
struct TokenListArguments {};
struct TokenRevokeArguments {
  std::string token;
};
struct SchemaArguments {
  std::string document;
};
struct DoctorArguments {};
struct SandboxArguments {
  std::vector<std::string> command;
  std::optional<std::string> profile, cwd;
  bool allow_network = false;
  bool explain = false;
};
struct ValidateArguments {
  std::string source;  // a file, "-" or http://…
  std::optional<std::string> token, snapshot, format, explain;
  std::string profile = "full";
  std::uint64_t after = 0;
  bool strict = false;
};

struct ApprovalsArguments {
  std::optional<std::string> session;
  bool all = false;
};
struct ChannelsArguments {
  std::optional<std::string> session;
  bool all = false;
};
struct TasksArguments {
  std::optional<std::string> session;
  std::vector<std::string> status;
  bool internal = false;
  bool watch = false;
};
struct AnswerArguments {
  std::string action;
  std::string decision;  // allow, deny
  std::optional<std::string> scope, rule, reason, digest, answer;
};
struct AgentsArguments {
  std::optional<std::string> session;
  std::vector<std::string> statuses;
  bool watch = false;
};
struct ExplainArguments {
  std::string text;
  std::optional<std::string> mode, cwd, session;
};
struct TrustArguments {
  std::optional<std::string> folder;
  bool list = false;
  bool revoke = false;
  bool yes = false;
};
struct RulesArguments {
  std::optional<std::string> session, cwd, mode;
};
struct RemoveRuleArguments {
  std::vector<std::string> rules;
  std::optional<std::string> session, cwd;
};

using Verb =
    std::variant<RunArguments, ChatArguments, ServeArguments, CallArguments, SessionsArguments,
                 FindArguments, ShowArguments, EventsArguments, TokenCreateArguments,
                 TokenListArguments, TokenRevokeArguments, SchemaArguments, DoctorArguments,
                 ValidateArguments, SandboxArguments, ApprovalsArguments, TasksArguments,
                 JobsArguments, AgentsArguments, AnswerArguments, ExplainArguments, TrustArguments,
                 RulesArguments, RemoveRuleArguments, OwnArguments, StopArguments, ResumeArguments,
                 OpenArguments, DemoArguments, CompactArguments, ForkArguments, RollbackArguments,
                 RpcArguments, AttachArguments, AcpArguments, McpServeArguments, McpListArguments,
                 McpLoginArguments, McpLogoutArguments, ChannelsArguments>;

struct Arguments {
  std::optional<std::string> data, config, remote, token_file, ca_file;
  bool json = false;
  Verb verb;
};

// The result when there is no command to run: text to print (help, version) or a usage error.
struct Answer {
  int exit_code = 0;
  std::string out;      // for standard output
  std::string problem;  // a sentence; exit_code is then 2
  bool json = false;    // report the problem as a JSON object
};

// What the program does if no command is given.
enum class Bare { refuse, chat };

std::variant<Arguments, Answer> parse_arguments(const std::vector<std::string>& words,
                                                Bare bare = Bare::refuse);

}  // namespace agentrt::cli
