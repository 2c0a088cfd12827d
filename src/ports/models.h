// ports/models.h: the port to model providers, used by the engine.
//
// A request carries the whole conversation, because providers store no state for us: the system
// prompt, the tools the model may call, and messages in which every call has its result.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/facts/model.h"
#include "schema/facts/routing.h"
#include "schema/values.h"

namespace agentrt::ports {

BOOST_DEFINE_ENUM_CLASS(Role, user, assistant, tool)

// An earlier tool call of the model, sent back as history. Arguments that were not valid JSON are
// stored in `args` as a JSON string.
struct MadeCall {
  ToolCallId id;
  std::string name;
  schema::Json args;

  bool operator==(const MadeCall&) const = default;
};

// An image or document: one that the user attached to the input, or an image in a tool result.
struct Attachment {
  std::string name;        // file name without its folder
  std::string media_type;  // image/png, application/pdf, …
  std::string bytes;

  bool operator==(const Attachment&) const = default;
};

// An image in a tool result, stored behind a ref of the session. The history gives these;
// conversation/images.h replaces them by attachments or by words.
struct StoredImage {
  std::string ref;
  std::string media_type;
  std::uint64_t size = 0;

  bool operator==(const StoredImage&) const = default;
};
BOOST_DESCRIBE_STRUCT(StoredImage, (), (ref, media_type, size))

// Bytes behind a ref that belong to a message: a file that the user attached, a long answer, the
// summary of older turns. conversation/stored_parts.h puts them into the message.
struct StoredPart {
  SessionId session;       // that owns the ref
  std::string ref;         // out_…, or log:FIRST-LAST
  std::string media_type;  // empty: a text, which is inserted at `offset` of the message's text
  std::string name;        // of an image or document
  std::size_t offset = 0;
  std::uint64_t size = 0;

  bool operator==(const StoredPart&) const = default;
};

// Opaque provider data (reasoning) that must be sent back with an answer that made calls. Only the
// provider and model that produced it can use it.
struct ProviderState {
  std::string provider;
  std::string model;
  schema::Json state;

  bool operator==(const ProviderState&) const = default;
};

struct Message {
  Role role = Role::user;
  std::string text;
  std::vector<Attachment> attachments;  // user messages; of tool messages only images
  std::vector<StoredPart> parts;        // in the order of their offsets
  std::vector<StoredImage> images;      // tool messages only
  std::vector<MadeCall> calls;          // assistant messages only
  std::optional<ProviderState> state;   // assistant messages only
  ToolCallId answers;                   // tool messages only: the call that this result answers
  bool is_error = false;                // tool messages only

  bool operator==(const Message&) const = default;
};

struct OfferedTool {
  std::string name;
  std::string description;
  schema::Json input_schema;

  bool operator==(const OfferedTool&) const = default;
};

struct ModelRequest {
  ModelRequestId id;
  TurnId turn;                       // whose models and credentials are used
  std::string model_name;            // the configured name of the candidate
  std::uint64_t ended_requests = 0;  // earlier requests of this turn that the provider ended
  std::string cwd;                   // the session's workspace
  std::string instructions;          // system prompt, AGENTS.md and other instructions
  std::vector<OfferedTool> tools;
  std::vector<Message> messages;  // oldest first; all results directly follow an assistant's calls
};

struct ModelFault {
  schema::Failure error;
  std::optional<std::uint64_t> provider_status;
  bool ended_by_provider = false;
  std::optional<std::int64_t> retry_after_ms;
  std::optional<schema::FaultCause> cause = {};  // absent: the runtime ended the request
};

// Receives the events of one request. Called on the core, in order; no call follows on_completed or
// on_failed.
class ModelListener {
 public:
  virtual ~ModelListener() = default;
  virtual void on_text(std::string_view text) = 0;
  virtual void on_reasoning(std::string_view text) = 0;
  // The model is writing call `number` of this answer, counted from 0 in the order of on_call():
  // `piece` is the next part of its arguments. Optional; on_call() brings the whole call.
  virtual void on_call_piece(std::size_t /*number*/, std::string_view /*name*/,
                             std::string_view /*piece*/) {}
  // The model requests a tool call. `args` is valid JSON: an object, or a JSON string with the
  // model's text if that was not an object. All calls arrive before on_completed.
  virtual void on_call(std::string name, schema::Json args) = 0;
  // Provider state to send back with the calls; arrives before on_completed.
  virtual void on_state(schema::Json /*state*/) {}
  // The raw request and response without API keys. Called only if the model's configuration enables
  // it, just before on_completed or on_failed.
  virtual void on_raw(std::string /*request*/, std::string /*response*/) {}
  virtual void on_completed(schema::StopReason reason, const schema::Usage& usage) = 0;
  virtual void on_failed(const ModelFault& fault) = 0;
};

struct ModelChoice {
  std::vector<schema::Candidate> candidates;
  std::vector<schema::ExcludedCandidate> excluded;
  std::string default_name;
  std::vector<std::string> fallback;
};

class Models {
 public:
  virtual ~Models() = default;
  // The models available now to the turn. `named`: those that it asks for, which are offered even
  // if the configuration does not list them as candidates. Core only.
  virtual ModelChoice choice(const TurnId& turn, const std::vector<std::string>& named) = 0;
  // Starts the request. Core only; the listener may be called before this returns.
  virtual void start(ModelRequest request, std::shared_ptr<ModelListener> listener) = 0;
  // Cancels the request. Its listener is not called again. Unknown ids are ignored. Core only.
  virtual void cancel(const ModelRequestId& request) = 0;
};

}  // namespace agentrt::ports
