// cli/acp/agent.h: the Agent Client Protocol, version 1, for one editor.
//
// The agent only translates. Sessions and turns belong to the runtime: they continue if the editor
// or this process ends. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/acp/editor.h"
#include "cli/acp/runtime_link.h"
#include "cli/acp/updates.h"
#include "cli/context.h"
#include "schema/commands.h"

namespace agentrt::cli {

class AcpAgent {
 public:
  AcpAgent(Context& context, Attachment& attachment);

  Result<void> open();
  // Serves the editor until its input ends. Errors: unavailable: no owner could be reached.
  Result<int> run(Signals& signals);

 private:
  struct Prompt {
    std::string request;  // the id of session/prompt, as JSON
    TurnId turn;
  };
  // A session that the editor has opened.
  struct Opened {
    std::string cwd;
    std::vector<std::string> roots;
    ThreadId thread;
    std::string mode;
    std::string model;    // empty: routing decides
    std::string servers;  // the editor's MCP servers, as JSON; empty: none
    std::unique_ptr<AcpUpdates> updates;
    std::optional<Prompt> prompt;
    std::map<ActionId, std::uint64_t> asked;  // questions to the editor
  };

  void take(EditorMessage message);
  void dispatch(const EditorMessage& message);
  void initialize(const EditorMessage& message);
  void new_session(const EditorMessage& message);
  enum class Replay { yes, no };
  void reopen(const EditorMessage& message, Replay replay);
  Result<Sequence> replay(const SessionId& session, Opened& opened, Sequence until);
  void list_sessions(const EditorMessage& message);
  void close_session(const EditorMessage& message);
  void set_mode(const EditorMessage& message);
  void set_option(const EditorMessage& message);
  void prompt(const EditorMessage& message);
  void cancel(const EditorMessage& message);
  void cancel_request(const EditorMessage& message);

  Result<void> submit(const SessionId& session, Opened& opened,
                      const std::vector<schema::Json>& blocks, const TurnId& turn);
  void follow(const SessionId& session, Sequence after);
  void on_event(const SessionId& session, const std::string& text);
  void end_prompt(Opened& opened, const Envelope& event);
  void ask(const SessionId& session, Opened& opened, const ActionId& action, const ToolCallId& call,
           const schema::ActionRequired& required);
  void ask_permission(const SessionId& session, Opened& opened, const ActionId& action,
                      const ToolCallId& call, const schema::ActionRequired& required);
  void ask_question(const SessionId& session, Opened& opened, const ActionId& action,
                    const ToolCallId& call, const schema::ActionRequired& required);
  void ask_open(const SessionId& session);
  void resume_if_stopped(const SessionId& session, Opened& opened);
  void respond(const ActionId& action, std::string_view decision,
               const std::optional<std::string>& digest, const std::optional<std::string>& scope,
               const std::optional<schema::Json>& payload);
  void update(const SessionId& session, std::string_view update);
  void moved();
  Result<void> lend_servers(const SessionId& session, const std::string& servers);

  Result<void> learn_folder(Opened& opened, const std::optional<SessionId>& session);
  std::string session_state(const Opened& opened) const;  // modes and configOptions
  std::string config_options(const Opened& opened) const;
  void refuse(const EditorMessage& message, const Error& error);
  Opened* opened(const EditorMessage& message, const SessionId& session);
  template <class Work>
  auto with_owner(Work work) -> decltype(work(std::declval<const Client&>()));

  Context& context_;
  Attachment& attachment_;
  EditorWire editor_;
  RuntimeLink link_;
  std::map<SessionId, Opened> sessions_;
  std::vector<std::string> modes_;
  std::vector<std::string> models_;
  std::string environment_;  // of the turns, as JSON
  bool forms_ = false;       // the editor shows forms
  bool urls_ = false;        // the editor opens links
  bool initialized_ = false;
};

}  // namespace agentrt::cli
