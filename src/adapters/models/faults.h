// adapters/models/faults.h: describes a failed model request: a category, whether to retry, and a
// sentence that says what to do.
//
// Sentences quote the provider's message, shortened to one line. The API key is removed from it.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ports/models.h"

namespace agentrt::adapters {

inline constexpr std::size_t kProviderWordsBytesMax = 400;  // quoted from the provider's message

// Whether a retry of the same request may succeed.
enum class Again { never, later };

// The model and settings that a failure message refers to.
struct Subject {
  std::string name;           // of the candidate: [models.NAME]
  std::string model;          // the provider's name for it
  std::string model_setting;  // the setting of the model: "model in [models.main]", "OPENAI_MODEL"
  std::string url_setting;    // the setting of the URL: "base_url in [models.main]"
  std::string key_setting;    // how to set a key: "set OPENAI_API_KEY"
  std::string address;        // scheme, host and port of the server
  std::string key_env;        // the environment variable with the key; empty: none configured
  std::string key;            // never shown
};

// An error that a provider describes in JSON, in any common format.
struct ProviderWords {
  std::string type;
  std::string code;
  std::string message;

  bool empty() const { return type.empty() && code.empty() && message.empty(); }
};
// Accepts {"error": {"type", "code", "message"}}, {"error": "TEXT"}, {"type", "code", "message"}
// and {"detail": "TEXT"}. Returns empty words for anything else.
ProviderWords read_provider_words(std::string_view json);

schema::Category category_of_status(std::uint64_t status);
Again again_after_status(std::uint64_t status);
schema::FaultCause cause_of_status(std::uint64_t status);

// The provider answered with an error status.
ports::ModelFault status_fault(std::uint64_t status, const ProviderWords& words,
                               std::optional<std::int64_t> retry_after_ms, const Subject& subject);
// The provider answered with success and then reported an error in the stream.
ports::ModelFault told_fault(const ProviderWords& words, const Subject& subject);
// The answer is unusable: invalid, too large or empty.
ports::ModelFault wrong_answer(schema::FaultCause cause, std::string message, Again again);
// The connection failed or broke.
ports::ModelFault broken_fault(schema::FaultCause cause, schema::Category category,
                               std::string message, Again again);

}  // namespace agentrt::adapters
