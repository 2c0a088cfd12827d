// adapters/models/wires/anthropic.cc: the wire of Anthropic's Messages API.
//
// Sets two prompt cache breakpoints: at the end of the system prompt, which also covers the tools
// before it, and at the end of the conversation, so that the turn's next request reuses all of this
// one. Usage is reported as by the other wires: input tokens include cached ones.
#include <algorithm>
#include <map>

#include "adapters/models/wires/json_events.h"
#include "adapters/models/wires/json_text.h"
#include "base/base64.h"

namespace agentrt::adapters {

using namespace schema;

namespace {

constexpr std::string_view kVersion = "2023-06-01";
constexpr std::uint64_t kMaxTokensDefault = 8'192;   // the API requires a number
constexpr std::uint64_t kThinkingTokensMin = 1'024;  // the API refuses fewer
constexpr std::string_view kCacheMark = R"({"type":"ephemeral"})";

enum class Mark { none, cache };

// Ends one block of a message, with the cache mark if requested.
void close_block(JsonText& out, Mark mark) {
  if (mark == Mark::cache) out.key("cache_control").raw(kCacheMark);
  out.close('}');
}

void write_text(JsonText& out, std::string_view text, Mark mark) {
  out.open('{').member("type", "text").member("text", text);
  close_block(out, mark);
}

void write_attachment(JsonText& out, const ports::Attachment& one) {
  out.open('{').member("type", is_image(one) ? "image" : "document");
  out.key("source")
      .open('{')
      .member("type", "base64")
      .member("media_type", one.media_type)
      .member("data", base64(one.bytes))
      .close('}');
  if (!is_image(one)) out.member("title", one.name);
  out.close('}');
}

void write_call(JsonText& out, const ports::MadeCall& call) {
  out.open('{')
      .member("type", "tool_use")
      .member("id", call.id.text())
      .member("name", plain_name(call.name))
      .key("input")
      .raw(args_object(call.args))
      .close('}');
}

void write_result(JsonText& out, const ports::Message& message, Mark mark) {
  out.open('{').member("type", "tool_result").member("tool_use_id", message.answers.text());
  if (message.attachments.empty()) {
    out.member("content", message.text);
  } else {
    out.key("content").open('[');
    if (says_something(message.text)) write_text(out, message.text, Mark::none);
    for (const ports::Attachment& one : message.attachments) write_attachment(out, one);
    out.close(']');
  }
  if (message.is_error) out.key("is_error").raw("true");
  close_block(out, mark);
}

// Writes the blocks of one message. Skips blank texts, which the provider rejects.
void write_blocks(JsonText& out, const Endpoint& endpoint, const ports::Message& message,
                  Mark mark) {
  if (message.role == ports::Role::tool) return write_result(out, message, mark);
  if (const Json* thinking = state_for(endpoint, message)) out.raw(elements_of(*thinking));
  for (const ports::Attachment& one : message.attachments) write_attachment(out, one);
  if (says_something(message.text)) write_text(out, message.text, mark);
  for (const ports::MadeCall& call : message.calls) write_call(out, call);
}

bool has_blocks(const ports::Message& message) {
  return message.role == ports::Role::tool || !message.attachments.empty() ||
         !message.calls.empty() || says_something(message.text);
}

bool from_assistant(const ports::Message& message) {
  return message.role == ports::Role::assistant;
}

// Messages alternate between user and assistant; tool results count as the user's.
void write_messages(JsonText& out, const Endpoint& endpoint,
                    const std::vector<ports::Message>& all) {
  std::vector<const ports::Message*> messages;
  for (const ports::Message& message : all)
    if (has_blocks(message)) messages.push_back(&message);
  out.key("messages").open('[');
  for (std::size_t at = 0; at < messages.size();) {
    const bool assistant = from_assistant(*messages[at]);
    out.open('{').member("role", assistant ? "assistant" : "user").key("content").open('[');
    for (; at < messages.size() && from_assistant(*messages[at]) == assistant; ++at)
      write_blocks(out, endpoint, *messages[at],
                   at + 1 == messages.size() ? Mark::cache : Mark::none);
    out.close(']').close('}');
  }
  out.close(']');
}

// With thinking enabled, the provider rejects the last calls if the thinking blocks before them are
// missing. So enable it only if these blocks can be sent back.
bool may_think(const Endpoint& endpoint, const std::vector<ports::Message>& messages) {
  if (!endpoint.reasons) return false;
  const auto last = std::ranges::find_if(messages.rbegin(), messages.rend(), from_assistant);
  return last == messages.rend() || last->calls.empty() || state_for(endpoint, *last) != nullptr;
}

StopReason stop_of(std::string_view word) {
  if (word == "end_turn" || word == "stop_sequence") return StopReason::end_turn;
  if (word == "max_tokens" || word == "model_context_window_exceeded")
    return StopReason::max_tokens;
  if (word == "tool_use") return StopReason::tool_use;
  if (word == "refusal") return StopReason::content_filter;
  return StopReason::unknown;
}

class AnthropicReader final : public JsonEventReader {
 public:
  using JsonEventReader::JsonEventReader;

