// engine/conversation.h: what a model is asked with, put together from files and log.
//
// Three quarters of a model's context, at four bytes a token, are for what is said to it; the rest
// is left for the tools' descriptions and the answer. What did not fit is said in context.resolved.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/models.h"
#include "ports/workspace.h"
#include "schema/policy.h"
#include "schema/scope.h"

namespace agentrt::engine {

// What files say to a turn. All its requests are made with what it was prepared with, which its
// context.resolved names, whatever becomes of the files meanwhile.
struct TurnFiles {
  ports::Instructions instructions;
  std::vector<ports::GivenFile> given;  // one for each file of the input, in order
};
std::size_t size_of(const TurnFiles& files);

struct Material {
  std::shared_ptr<const TurnFiles> files;
  Result<ports::HistoryWindow> history;
};

struct MaterialQuery {
  SessionId session;
  schema::TurnIds turn;
  std::string cwd;
  std::optional<std::uint64_t> context_tokens;  // of the model that will be asked
  std::vector<schema::PolicyRule> rules;        // that the session is under
  std::string home;
  Sequence up_to = 0;                // as the view had it that called for this, and so is
  std::optional<TurnId> last_ended;  // the turn of the thread that ended last
  std::shared_ptr<const TurnFiles> files = nullptr;  // read before
};

// Reads it all, or all but the files. Blocks; called on a worker.
Material gather(ports::Workspace& workspace, ports::History& history, const MaterialQuery& query);

// The bytes of a request that messages may have beside `instructions`.
std::size_t messages_bytes_max(std::uint64_t context_tokens, std::size_t instruction_bytes);

// Adds what was read, and what was not, to the turn's context.
void describe(const Material& material, schema::ContextResolved& context);

// Fills in all that the material gives. REQUIRES: material.history.
void put_material(Material material, const std::string& cwd, ports::ModelRequest& request);

}  // namespace agentrt::engine
