// engine/conversation.h: what a model is asked with, put together from files and log.
//
// Three quarters of a model's context, at four bytes a token, are for what is said to it; the rest
// is left for the tools' descriptions and the answer. What did not fit is said in context.resolved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ports/models.h"
#include "ports/workspace.h"
#include "schema/policy.h"
#include "schema/scope.h"

namespace agentrt::engine {

struct Material {
  ports::Instructions instructions;
  Result<ports::HistoryWindow> history;
  std::vector<ports::GivenFile> files;  // one for each file of the input, in order
};

struct MaterialQuery {
  SessionId session;
  schema::TurnIds turn;
  std::string cwd;
  std::optional<std::uint64_t> context_tokens;  // of the model that will be asked
  std::vector<schema::PolicyRule> rules;        // that the session is under
  std::string home;
};

// Reads it all. Blocks; called on a worker.
Material gather(ports::Workspace& workspace, ports::History& history, const MaterialQuery& query);

// The bytes of a request that messages may have beside `instructions`.
std::size_t messages_bytes_max(std::uint64_t context_tokens, std::size_t instruction_bytes);

// Adds what was read, and what was not, to the turn's context.
void describe(const Material& material, schema::ContextResolved& context);

// Fills in all that the material gives. REQUIRES: material.history.
void put_material(Material material, const std::string& cwd, ports::ModelRequest& request);

}  // namespace agentrt::engine
