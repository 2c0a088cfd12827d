#include "channels/mcp/mcp_words.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace agentrt::channels {
namespace {

// Newest first. Requests of older clients that agreed on one of the first two may still name
// another one.
constexpr std::array<std::string_view, 2> kSpoken = {"2025-11-25", "2025-06-18"};
constexpr std::array<std::string_view, 2> kTolerated = {"2025-03-26", "2024-11-05"};

constexpr std::string_view kTurnIds =
    R"("sessionId":{"type":"string","description":"Id of the session."},)"
    R"("turnId":{"type":"string","description":"Id of the turn."})";

constexpr std::string_view kTurnOutput =
    R"({"type":"object","required":["sessionId","threadId","turnId","status","text","actions"],)"
    R"("properties":{"sessionId":{"type":"string"},"threadId":{"type":"string"},"turnId":)"
    R"({"type":"string"},"status":{"type":"string","description":"completed, failed, cancelled )"
    R"(and timed_out are final; waiting_permission and waiting_input wait for a person"},"text":)"
    R"({"type":"string"},"textRef":{"type":"string"},"error":{"type":"object"},"actions":)"
    R"({"type":"array","items":{"type":"object","required":["actionId","actionType"],"properties":)"
    R"({"actionId":{"type":"string"},"actionType":{"type":"string"},"prompt":{"type":"string"},)"
    R"("toolName":{"type":"string"},"decisions":{"type":"array","items":{"type":"string"}},)"
    R"("expiresAt":{"type":"string"},"howToAnswer":{"type":"string"}}}}}})";

std::string run_turn_schema() {
  return fmt::format(
      R"({{"type":"object","additionalProperties":false,"required":["prompt"],"properties":)"
      R"({{"prompt":{{"type":"string","description":"What the agent is to do."}},)"
      R"("sessionId":{{"type":"string","description":"Session to continue. Default: a new one."}},)"
      R"("cwd":{{"type":"string","description":"Folder of a new session, absolute. Default: the )"
      R"(folder of the runtime. Others may need a token with scope approve."}},)"
      R"("model":{{"type":"string","description":"A configured model. Default: routing selects )"
      R"(one."}},"mode":{{"type":"string","enum":["default","untrusted","on_request","on_failure",)"
      R"("never","plan","auto","bypass"],"description":"Permission mode. Default: the configured )"
      R"(one. Laxer ones need a token with scope approve."}},)"
      R"("waitMs":{{"type":"integer","minimum":0,"maximum":{},"description":"How long to wait for )"
      R"(the turn, in milliseconds. Default: {}. The turn continues after that: ask for it with )"
      R"(get_turn."}},"idempotencyKey":{{"type":"string","description":"Repeating a call with )"
      R"(the same key returns the same turn and starts no second one."}}}}}})",
      kMcpWaitMaxMs, kMcpWaitMs);
}

std::string turn_schema() {
  return fmt::format(
      R"({{"type":"object","additionalProperties":false,"required":["sessionId","turnId"],)"
      R"("properties":{{{}}}}})",
      kTurnIds);
}

std::string tool(std::string_view name, std::string_view description, std::string_view input,
                 std::string_view output, bool reads) {
  return fmt::format(R"({{"name":"{}","description":"{}","inputSchema":{},"outputSchema":{},)"
                     R"("annotations":{{"readOnlyHint":{},"destructiveHint":{}}}}})",
                     name, description, input, output, reads, !reads);
}

}  // namespace

std::string_view mcp_version_for(std::string_view requested) {
  return std::ranges::find(kSpoken, requested) != kSpoken.end() ? requested : kSpoken.front();
}

bool is_mcp_version(std::string_view version) {
  return std::ranges::find(kSpoken, version) != kSpoken.end() ||
         std::ranges::find(kTolerated, version) != kTolerated.end();
}

std::string mcp_greeting(std::string_view version) {
  return fmt::format(
      R"({{"protocolVersion":"{}","capabilities":{{"tools":{{"listChanged":false}}}},)"
      R"("serverInfo":{{"name":"agentrt","title":"agentrt","version":"{}"}},)"
      R"("instructions":"run_turn gives an agent a task and returns its answer. If the status is )"
      R"(not final, ask again with get_turn. A turn that waits for a decision continues when a )"
      R"(person has decided; no tool decides."}})",
      version, AGENTRT_VERSION);
}

std::string mcp_tool_list() {
  const std::string sessions_input =
      R"({"type":"object","additionalProperties":false,"properties":{"limit":{"type":"integer",)"
      R"("minimum":1,"maximum":1000,"description":"Size of the page. Default: 20."},"cursor":)"
      R"({"type":"string","description":"nextCursor of the previous page."}}})";
  const std::string sessions_output =
      R"({"type":"object","required":["sessions"],"properties":{"sessions":{"type":"array",)"
      R"("items":{"type":"object"}},"nextCursor":{"type":"string"}}})";
  return fmt::format(
      R"({{"tools":[{},{},{},{}]}})",
      tool("run_turn",
           "Gives the agent a task: submits a turn, waits for it and returns its answer. Returns "
           "early if the turn waits for a decision of a person, or after waitMs.",
           run_turn_schema(), kTurnOutput, false),
      tool("get_turn", "Returns the status and the answer of a turn.", turn_schema(), kTurnOutput,
           true),
      tool("interrupt_turn", "Ends a turn that runs or waits.", turn_schema(), kTurnOutput, false),
      tool("list_sessions", "Lists the sessions of the runtime, newest first.", sessions_input,
           sessions_output, true));
}

}  // namespace agentrt::channels
