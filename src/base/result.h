// base/result.h: operational failures as return values.
//
// Every function that can fail for a reason outside the program returns Result<T>. The error codes
// are the closed set documented in docs/errors.md. They are part of the protocol, are never
// renamed, and each maps to one HTTP status.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace agentrt {

enum class Code {
  invalid_params,
  unauthenticated,
  forbidden,
  not_found,
  method_not_allowed,
  timeout,
  conflict,
  idempotency_conflict,
  binding_mismatch,
  gone,
  expired,
  too_large,
  unsupported_media_type,
  misdirected,
  limit_exceeded,
  header_too_large,
  internal,
  overloaded,
  unavailable,
  storage_full,
};

std::string_view code_name(Code code);
std::optional<Code> code_of(std::string_view name);
int http_status(Code code);

struct Error {
  Code code = Code::internal;
  std::string message;  // one sentence for a human reader; programs must not depend on its wording
  std::string details;  // a JSON object as text, or empty

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(Code code, std::string message, std::string details = {}) {
  return std::unexpected(Error{code, std::move(message), std::move(details)});
}

}  // namespace agentrt

// TRY(expr): returns the error from the enclosing function if expr failed.
// TRY_ASSIGN(auto x, expr): the same; otherwise assigns the value to x.
#define AGENTRT_JOIN2(a, b) a##b
#define AGENTRT_JOIN(a, b) AGENTRT_JOIN2(a, b)
#define TRY(expr)                                                           \
  do {                                                                      \
    auto try_result = (expr);                                               \
    if (!try_result) return std::unexpected(std::move(try_result).error()); \
  } while (false)
#define TRY_ASSIGN(declaration, expr)                                        \
  auto AGENTRT_JOIN(try_, __LINE__) = (expr);                                \
  if (!AGENTRT_JOIN(try_, __LINE__))                                         \
    return std::unexpected(std::move(AGENTRT_JOIN(try_, __LINE__)).error()); \
  declaration = *std::move(AGENTRT_JOIN(try_, __LINE__))
