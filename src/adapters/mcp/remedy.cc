#include "adapters/mcp/remedy.h"

#include <fmt/format.h>

#include "schema/codec.h"

namespace agentrt::adapters {
namespace {

struct Details {
  std::optional<std::string> remedy;
};
BOOST_DESCRIBE_STRUCT(Details, (), (remedy))

}  // namespace

Error with_remedy(Code code, std::string message, const std::string& remedy) {
  return {code, std::move(message), schema::to_json(Details{remedy})};
}

std::optional<std::string> remedy_of(const Error& error) {
  Details details;
  if (error.details.empty() || !schema::from_json(error.details, details, schema::Unknown::ignore))
    return std::nullopt;
  return details.remedy;
}

Error reworded(const Error& error, std::string message) {
  return {error.code, std::move(message), error.details};
}

}  // namespace agentrt::adapters
