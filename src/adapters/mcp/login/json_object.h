// adapters/mcp/login/json_object.h: reads the flat JSON objects of OAuth. Members of an unexpected
// type count as absent. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agentrt::adapters {

class JsonObject {
 public:
  // Errors: invalid_params: the text is not a JSON object.
  static Result<JsonObject> read(std::string_view text);

  // Empty: absent.
  std::string text(std::string_view name) const;
  std::optional<std::vector<std::string>> texts(std::string_view name) const;
  bool is_true(std::string_view name) const;
  std::optional<std::int64_t> number(std::string_view name) const;

 private:
  struct Value {
    std::optional<std::string> text;
    std::optional<std::vector<std::string>> texts;
    std::optional<std::int64_t> number;
    bool is_true = false;
  };
  const Value* find(std::string_view name) const;

  std::map<std::string, Value, std::less<>> values_;
};

}  // namespace agentrt::adapters
