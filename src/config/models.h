// config/models.h: the models of a configuration: known providers, their defaults, and the models
// that the environment supplies if no file configures any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace agentrt::config {

// limit of numeric settings of a model
inline constexpr std::uint64_t kModelNumberMax = 100'000'000;

// A variable's value; an empty variable counts as unset.
std::optional<std::string> value_of(const Environment& environment, std::string_view name);
// Reads a key and trims white space. A key that is invalid in an HTTP header counts as unset.
std::optional<std::string> key_in(const Environment& environment, std::string_view name);

bool known_provider(std::string_view provider);
// Fails with invalid_params and the expected form unless it is an http or https URL without user
// name, query or fragment.
Result<void> check_base_url(std::string_view url);
// The capabilities that the key `images` adds. Without either, only images that the user attached
// are sent.
inline constexpr std::string_view kTakesImages = "images";
inline constexpr std::string_view kTakesNoImages = "text_only";
// Sets the defaults of a model behind HTTP: its provider's URL, the variable of its key (none with
// a custom base_url), and its capabilities. `images`: whether it takes images; absent: unknown.
void fill_in_endpoint(ModelConfig& model, std::optional<bool> images = {});

// OPENAI_API_KEY or OPENAI_BASE_URL add the model `openai`, ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL
// the model `anthropic`. OPENAI_MODEL and ANTHROPIC_MODEL select the provider's model.
Result<void> add_environment_models(Config& config, const Environment& environment);

// The variable of the model's key if it is not set; nullopt if the key is available or not needed.
std::optional<std::string> missing_key(const ModelConfig& model, const Environment& environment);

}  // namespace agentrt::config
