// adapters/models/faults.h: what went wrong with a request to a model, as a category, whether to
// try again, and one sentence that says what to do.
//
// Sentences carry the provider's own words, shortened to one line, and never the key: wherever it
// stands in them it is cut out. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ports/models.h"

namespace agentrt::adapters {

inline constexpr std::size_t kProviderWordsBytesMax = 400;  // of its message in ours

// Whether the same request may succeed when it is made again.
enum class Again { never, later };

// Whom a failure is about.
struct Subject {
  std::string name;           // of the candidate: [models.NAME]
  std::string model;          // as the provider calls it
  std::string model_setting;  // where that is set: "model in [models.main]", "OPENAI_MODEL"
  std::string url_setting;  // where the address is: "base_url in [models.main]", "OPENAI_BASE_URL"
  std::string key_setting;  // how a key is given: "set OPENAI_API_KEY"
  std::string address;      // scheme, host and port of the server
  std::string key_env;      // the variable that holds the key; empty where none is configured
  std::string key;          // never shown
};

// The error that a provider describes in JSON, in any of its usual shapes.
struct ProviderWords {
  std::string type;
  std::string code;
  std::string message;

  bool empty() const { return type.empty() && code.empty() && message.empty(); }
};
// {"error": {"type", "code", "message"}}, {"error": "TEXT"}, {"type", "code", "message"},
// {"detail": "TEXT"}; empty words where the text is none of them.
ProviderWords read_provider_words(std::string_view json);

schema::Category category_of_status(std::uint64_t status);
Again again_after_status(std::uint64_t status);

// The provider answered with a status that is no success.
ports::ModelFault status_fault(std::uint64_t status, const ProviderWords& words,
                               std::optional<std::int64_t> retry_after_ms, const Subject& subject);
// The provider began an answer well and then said in it that it failed.
ports::ModelFault told_fault(const ProviderWords& words, const Subject& subject);
// What came is no answer: garbage, too much, nothing.
ports::ModelFault wrong_answer(std::string message, Again again);
// We never got there, or the connection did not hold.
ports::ModelFault broken_fault(schema::Category category, std::string message, Again again);

}  // namespace agentrt::adapters
