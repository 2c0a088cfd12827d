// adapters/models/wires/wire.h: how one kind of provider is spoken to.
//
// A Wire writes a request as that provider wants it and reads the answer's events into an Answer.
// All three tell an Answer the same things for the same conversation. A Wire has no state; a reader
// belongs to one answer. Any thread, one at a time.
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

// A model behind HTTP, as the configuration has it.
struct Endpoint {
  std::string provider;  // openai_chat, openai_responses, anthropic
  std::string model;
  std::string base_url;       // without a slash at its end
  std::string key_env;        // the variable that holds the key, or empty
  std::string key;            // its value, or empty
  std::string model_setting;  // where `model` is set, in words
  std::string url_setting;    // and `base_url`
  std::string key_setting;    // what to do to give a key, in words
  std::optional<std::uint64_t> max_output_tokens;
  bool takes_tools = true;
  bool reasons = false;        // it can be asked to show its reasoning
  bool keep_payloads = false;  // what goes over the wire is told to the listener too
  HttpTimeouts timeouts;
};

class WireReader {
 public:
  virtual ~WireReader() = default;
  // One event of the stream; `data` need not be JSON.
  virtual void on_event(std::string_view type, std::string_view data) = 0;
  // The body is whole and there is no more of it.
  virtual void on_end() = 0;
};

class Wire {
 public:
  virtual ~Wire() = default;
  virtual HttpRequest write(const Endpoint& endpoint, const ports::ModelRequest& request) const = 0;
  // Both outlive the reader.
  virtual std::unique_ptr<WireReader> read(Answer& answer, const Subject& subject) const = 0;
};

// Nothing for a provider that has no wire here.
const Wire* wire_of(std::string_view provider);

const Wire& openai_chat_wire();
const Wire& openai_responses_wire();
const Wire& anthropic_wire();

}  // namespace agentrt::adapters
