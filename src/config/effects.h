// config/effects.h: describes what a workspace file does once it is trusted, for the person who
// decides about it: one line per command that it starts, server that it connects to, model that it
// adds, and rule or setting that it loosens.
//
// A list has at most schema::kEffectsMax lines of at most schema::kEffectBytesMax bytes; its last
// line says how many more there are. Texts of the file are quoted as they are; the caller escapes
// them for a terminal. Pure.
#pragma once

#include <string>
#include <vector>

#include "config/claude_settings.h"
#include "config/config_file.h"
#include "config/mcp_servers.h"

namespace agentrt::config {

using Effects = std::vector<std::string>;

// `asked`: the keys of the layer that need trust, for example "permissions.mode".
Effects effects_of(const ConfigLayer& layer, const std::vector<std::string>& asked);
Effects effects_of(const ClaudeSettings& settings);
Effects effects_of(const McpJson& servers);

}  // namespace agentrt::config
