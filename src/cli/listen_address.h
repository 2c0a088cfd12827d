// cli/listen_address.h: parses ADDR:PORT and checks whether the runtime may listen on it. Pure.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "config/connections.h"
#include "runtime/runtime.h"

namespace agentrt::cli {

// Fails with invalid_params if the text is not an address, or if other machines could reach it and
// the user has not allowed that.
Result<runtime::Listen> read_listen(const ServeArguments& arguments,
                                    const config::ServerConfig& config);

}  // namespace agentrt::cli
