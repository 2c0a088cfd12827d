#include "base/result.h"

#include <array>

#include "base/check.h"

namespace agentrt {
namespace {

struct CodeRow {
  Code code;
  std::string_view name;
  int status;
};

constexpr std::array kCodes = {
    CodeRow{Code::invalid_params, "invalid_params", 400},
    CodeRow{Code::unauthenticated, "unauthenticated", 401},
    CodeRow{Code::forbidden, "forbidden", 403},
    CodeRow{Code::not_found, "not_found", 404},
    CodeRow{Code::method_not_allowed, "method_not_allowed", 405},
    CodeRow{Code::timeout, "timeout", 408},
    CodeRow{Code::conflict, "conflict", 409},
    CodeRow{Code::idempotency_conflict, "idempotency_conflict", 409},
    CodeRow{Code::binding_mismatch, "binding_mismatch", 409},
    CodeRow{Code::gone, "gone", 410},
    CodeRow{Code::expired, "expired", 410},
    CodeRow{Code::too_large, "too_large", 413},
    CodeRow{Code::unsupported_media_type, "unsupported_media_type", 415},
    CodeRow{Code::misdirected, "misdirected", 421},
    CodeRow{Code::limit_exceeded, "limit_exceeded", 429},
    CodeRow{Code::header_too_large, "header_too_large", 431},
    CodeRow{Code::internal, "internal", 500},
    CodeRow{Code::overloaded, "overloaded", 503},
    CodeRow{Code::unavailable, "unavailable", 503},
    CodeRow{Code::storage_full, "storage_full", 507},
};

const CodeRow& row(Code code) {
  for (const CodeRow& candidate : kCodes)
    if (candidate.code == code) return candidate;
  stop("every Code has a row");
}

}  // namespace

std::string_view code_name(Code code) { return row(code).name; }

std::optional<Code> code_of(std::string_view name) {
  for (const CodeRow& candidate : kCodes)
    if (candidate.name == name) return candidate.code;
  return std::nullopt;
}

int http_status(Code code) { return row(code).status; }

}  // namespace agentrt
