// adapters/tools/outcome.h: the result of a file tool's step, or the failure that ends the call: a
// category and a message that tells the model what to do. Values; any thread.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "schema/values.h"

namespace agentrt::adapters::tools {

template <class T>
using Outcome = std::expected<T, schema::Failure>;

enum class Retry { no, yes };

inline std::unexpected<schema::Failure> refuse(schema::Category category, std::string message,
                                               Retry retry = Retry::no) {
  return std::unexpected(schema::Failure{category, std::move(message), retry == Retry::yes});
}

}  // namespace agentrt::adapters::tools
