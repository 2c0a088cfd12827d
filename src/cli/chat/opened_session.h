// cli/chat/opened_session.h: reads what a conversation needs of a session: its state, what turns in
// its folder use, the events before those that are shown, and the output of a call.
//
// Everything blocks until the runtime has answered: for the thread of the Courier.
#pragma once

#include <optional>
#include <string>

#include "cli/chat/conversation.h"
#include "cli/context.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

// What turns in a folder use.
struct ChatFolder {
  std::string cwd;  // the workspace
  config::Config config;
  std::string environment{};  // JSON: what the owner of the data folder gets to know of ours
};

// What turns in `cwd` use, from the configuration of another folder. Fails if the model (nullopt:
// the one that routing selects) cannot be used there.
Result<ChatFolder> enter_folder(const Context& context, const Attachment& attachment,
                                std::string cwd, config::Config config,
                                const std::optional<std::string>& model);

struct OpenedSession {
  schema::SessionSnapshot session;     // with its newest turns
  std::optional<ChatFolder> folder{};  // of the session, if it is another one
  bool model_missing = false;          // the chosen model is not configured there
  bool lacks_mode = false;             // nobody chose how commands run there
};

// `folder`, `model`: those of the conversation now.
Result<OpenedSession> read_session(const Context& context, const Attachment& attachment,
                                   const SessionId& session, const ChatFolder& folder,
                                   const std::optional<std::string>& model);

// A conversation that is built from the events before those that it shows.
struct Recall {
  static constexpr std::uint64_t kPageEvents = 500;

  SessionId session;
  Sequence after = 0;  // read so far
  Sequence last = 0;   // the last event to read
  Conversation conversation;
};

// Reads the next page. False: it was the last one.
Result<bool> read_on(const Client& client, Recall& recall);

// What the call printed or returned; `ended`: the sequence of its tool.result or tool.failed.
Result<std::string> read_call_output(const Client& client, const SessionId& session,
                                     Sequence ended);

}  // namespace agentrt::cli
