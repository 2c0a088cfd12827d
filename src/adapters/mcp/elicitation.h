// adapters/mcp/elicitation.h: a question of a server to a person, and the answer in its words.
//
// In mode `form` the server wants a flat object; what the person leaves out and has a default is
// filled in. In mode `url` the person goes elsewhere, and only whether they did is answered. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "ports/tools.h"
#include "schema/json.h"

namespace agentrt::adapters {

inline constexpr std::size_t kMcpQuestionBytesMax = 16 * 1024;  // of its words and its schema
inline constexpr std::size_t kMcpUrlBytesMax = 2'048;

// What is remembered of a question until it is answered.
struct McpQuestion {
  schema::Json request_id;             // the server's
  std::optional<schema::Json> schema;  // absent: in mode url
};

// The question that elicitation/create asks for; its id is left to the caller. invalid_params, with
// what the server is told.
Result<ports::ToolQuestion> read_question(const schema::Json& params);

// The result of elicitation/create.
std::string question_result(const McpQuestion& question, ports::QuestionAnswer answer,
                            const std::optional<schema::Json>& content);

}  // namespace agentrt::adapters
