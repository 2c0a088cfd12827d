// cli/decisions/trusted_config.h: the configuration of a folder with what its trusted files add.
#pragma once

#include <string>

#include "cli/client.h"
#include "config/config.h"

namespace agentrt::cli {

// `config`, read again for the folder `cwd` with the files there that a person trusts. Only the
// owner of the data folder knows which these are. Fails as config::load_config() and the client do.
Result<config::Config> with_trusted_files(const config::Config& config, const Client& client,
                                          const std::string& cwd,
                                          const config::Environment& environment);

// The workspace files that name models which do not count, because they are not trusted: a
// sentence for a message, with a leading space; empty if there are none.
std::string untrusted_models(const config::Config& config);

}  // namespace agentrt::cli
