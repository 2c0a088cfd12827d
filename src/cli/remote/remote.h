// cli/remote/remote.h: the runtime that --remote names, instead of the owner of the data folder.
#pragma once

#include <string>

#include "cli/socket.h"

namespace agentrt::cli {

struct Context;

struct RemoteTarget {
  Endpoint endpoint;
  std::string token;
  std::string where;  // the URL, for messages
};

// Whether the command line names a remote runtime.
bool is_remote(const Context& context);

// Reads --remote, --token-file and --ca-file. The token comes from --token-file, else from
// AGENTRT_TOKEN, else from the variable that `token_env` of [remotes.NAME] names. Errors:
// invalid_params, with what to do. REQUIRES: is_remote().
Result<RemoteTarget> read_remote(Context& context);

// Whether the command can be used with these options. Errors: invalid_params: a command or an
// option that only makes sense on this machine, or an option without --remote.
Result<void> check_remote_use(const Context& context);

}  // namespace agentrt::cli
