// adapters/models/wires/wire.h: the interface of a wire: the protocol of one kind of provider.
//
// A Wire encodes a request in the provider's format and parses the answer's events into an Answer.
// All wires report the same events for the same conversation. A Wire has no state; a reader belongs
// to one answer. Any thread, one at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/http/http_streams.h"
#include "adapters/models/faults.h"
#include "adapters/models/wires/answer.h"
#include "ports/models.h"

namespace agentrt::adapters {

// The configuration of a model behind HTTP.
struct Endpoint {
  std::string provider;  // openai_chat, openai_responses, anthropic
  std::string model;
  std::string base_url;       // without a trailing slash
  std::string key_env;        // the environment variable with the key, or empty
  std::string key;            // its value, or empty
  std::string model_setting;  // describes where `model` is set
  std::string url_setting;    // describes where `base_url` is set
  std::string key_setting;    // describes how to set a key
  std::optional<std::uint64_t> max_output_tokens;
  bool takes_tools = true;
  bool reasons = false;        // it can be asked to show its reasoning
  bool keep_payloads = false;  // report raw payloads to the listener
  HttpTimeouts timeouts;
};

class WireReader {
 public:
  virtual ~WireReader() = default;
  // One event of the stream; `data` is not necessarily JSON.
  virtual void on_event(std::string_view type, std::string_view data) = 0;
  // The body ended completely.
  virtual void on_end() = 0;
};

class Wire {
 public:
  virtual ~Wire() = default;
  virtual HttpRequest write(const Endpoint& endpoint, const ports::ModelRequest& request) const = 0;
  // Both must outlive the reader.
  virtual std::unique_ptr<WireReader> read(Answer& answer, const Subject& subject) const = 0;
};

// Null: no wire for this provider.
const Wire* wire_of(std::string_view provider);

const Wire& openai_chat_wire();
const Wire& openai_responses_wire();
const Wire& anthropic_wire();

}  // namespace agentrt::adapters
