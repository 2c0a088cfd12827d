// conversation/material.h: assembles a model request from files and the log.
//
// Three quarters of a model's context, at four bytes per token, are for instructions and messages.
// The rest is reserved for tool descriptions and the answer. context.resolved lists what did not
// fit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/effective.h"
#include "ports/models.h"
#include "ports/workspace.h"
#include "schema/scope.h"

namespace agentrt::conversation {

// The content of the files that a turn uses. All requests of a turn use the files that it was
// prepared with, as listed in its context.resolved, even if the files change meanwhile.
struct TurnFiles {
  ports::Instructions instructions;
  std::vector<ports::GivenFile> given;  // one per file of the input, in order
  // The same for the inputs of earlier turns, by the sequence of their turn.submitted. Only files
  // that are what those turns were given; for any other, `ref.reason` says why it is left out.
  std::map<Sequence, std::vector<ports::GivenFile>> earlier;
};
// Limit of all files of earlier turns together, in bytes. Those of the newest turns come first.
inline constexpr std::size_t kEarlierFileBytesMax = 10 << 20;
std::size_t size_of(const TurnFiles& files);

struct Material {
  std::shared_ptr<const TurnFiles> files;
  Result<ports::HistoryWindow> history;
};

struct MaterialQuery {
  SessionId session;
  schema::TurnIds turn;
  std::string cwd;
  std::optional<std::uint64_t> context_tokens;  // of the requested model
  policy::Effective policy = {};                // of the turn; keeps files from the model
  Sequence up_to = 0;                // from the view that plans the request; see HistoryQuery
  std::optional<TurnId> last_ended;  // the last ended turn of the thread
  std::shared_ptr<const TurnFiles> files = nullptr;  // already read
};

// Reads everything, or all but the files if `query.files` is set. Blocks; called on a worker.
Material gather(ports::Workspace& workspace, ports::History& history, const MaterialQuery& query);

// The bytes of a request that messages may use in addition to `instructions`.
std::size_t messages_bytes_max(std::uint64_t context_tokens, std::size_t instruction_bytes);

// Records in the turn's context what was read and what was omitted.
void describe(const Material& material, schema::ContextResolved& context);

// Fills the request from the material. REQUIRES: material.history holds a value.
void put_material(Material material, const std::string& cwd, ports::ModelRequest& request);

}  // namespace agentrt::conversation