 private:
  void on_json(std::string_view, JsonElement root) override {
    const std::string_view type = string_in(root["type"]);
    const std::uint64_t index = count_in(root["index"]).value_or(0);
    if (type == "message_start") {
      read_usage(root["message"]["usage"]);
    } else if (type == "content_block_start") {
      const JsonMember block = root["content_block"];
      const std::string_view kind = string_in(block["type"]);
      if (kind == "tool_use") {
        answer().name_call(index, string_in(block["name"]));
        answer().set_args(index, object_in(block["input"]));
      }
      if (kind == "text") answer().add_text(string_in(block["text"]));
      if (kind == "thinking") answer().add_reasoning(string_in(block["thinking"]));
      if (kind == "thinking") thoughts_[index].text = string_in(block["thinking"]);
      if (kind == "redacted_thinking") thoughts_[index].redacted = string_in(block["data"]);
    } else if (type == "content_block_delta") {
      const JsonMember delta = root["delta"];
      answer().add_text(string_in(delta["text"]));
      answer().add_reasoning(string_in(delta["thinking"]));
      if (const auto thought = thoughts_.find(index); thought != thoughts_.end()) {
        thought->second.text += string_in(delta["thinking"]);
        thought->second.signature += string_in(delta["signature"]);
      }
      if (string_in(delta["type"]) == "input_json_delta")
        answer().add_args(index, string_in(delta["partial_json"]));
    } else if (type == "message_delta") {
      read_usage(root["usage"]);
      if (const std::string_view word = string_in(root["delta"]["stop_reason"]); !word.empty())
        answer().set_stop(stop_of(word));
    } else if (type == "message_stop") {
      keep_thoughts();
      answer().complete();
    } else if (type == "error" || (type.empty() && !root["error"].error())) {
      fail_as_told(root);
    }
  }
  // Kept unchanged to send back: the provider verifies their signatures.
  void keep_thoughts() {
    if (thoughts_.empty()) return;
    JsonText out;
    out.open('[');
    for (const auto& [_, thought] : thoughts_) {
      if (!thought.redacted.empty())
        out.open('{').member("type", "redacted_thinking").member("data", thought.redacted);
      else
        out.open('{')
            .member("type", "thinking")
            .member("thinking", thought.text)
            .member("signature", thought.signature);
      out.close('}');
    }
    answer().set_state(Json{out.close(']').take()});
  }
  // Usage arrives at the beginning and again, larger, at the end; each contains only known counts.
  void read_usage(JsonMember usage) {
    const auto take = [&](const char* name, std::uint64_t& count) {
      const auto found = count_in(usage[name]);
      if (found) count = *found;
      return found.has_value();
    };
    take("input_tokens", fresh_);
    take("cache_creation_input_tokens", written_);
    Usage told = answer().usage();
    if (std::uint64_t cached = told.cached_tokens.value_or(0);
        take("cache_read_input_tokens", cached))
      told.cached_tokens = cached;
    take("output_tokens", told.output_tokens);
    told.input_tokens = fresh_ + written_ + told.cached_tokens.value_or(0);
    answer().set_usage(told);
  }

  struct Thought {
    std::string text, signature, redacted;
  };
  std::map<std::uint64_t, Thought> thoughts_;  // by block index
  std::uint64_t fresh_ = 0;    // input tokens neither read from nor written to the cache
  std::uint64_t written_ = 0;  // input tokens written to the cache
};

class AnthropicWire final : public Wire {
 public:
  HttpRequest write(const Endpoint& endpoint, const ports::ModelRequest& request) const override {
    JsonText out;
    out.open('{').member("model", endpoint.model);
    const std::uint64_t tokens = endpoint.max_output_tokens.value_or(kMaxTokensDefault);
    out.key("max_tokens").number(tokens);
    if (may_think(endpoint, request.messages) && tokens >= 2 * kThinkingTokensMin)
      out.key("thinking")
          .open('{')
          .member("type", "enabled")
          .key("budget_tokens")
          .number(tokens / 2)
          .close('}');
    if (!request.tools.empty()) {
      out.key("tools").open('[');
      for (const ports::OfferedTool& tool : request.tools)
        out.open('{')
            .member("name", tool.name)
            .member("description", tool.description)
            .key("input_schema")
            .raw(tool.input_schema.text)
            .close('}');
      out.close(']');
    }
    if (!request.instructions.empty()) {
      out.key("system").open('[');
      write_text(out, request.instructions, Mark::cache);
      out.close(']');
    }
    write_messages(out, endpoint, request.messages);
    out.key("stream").raw("true").close('}');
    const bool versioned = endpoint.base_url.ends_with("/v1");
    HttpRequest http{endpoint.base_url + (versioned ? "/messages" : "/v1/messages"),
                     {"Content-Type: application/json", "Accept: text/event-stream",
                      "anthropic-version: " + std::string(kVersion)},
                     out.take(),
                     endpoint.timeouts};
    if (!endpoint.key.empty()) http.headers.push_back("x-api-key: " + endpoint.key);
    return http;
  }
  std::unique_ptr<WireReader> read(Answer& answer, const Subject& subject) const override {
    return std::make_unique<AnthropicReader>(answer, subject);
  }
};

}  // namespace

const Wire& anthropic_wire() {
  static const AnthropicWire wire;
  return wire;
}

const Wire* wire_of(std::string_view provider) {
  if (provider == "openai_chat") return &openai_chat_wire();
  if (provider == "openai_responses") return &openai_responses_wire();
  if (provider == "anthropic") return &anthropic_wire();
  return nullptr;
}

}  // namespace agentrt::adapters
