// adapters/mcp/elicitation.h: MCP elicitation: parses a server's question to the user and encodes
// the answer.
//
// In mode `form` the server expects a flat object; omitted members with a default are filled in. In
// mode `url` the user visits a page, and the answer only says whether they agreed. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "ports/tools.h"
#include "schema/json.h"

namespace agentrt::adapters {

inline constexpr std::size_t kMcpQuestionBytesMax = 16 * 1024;  // message and schema together
inline constexpr std::size_t kMcpUrlBytesMax = 2'048;

// State of an open question, needed to answer it.
struct McpQuestion {
  schema::Json request_id;             // the server's request id
  std::optional<schema::Json> schema;  // absent in mode url
};

// Parses the params of elicitation/create; the caller assigns the question's id. Errors:
// invalid_params, with the message to send to the server.
Result<ports::ToolQuestion> read_question(const schema::Json& params);

// Encodes the result of elicitation/create.
std::string question_result(const McpQuestion& question, ports::QuestionAnswer answer,
                            const std::optional<schema::Json>& content);

}  // namespace agentrt::adapters
