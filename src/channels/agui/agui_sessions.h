// channels/agui/agui_sessions.h: what is known of the sessions of AG-UI threads: which messages and
// runs their turns came from.
//
// It is derived from the log (the metadata of turn.submitted), read from where the last reading
// ended, and kept for the sessions used last. Network thread only.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "channels/agui/agui_input.h"

namespace agentrt::channels {

inline constexpr std::size_t kAguiSessionsMax = 1'024;

// The ids that a thread and a run of a token have here. They are not the front end's: those are
// stored beside them.
SessionId agui_session_of(const std::string& token, const std::string& thread);
TurnId agui_turn_of(const std::string& token, const std::string& thread, const std::string& run);

// Stored in turn.submitted.
struct AguiOrigin {
  std::string run_id;
  std::vector<std::string> message_ids;
  std::string digest;  // of the content of these messages
};
BOOST_DESCRIBE_STRUCT(AguiOrigin, (), (run_id, message_ids, digest))

struct AguiMetadata {
  std::optional<AguiOrigin> agui;
};
BOOST_DESCRIBE_STRUCT(AguiMetadata, (), (agui))

struct AguiTurn {
  Sequence submitted = 0;
  AguiOrigin origin;
};

struct AguiSession {
  bool exists = false;
  Sequence scanned = 0;
  std::set<std::string> messages;  // that were input of a turn
  std::map<TurnId, AguiTurn> turns;
  TurnId newest;

  void take(Sequence sequence, const TurnId& turn, const AguiOrigin& origin);
};

// The digest of those messages of the input; nullopt: one is missing.
std::optional<std::string> agui_digest(const AguiInput& input,
                                       const std::vector<std::string>& message_ids);

class AguiSessions {
 public:
  AguiSession& of(const SessionId& session);

 private:
  std::list<SessionId> recent_;  // the last used first
  struct Kept {
    AguiSession session;
    std::list<SessionId>::iterator at;
  };
  std::unordered_map<SessionId, Kept> kept_;
};

}  // namespace agentrt::channels
