#include "adapters/models/faults.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <simdjson.h>

namespace agentrt::adapters {

using namespace schema;

namespace {

using simdjson::dom::element;

std::string text_at(element object, std::string_view name) {
  std::string_view text;
  std::int64_t number = 0;
  if (!object[name].get_string().get(text)) return std::string(text);
  if (!object[name].get_int64().get(number)) return std::to_string(number);
  return {};
}

// Maps an error reported within a stream to the equivalent HTTP status.
std::uint64_t status_of_words(const ProviderWords& words) {
  struct Row {
    std::string_view word;
    std::uint64_t status;
  };
  static constexpr std::array<Row, 18> kRows = {{{"authentication_error", 401},
                                                 {"invalid_api_key", 401},
                                                 {"permission_error", 403},
                                                 {"billing_error", 402},
                                                 {"not_found_error", 404},
                                                 {"model_not_found", 404},
                                                 {"timeout_error", 408},
                                                 {"request_too_large", 413},
                                                 {"context_length_exceeded", 413},
                                                 {"exceed_context_size_error", 413},
                                                 {"rate_limit_error", 429},
                                                 {"rate_limit_exceeded", 429},
                                                 {"insufficient_quota", 429},
                                                 {"invalid_request_error", 400},
                                                 {"api_error", 500},
                                                 {"server_error", 500},
                                                 {"internal_server_error", 500},
                                                 {"overloaded_error", 529}}};
  for (const std::string& said : {words.code, words.type})
    for (const Row& row : kRows)
      if (said == row.word) return row.status;
  std::uint64_t status = 0;  // some providers send a status as the code
  const char* const end = words.code.data() + words.code.size();
  const bool is_number = std::from_chars(words.code.data(), end, status).ptr == end;
  return is_number && status >= 400 && status < 600 ? status : 500;
}

bool mentions(const ProviderWords& words, std::string_view what) {
  return words.code.contains(what) || words.type.contains(what) || words.message.contains(what);
}

bool context_is_full(const ProviderWords& words) {
  for (const char* phrase : {"context_length_exceeded", "exceed_context_size", "context length",
                             "context window", "context size", "prompt is too long"})
    if (mentions(words, phrase)) return true;
  return false;
}

// The words tell more than the status: some providers use 400 or 429 for everything.
FaultCause cause_of(std::uint64_t status, const ProviderWords& words) {
  if (context_is_full(words)) return FaultCause::context_size;
  if (mentions(words, "insufficient_quota")) return FaultCause::no_credit;
  for (const char* phrase : {"content_filter", "content_policy", "content management policy"})
    if (status < 500 && mentions(words, phrase)) return FaultCause::content;
  return cause_of_status(status);
}

// The provider's message on one line, without the key.
std::string shown(const ProviderWords& words, const Subject& subject) {
  std::string text =
      words.message.empty() ? (words.code.empty() ? words.type : words.code) : words.message;
  if (!subject.key.empty())
    for (std::size_t at = 0; (at = text.find(subject.key, at)) != std::string::npos;)
      text.replace(at, subject.key.size(), "[key]");
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  const std::string_view head = utf8_prefix(text, kProviderWordsBytesMax);
  return std::string(head) + (head.size() < text.size() ? " …" : "");
}

// "status 429: slow down", with the parts that are known.
std::string described(std::optional<std::uint64_t> status, const std::string& message) {
  if (!status) return message.empty() ? std::string("no reason given") : message;
  return message.empty() ? fmt::format("status {}", *status)
                         : fmt::format("status {}: {}", *status, message);
}

std::string sentence(std::uint64_t status, const ProviderWords& words, const std::string& what,
                     const Subject& subject) {
  if (context_is_full(words) || status == 413)
    return fmt::format(
        "the conversation is longer than the model's context ({}); set context_tokens in "
        "[models.{}] to the context size of the model, or choose a model with a larger one",
        what, subject.name);
  if (mentions(words, "insufficient_quota") || status == 402)
    return fmt::format(
        "the account of the API key has no credit left ({}); add credit, or choose another model",
        what);
  if (status == 401 || status == 403)
    return subject.key_env.empty()
               ? fmt::format("{} requires an API key ({}); {}", subject.address, what,
                             subject.key_setting)
               : fmt::format("{} rejects the API key in {} ({}); set that variable to a valid key",
                             subject.address, subject.key_env, what);
  if (status == 404)
    return fmt::format("{} does not know the model {} ({}); correct {}, or {}", subject.address,
                       subject.model, what, subject.model_setting, subject.url_setting);
  if (mentions(words, "does not support tools"))
    return fmt::format(
        "{} does not support tools ({}); remove \"tools\" from capabilities in [models.{}]",
        subject.model, what, subject.name);
  if (status == 429) return fmt::format("the provider's rate limit is reached ({})", what);
  if (status >= 300 && status < 400)
    return fmt::format("{} replies with a redirect ({}), which is not followed; correct {}",
                       subject.address, what, subject.url_setting);
  if (status >= 400 && status < 500)
    return fmt::format("the provider refused the request ({})", what);
  return fmt::format("the provider failed ({})", what);
}

}  // namespace

ProviderWords read_provider_words(std::string_view json) {
  simdjson::dom::parser parser;
  element root, error;
  ProviderWords words;
  if (parser.parse(json.data(), json.size()).get(root)) return words;
  std::string_view text;
  if (root["error"].get(error))
    error = root;
  else if (!error.get_string().get(text))
    words.message = text;
  words.type = text_at(error, "type");
  words.code = text_at(error, "code");
  for (const char* name : {"message", "detail"})
    if (words.message.empty()) words.message = text_at(error, name);
  return words;
}

Category category_of_status(std::uint64_t status) {
  if (status == 429) return Category::rate_limited;
  if (status == 401 || status == 402 || status == 403) return Category::denied;
  if (status == 404) return Category::not_found;
  if (status == 408) return Category::timeout;
  return status >= 400 && status < 500 ? Category::invalid_input : Category::provider;
}

Again again_after_status(std::uint64_t status) {
  return status == 429 || status == 408 || status >= 500 ? Again::later : Again::never;
}

FaultCause cause_of_status(std::uint64_t status) {
  switch (status) {
    case 401:
    case 403:
      return FaultCause::credential;
    case 402:
      return FaultCause::no_credit;
    case 404:
      return FaultCause::unknown_model;
    case 408:
      return FaultCause::timeout;
    case 413:
      return FaultCause::context_size;
    case 429:
      return FaultCause::rate_limit;
    case 503:
    case 529:
      return FaultCause::overloaded;
    default:
      break;
  }
  if (status >= 300 && status < 400) return FaultCause::connection;  // not the address of a model
  return status >= 400 && status < 500 ? FaultCause::invalid : FaultCause::server;
}

ports::ModelFault status_fault(std::uint64_t status, const ProviderWords& words,
                               std::optional<std::int64_t> retry_after_ms, const Subject& subject) {
  const bool hopeless = mentions(words, "insufficient_quota") || context_is_full(words);
  return {.error = {context_is_full(words) ? Category::invalid_input : category_of_status(status),
                    sentence(status, words, described(status, shown(words, subject)), subject),
                    !hopeless && again_after_status(status) == Again::later},
          .provider_status = status,
          .ended_by_provider = true,
          .retry_after_ms = retry_after_ms,
          .cause = cause_of(status, words)};
}

ports::ModelFault told_fault(const ProviderWords& words, const Subject& subject) {
  const std::uint64_t status = status_of_words(words);
  ports::ModelFault fault = status_fault(status, words, std::nullopt, subject);
  fault.provider_status.reset();
  fault.error.message = sentence(status, words, described({}, shown(words, subject)), subject);
  return fault;
}

ports::ModelFault wrong_answer(FaultCause cause, std::string message, Again again) {
  return broken_fault(cause, Category::provider, std::move(message), again);
}

ports::ModelFault broken_fault(FaultCause cause, Category category, std::string message,
                               Again again) {
  return {.error = {category, std::move(message), again == Again::later},
          .provider_status = {},
          .ended_by_provider = false,
          .retry_after_ms = {},
          .cause = cause};
}

}  // namespace agentrt::adapters
