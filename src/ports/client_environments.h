// ports/client_environments.h: what a client on this machine supplies for its turn: the environment
// of the turn's commands, and credentials.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <boost/describe/class.hpp>

#include "base/ids.h"
#include "ports/control_plane.h"

namespace agentrt::ports {

inline constexpr std::size_t kClientEnvironmentBytesMax = 64 * 1024;  // as JSON

struct EnvironmentVariable {
  std::string name;
  std::string value;

  bool operator==(const EnvironmentVariable&) const = default;
};
BOOST_DESCRIBE_STRUCT(EnvironmentVariable, (), (name, value))

struct ClientEnvironment {
  std::vector<EnvironmentVariable> variables;    // that commands get; stored until the turn ends
  std::vector<EnvironmentVariable> settings;     // that configure models; in memory only
  std::vector<EnvironmentVariable> credentials;  // in memory only, and redacted everywhere
  std::optional<std::string> config;             // the file named by --config, absolute
  std::optional<std::string> workspace;          // of the turn; its trusted files may add models

  bool operator==(const ClientEnvironment&) const = default;
};
BOOST_DESCRIBE_STRUCT(ClientEnvironment, (), (variables, settings, credentials, config, workspace))

// What an owner of the data folder holds only in memory, for the one that takes over from it.
struct HeldEnvironment {
  TurnId turn_id;
  ClientEnvironment environment;
};
BOOST_DESCRIBE_STRUCT(HeldEnvironment, (), (turn_id, environment))
struct HeldEnvironments {
  std::vector<HeldEnvironment> data;
};
BOOST_DESCRIBE_STRUCT(HeldEnvironments, (), (data))

class ClientEnvironments {
 public:
  virtual ~ClientEnvironments() = default;
  // Binds the environment to the turn, which may not exist yet. If the turn has one already, its
  // variables stay, and the credentials replace those of before. The reply is an empty object.
  // Errors: invalid_params, limit_exceeded. Any thread; `reply_to` is called once, on another one.
  virtual void offer(TurnId turn, ClientEnvironment environment, ReplyTo reply_to) = 0;
  // All that were supplied and whose turns have not ended. Any thread.
  virtual HeldEnvironments held() const = 0;
};

}  // namespace agentrt::ports
