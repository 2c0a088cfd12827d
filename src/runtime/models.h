// runtime/models.h: the models of a configuration: which providers there are, what they take for
// granted, and the ones that the environment gives where no file names any.
//
// A key is read from its variable when the runtime starts and handed to the adapter alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/models/catalog.h"
#include "runtime/config.h"

namespace agentrt::runtime {

inline constexpr std::uint64_t kModelNumberMax = 100'000'000;  // of limits of one model

bool known_provider(std::string_view provider);
// invalid_params, with what it must be: an http or https URL without a name, query or fragment.
Result<void> check_base_url(std::string_view url);
// What a model behind HTTP has when nothing is said: its provider's own address and its variable
// for the key (a base_url of one's own needs none), and what every such server can do.
void fill_in_endpoint(ModelConfig& model);

// OPENAI_API_KEY or OPENAI_BASE_URL give the model `openai`, ANTHROPIC_API_KEY or
// ANTHROPIC_BASE_URL the model `anthropic`; OPENAI_MODEL and ANTHROPIC_MODEL say which one.
Result<void> add_environment_models(Config& config, const Environment& environment);

// The variable that holds the model's key and is not set; nothing where all is well.
std::optional<std::string> missing_key(const ModelConfig& model, const Environment& environment);

std::vector<adapters::ConfiguredModel> configured_models(const Config& config,
                                                         const Environment& environment);

}  // namespace agentrt::runtime
