// schema/facts/cost.h: the cost of work, and the limits that apply to it.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct CostEstimated {
  static constexpr std::string_view kType = "cost.estimated";
  std::optional<std::int64_t> amount_nanos;
  std::optional<std::string> currency;
  std::optional<Usage> usage;

  bool operator==(const CostEstimated&) const = default;
};
BOOST_DESCRIBE_STRUCT(CostEstimated, (), (amount_nanos, currency, usage))

struct CostRecorded {
  static constexpr std::string_view kType = "cost.recorded";
  std::int64_t amount_nanos = 0;
  std::string currency;
  std::optional<Usage> usage;
  std::optional<Json> price;

  bool operator==(const CostRecorded&) const = default;
};
BOOST_DESCRIBE_STRUCT(CostRecorded, (), (amount_nanos, currency, usage, price))

struct RateLimitHit {
  static constexpr std::string_view kType = "rate_limit.hit";
  std::optional<std::string> provider;
  std::optional<std::string> model;
  std::optional<std::int64_t> retry_after_ms;

  bool operator==(const RateLimitHit&) const = default;
};
BOOST_DESCRIBE_STRUCT(RateLimitHit, (), (provider, model, retry_after_ms))

// Based on usage plus reservations. Always precedes quota.blocked.
struct QuotaLow {
  static constexpr std::string_view kType = "quota.low";
  std::string limit;
  std::string scope;
  std::optional<std::int64_t> used_nanos;
  std::optional<std::int64_t> reserved_nanos;
  std::optional<std::int64_t> limit_nanos;

  bool operator==(const QuotaLow&) const = default;
};
BOOST_DESCRIBE_STRUCT(QuotaLow, (), (limit, scope, used_nanos, reserved_nanos, limit_nanos))

struct QuotaBlocked {
  static constexpr std::string_view kType = "quota.blocked";
  std::string limit;
  std::string scope;
  std::optional<std::int64_t> used_nanos;
  std::optional<std::int64_t> reserved_nanos;
  std::optional<std::int64_t> limit_nanos;

  bool operator==(const QuotaBlocked&) const = default;
};
BOOST_DESCRIBE_STRUCT(QuotaBlocked, (), (limit, scope, used_nanos, reserved_nanos, limit_nanos))

struct LimitChanged {
  static constexpr std::string_view kType = "limit.changed";
  std::optional<std::string> limit;
  std::optional<std::string> scope;
  std::optional<std::int64_t> limit_nanos;
  std::optional<std::string> reason;

  bool operator==(const LimitChanged&) const = default;
};
BOOST_DESCRIBE_STRUCT(LimitChanged, (), (limit, scope, limit_nanos, reason))

}  // namespace agentrt::schema
