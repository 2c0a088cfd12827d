// ports/models.h: model providers, as the engine sees them.
//
// A request holds a whole conversation, since providers keep none for us: what the model is told
// about itself, the tools it may call, and messages in which every call has its result.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/facts/routing.h"
#include "schema/values.h"

namespace agentrt::ports {

BOOST_DEFINE_ENUM_CLASS(Role, user, assistant, tool)

// A call that the model made, as it is told again. What the model wrote as arguments and was not
// JSON stands in `args` as a JSON string.
struct MadeCall {
  ToolCallId id;
  std::string name;
  schema::Json args;

  bool operator==(const MadeCall&) const = default;
};

// An image or a document that a person gave with the question.
struct Attachment {
  std::string name;        // of the file, without its folder
  std::string media_type;  // image/png, application/pdf, …
  std::string bytes;

  bool operator==(const Attachment&) const = default;
};

// What a provider wants to hear again with an answer that made calls, while the turn goes on: its
// reasoning, in a form of its own that means nothing to any other model.
struct ProviderState {
  std::string provider;
  std::string model;
  schema::Json state;

  bool operator==(const ProviderState&) const = default;
};

struct Message {
  Role role = Role::user;
  std::string text;
  std::vector<Attachment> attachments;  // a user's
  std::vector<MadeCall> calls;          // an assistant's
  std::optional<ProviderState> state;   // an assistant's
  ToolCallId answers;                   // a tool's: whose result this is
  bool is_error = false;                // a tool's

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
  std::string model_name;            // the candidate's name
  std::uint64_t ended_requests = 0;  // of this turn, by the provider's word
  std::string cwd;                   // the session's workspace
  std::string instructions;          // the system prompt, AGENTS.md and the like
  std::vector<OfferedTool> tools;
  std::vector<Message> messages;  // oldest first; an assistant's calls are followed by all results
};

struct ModelFault {
  schema::Failure error;
  std::optional<std::uint64_t> provider_status;
  bool ended_by_provider = false;
  std::optional<std::int64_t> retry_after_ms;
};

// What comes back of one request. Called on the core, in order; nothing after completed or failed.
class ModelListener {
 public:
  virtual ~ModelListener() = default;
  virtual void on_text(std::string_view text) = 0;
  virtual void on_reasoning(std::string_view text) = 0;
  // A tool that the model wants called. `args` is valid JSON: an object, or, where the model wrote
  // something else, that as a JSON string. All of them before on_completed.
  virtual void on_call(std::string name, schema::Json args) = 0;
  // What the provider wants to hear again with the calls; before on_completed.
  virtual void on_state(schema::Json /*state*/) {}
  // What went over the wire, as texts without keys, where the model's configuration says to keep
  // it; just before the end.
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
  // The models a turn that asked for `requested` could use now. Core only.
  virtual ModelChoice choice(const std::optional<std::string>& requested) = 0;
  // Starts the request. Core only; the listener may be called before this returns.
  virtual void start(ModelRequest request, std::shared_ptr<ModelListener> listener) = 0;
  // Ends the request; its listener hears nothing more. Unknown ids are ignored. Core only.
  virtual void cancel(const ModelRequestId& request) = 0;
};

}  // namespace agentrt::ports
