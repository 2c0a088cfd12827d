// channels/agui/agui_input.h: reads RunAgentInput, the request of AG-UI. Pure.
//
// Unknown members are ignored. Errors are invalid_params and name the member.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/codec.h"

namespace agentrt::channels {

inline constexpr std::size_t kAguiMessagesMax = 10'000;
inline constexpr std::size_t kAguiIdBytesMax = 512;

// One part of a user's message: a text, or bytes.
struct AguiPart {
  std::string text;
  std::string media_type;  // empty: a text
  std::string bytes;
};

struct AguiMessage {
  std::string id;
  std::string role;
  std::vector<AguiPart> parts;  // of a message with role user
  std::string digest;           // of its content
};

struct AguiAnswer {
  std::string interrupt_id;
  bool cancelled = false;
  std::optional<schema::Json> payload;
};

struct AguiInput {
  std::string thread_id;
  std::string run_id;
  std::vector<AguiMessage> messages;
  std::vector<schema::Json> raw_messages;
  std::vector<std::string> tools;  // names of the front end's tools, which are not executed
  bool has_context = false;
  bool has_state = false;
  std::optional<std::vector<AguiAnswer>> resume;
};

Result<AguiInput> read_agui_input(const std::string& text);

}  // namespace agentrt::channels
