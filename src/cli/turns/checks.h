// cli/turns/checks.h: what every command that submits turns checks and sends before it does.
#pragma once

#include <optional>
#include <string>

#include "cli/context.h"
#include "schema/values.h"

namespace agentrt::cli {

// Checks that the model (nullopt: the one that routing selects) can be used, and otherwise says
// what the user must do.
Result<void> check_models(const Context& context, const config::Config& config,
                          const std::optional<std::string>& model);
// Checks that the host policy permits the mode and the sandbox.
Result<void> check_policy(const config::Config& config, const schema::TurnOptions& options);
// A file named by --config that the owner of the data folder has not read can only name models,
// which count for this client's turns alone.
Result<void> check_config(const Context& context, const runtime::Owner& owner);
// Settles what turns in the folder `cwd` may use, now that the owner of the data folder is known:
// `config` gets what the trusted files of that folder add, which may be models.
Result<void> use_folder(const Context& context, const Client& client, const std::string& cwd,
                        const std::optional<std::string>& model, config::Config& config);
// If the resolved name is script:/PATH, adds that model. Fails if there is no such file.
Result<void> add_script(config::Config& config, const std::string& model);

TurnId fresh_turn_id();
// Sends the environment (JSON of config/client_environment.h) for a turn that this client submits
// or resumes; empty: nothing is sent.
Result<void> send_environment(const Client& client, const TurnId& turn,
                              const std::string& environment);

}  // namespace agentrt::cli
