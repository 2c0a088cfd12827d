// conversation/material.h: assembles a model request from files and the log.
//
// The engine is the only user. When it prepares a turn, it calls gather(), give_files(),
// store_instructions() and describe(). For each model request of the turn it calls gather() and
// put_material(). Nothing is kept here: the engine holds the TurnFiles while the turn runs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/effective.h"
#include "policy/redaction.h"
#include "ports/models.h"
#include "ports/outputs.h"
#include "ports/workspace.h"
#include "schema/reports.h"

namespace agentrt::conversation {

// The share of the window, in percent, that a request may use; the rest is for the answer.
inline constexpr std::uint64_t kContextShare = 80;

// The files that all requests of a turn use, as listed in its context.resolved, even if the files
// change meanwhile.
struct TurnFiles {
  ports::Instructions instructions;
};
// The memory that the files need, in bytes.
std::size_t size_of(const TurnFiles& files);

struct Material {
  std::shared_ptr<const TurnFiles> files;  // never null
  // Errors: those of ports::History::window().
  Result<ports::HistoryWindow> history;
  std::vector<ports::GivenFile> given = {};  // the files of the input; see give_files()
  // The parts of the instructions; see store_instructions().
  std::vector<schema::ContextRef> instructions = {};
};

// Which images a model is sent. Others are named in words.
enum class ImagesSent { all, attached, none };  // attached: only those that the user attached

struct MaterialQuery {
  SessionId session;
  schema::TurnIds turn;
  std::string cwd;
  std::optional<std::uint64_t> context_tokens;       // of the requested model
  ImagesSent images = ImagesSent::all;               // to the requested model
  policy::Effective policy = {};                     // of the turn; keeps files from the model
  ports::HistoryQuery history = {};                  // from the view that plans the request
  std::size_t tool_bytes = 0;                        // of the tools that were offered last
  std::shared_ptr<const TurnFiles> files = nullptr;  // those of the turn, if already read
  // Of an item of a job: the instruction of the job, and how to read the item.
  std::string instruction = {};
  std::function<Result<std::string>()> item = {};
  std::optional<std::string> role = {};            // of a subagent
  const policy::Redactor* redactor = nullptr;      // of instructions; null: there are no secrets
  std::map<std::string, std::string> stored = {};  // parts of instructions: digest to ref
};

// Reads everything, or all but the files if `query.files` is set. Blocks; called on a worker.
Material gather(ports::Workspace& workspace, ports::History& history, const MaterialQuery& query);

// How many bytes of messages a request may have beside `other_bytes` of instructions and tools.
std::size_t messages_bytes_max(std::optional<std::uint64_t> context_tokens,
                               std::size_t other_bytes);

// The system prompt with the instructions and skills of the workspace, with secrets redacted: in
// parts, and as the text that the model gets.
std::vector<ports::InstructionText> instruction_parts(const TurnFiles& files,
                                                      const MaterialQuery& query);
std::string instructions_text(const TurnFiles& files, const MaterialQuery& query);

// Reads the files that the input names and stores copies of them, which this and all later requests
// of the thread send. A file that is missing or cannot be stored has a reason instead. Nothing is
// read if a model has answered the turn. Blocks; called on a worker. `keeper` may be null.
std::vector<schema::KeptOutput> give_files(ports::Workspace& workspace, ports::OutputKeeper* keeper,
                                           const MaterialQuery& query, Material& material);

// Stores the parts of the instructions, so that a later reader of the log can tell what the model
// got. A part of which the session already has the bytes (`query.stored`) gets their ref. Blocks;
// called on a worker. `keeper` may be null.
std::vector<schema::KeptOutput> store_instructions(ports::OutputKeeper* keeper,
                                                   const MaterialQuery& query, Material& material);

// Records in the turn's context the files that were read, the files and turns that were omitted,
// what is missing with the reason, and the size of the request. A history that could not be read is
// one of the missing.
void describe(const Material& material, const MaterialQuery& query, schema::ReportPrepared& report);

// Fills the request from the material. REQUIRES: material.history holds a value.
void put_material(Material material, const MaterialQuery& query, ports::ModelRequest& request);

}  // namespace agentrt::conversation
