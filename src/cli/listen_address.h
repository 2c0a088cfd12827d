// cli/listen_address.h: ADDR:PORT, and which addresses may be listened on. Pure.
#pragma once

#include "base/result.h"
#include "cli/arguments.h"
#include "runtime/runtime.h"

namespace agentrt::cli {

// invalid_params: the text is no address, or other machines could reach it and nobody said that
// they may.
Result<runtime::Listen> read_listen(const ServeArguments& arguments);

}  // namespace agentrt::cli
