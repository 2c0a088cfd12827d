// conversation/material.h: assembles a model request from files and the log.
//
// The engine is the only user. When it prepares a turn, it calls gather() and describe(). For each
// model request of the turn it calls gather() and put_material(). Nothing is kept here: the engine
// holds the TurnFiles while the turn runs.
//
// Three quarters of a model's context (base/tokens.h estimates its bytes) are for instructions and
// messages. The rest is reserved for tool descriptions and the answer. Files and turns that do not
// fit are omitted, and context.resolved lists them.
#pragma once

#include <cstdint>
#include <functional>
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
  // The same for the inputs of earlier turns, by the sequence of their turn.submitted. The log
  // stores digests and not contents, so a file is included only if it is unchanged since that turn.
  // For any other file, `ref.reason` says why it is omitted.
  std::map<Sequence, std::vector<ports::GivenFile>> earlier;
};
// Limit of all files of earlier turns together, in bytes. Those of the newest turns come first.
inline constexpr std::size_t kEarlierFileBytesMax = 10 << 20;
// The memory that the files need, in bytes: instructions, skills, texts and attachments.
std::size_t size_of(const TurnFiles& files);

struct Material {
  std::shared_ptr<const TurnFiles> files;  // never null
  // Errors: those of ports::History::window(). The files of inputs are then not read.
  Result<ports::HistoryWindow> history;
};

// Which images a model is sent. Others are named in words.
enum class ImagesSent { all, attached, none };  // attached: only those that the user attached

struct MaterialQuery {
  SessionId session;
  schema::TurnIds turn;
  std::string cwd;
  std::optional<std::uint64_t> context_tokens;  // of the requested model
  ImagesSent images = ImagesSent::all;          // to the requested model
  policy::Effective policy = {};                // of the turn; keeps files from the model
  Sequence up_to = 0;                // from the view that plans the request; see HistoryQuery
  std::optional<TurnId> last_ended;  // the last ended turn of the thread
  std::vector<Sequence> told = {};   // see HistoryQuery
  std::shared_ptr<const TurnFiles> files = nullptr;  // those of the turn, if already read
  // Of an item of a job: the sequence of its turn.submitted, the instruction of the job, and how to
  // read the item.
  Sequence alone_from = 0;
  std::string instruction = {};
  std::function<Result<std::string>()> item = {};
  std::optional<std::string> role = {};  // of a subagent
};

// Reads everything, or all but the files if `query.files` is set. Blocks; called on a worker.
Material gather(ports::Workspace& workspace, ports::History& history, const MaterialQuery& query);

// The size limit of a request's messages and attached texts, in bytes: the part of the context that
// the system prompt, instructions and skills (`instruction_bytes`) leave. 0: there is no room.
std::size_t messages_bytes_max(std::uint64_t context_tokens, std::size_t instruction_bytes);

// Records in the turn's context the files that were read, the files and turns that were omitted,
// and what is missing with the reason. A history that could not be read is one of the missing.
void describe(const Material& material, schema::ContextResolved& context);

// Fills the request from the material. REQUIRES: material.history holds a value.
void put_material(Material material, const std::string& cwd, ports::ModelRequest& request);

}  // namespace agentrt::conversation
