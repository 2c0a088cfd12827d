// adapters/models/wires/openai_chat.cc: the wire of chat completions, as served by OpenAI, Ollama,
// vLLM, llama.cpp and many others. Where servers differ, it sends what all accept and accepts what
// any sends.
#include <algorithm>
#include <iterator>
#include <map>

#include "adapters/models/wires/json_events.h"
#include "adapters/models/wires/json_text.h"

namespace agentrt::adapters {

using namespace schema;

namespace {

// Some servers accept only ids of nine letters and digits. The last nine of ours identify a call
// uniquely enough within a conversation.
std::string_view short_id(const ToolCallId& id) {
  constexpr std::size_t kIdBytes = 9;
  const std::string_view text = id.text();
  return text.substr(text.size() - std::min(text.size(), kIdBytes));
}

void write_content(JsonText& out, const ports::Message& message) {
  out.key("content");
  if (message.attachments.empty()) {
    out.string(message.text);
    return;
  }
  out.open('[');
  if (!message.text.empty())
    out.open('{').member("type", "text").member("text", message.text).close('}');
  for (const ports::Attachment& one : message.attachments) {
    out.open('{');
    if (is_image(one))
      out.member("type", "image_url").key("image_url").open('{').member("url", data_url(one));
    else
      out.member("type", "file")
          .key("file")
          .open('{')
          .member("filename", one.name)
          .member("file_data", data_url(one));
    out.close('}').close('}');
  }
  out.close(']');
}

// Results have only text here, so their images follow in a message of the user, after all results
// of an answer.
std::vector<ports::Message> images_apart(const std::vector<ports::Message>& messages) {
  std::vector<ports::Message> out;
  ports::Message images;
  const auto flush = [&] {
    if (images.attachments.empty()) return;
    images.text = "[The images of the tool results above, in order.]";
    out.push_back(std::exchange(images, {}));
  };
  for (const ports::Message& message : messages) {
    if (message.role != ports::Role::tool) flush();
    out.push_back(message);
    if (message.role != ports::Role::tool) continue;
    std::ranges::move(out.back().attachments, std::back_inserter(images.attachments));
    out.back().attachments.clear();
  }
  flush();
  return out;
}

// Merges messages, because many servers accept only alternating user and assistant messages.
std::vector<ports::Message> alternating(const std::vector<ports::Message>& messages) {
  std::vector<ports::Message> out;
  for (const ports::Message& message : messages) {
    if (out.empty() || out.back().role != ports::Role::user || message.role != ports::Role::user) {
      out.push_back(message);
      continue;
    }
    out.back().text += "\n\n" + message.text;
    std::ranges::copy(message.attachments, std::back_inserter(out.back().attachments));
  }
  return out;
}

void write_message(JsonText& out, const Endpoint& endpoint, const ports::Message& message) {
  out.open('{').member("role", name_of(message.role));
  if (const Json* reasoning = state_for(endpoint, message))
    out.key("reasoning_content").raw(reasoning->text);
  if (message.role == ports::Role::assistant && message.text.empty())
    out.key("content").raw("null");
  else
    write_content(out, message);
  if (message.role == ports::Role::tool) out.member("tool_call_id", short_id(message.answers));
  if (!message.calls.empty()) {
    out.key("tool_calls").open('[');
    for (const ports::MadeCall& call : message.calls)
      out.open('{')
          .member("id", short_id(call.id))
          .member("type", "function")
          .key("function")
          .open('{')
          .member("name", plain_name(call.name))
          .member("arguments", args_object(call.args))
          .close('}')
          .close('}');
    out.close(']');
  }
  out.close('}');
}

StopReason stop_of(std::string_view word) {
  if (word == "stop") return StopReason::end_turn;
  if (word == "length") return StopReason::max_tokens;
  if (word == "tool_calls" || word == "function_call") return StopReason::tool_use;
  if (word == "content_filter") return StopReason::content_filter;
  return StopReason::unknown;
}

class ChatReader final : public JsonEventReader {
 public:
  using JsonEventReader::JsonEventReader;

  void on_event(std::string_view type, std::string_view data) override {
    if (data != "[DONE]") return JsonEventReader::on_event(type, data);
    complete();
  }
  // Some servers omit [DONE]; an answer with a stop reason is complete.
  void on_end() override {
    if (answer().stopped()) return complete();
    JsonEventReader::on_end();
  }

 private:
  void on_json(std::string_view, JsonElement root) override {
    if (!root["error"].error() && !root["error"].is_null()) return fail_as_told(root);
    read_usage(root["usage"]);
    const JsonMember choice = root["choices"].at(0);
    const JsonMember delta = choice["delta"];
    // Servers use either of two names for reasoning; some send both.
    const std::string_view reasoning = string_in(delta["reasoning_content"]);
    answer().add_reasoning(reasoning.empty() ? string_in(delta["reasoning"]) : reasoning);
    if (reasoning_.size() <= kStateBytesMax) reasoning_ += reasoning;
    read_content(delta["content"]);
    answer().add_text(string_in(delta["refusal"]));
    simdjson::dom::array calls;
    if (!delta["tool_calls"].get_array().get(calls))
      for (const JsonElement call : calls) read_call(call);
    if (const std::string_view word = string_in(choice["finish_reason"]); !word.empty())
      answer().set_stop(stop_of(word));
  }
  // Servers that send `reasoning_content` expect it back with the calls.
  void complete() {
    if (!reasoning_.empty()) {
      Json state{""};
      write_string(state.text, reasoning_);
      answer().set_state(std::move(state));
    }
    answer().complete();
  }
  // The content is a text, or an array of parts, some of which are reasoning.
  void read_content(JsonMember content) {
    answer().add_text(string_in(content));
    simdjson::dom::array parts;
    if (content.get_array().get(parts)) return;
    for (const JsonElement part : parts) {
      answer().add_text(string_in(part["text"]));
      simdjson::dom::array thoughts;
      if (part["thinking"].get_array().get(thoughts)) continue;
      for (const JsonElement thought : thoughts) answer().add_reasoning(string_in(thought["text"]));
    }
  }
  // Parses a piece of a call. The index identifies the call. Some servers give every call the same
  // index; then a name with a new id, or a name after complete arguments, starts a new call.
  void read_call(JsonElement call) {
    Place& place = places_[count_in(call["index"]).value_or(0)];
    const std::string_view id = string_in(call["id"]), name = string_in(call["function"]["name"]);
    std::string piece = object_in(call["function"]["arguments"]);
    if (piece.empty()) piece = string_in(call["function"]["arguments"]);
    const bool another = place.number && !name.empty() &&
                         ((!id.empty() && id != place.id) ||
                          (!piece.empty() && answer().has_whole_args(*place.number)));
    if (!place.number || another) place = {calls_++, std::string(id)};
    answer().name_call(*place.number, name);
    answer().add_args(*place.number, piece);
  }
  void read_usage(JsonMember usage) {
    const auto input = count_in(usage["prompt_tokens"]);
    if (!input) return;
    answer().set_usage(
        {.input_tokens = *input,
         .output_tokens = count_in(usage["completion_tokens"]).value_or(0),
         .cached_tokens = count_in(usage["prompt_tokens_details"]["cached_tokens"]),
         .reasoning_tokens = count_in(usage["completion_tokens_details"]["reasoning_tokens"])});
  }

  struct Place {
    std::optional<std::uint64_t> number;  // of the call, in the order of their start
    std::string id;
  };
  std::map<std::uint64_t, Place> places_;  // index to its newest call
  std::uint64_t calls_ = 0;
  std::string reasoning_;  // received as reasoning_content
};

class ChatWire final : public Wire {
 public:
  HttpRequest write(const Endpoint& endpoint, const ports::ModelRequest& request) const override {
    JsonText out;
    out.open('{').member("model", endpoint.model).key("messages").open('[');
    if (!request.instructions.empty())
      out.open('{').member("role", "system").member("content", request.instructions).close('}');
    for (const ports::Message& message : alternating(images_apart(request.messages)))
      write_message(out, endpoint, message);
    out.close(']');
    if (!request.tools.empty()) write_tools(out, request.tools);
    // OpenAI's newer models accept only the longer name, most other servers only the shorter one.
    const bool theirs = endpoint.base_url.contains("://api.openai.com");
    if (endpoint.max_output_tokens)
      out.key(theirs ? "max_completion_tokens" : "max_tokens").number(*endpoint.max_output_tokens);
    out.key("stream").raw("true");
    out.key("stream_options").raw(R"({"include_usage":true})");
    out.close('}');
    HttpRequest http{endpoint.base_url + "/chat/completions",
                     {"Content-Type: application/json", "Accept: text/event-stream"},
                     out.take(),
                     endpoint.timeouts};
    if (!endpoint.key.empty()) http.headers.push_back("Authorization: Bearer " + endpoint.key);
    return http;
  }
  std::unique_ptr<WireReader> read(Answer& answer, const Subject& subject) const override {
    return std::make_unique<ChatReader>(answer, subject);
  }

 private:
  static void write_tools(JsonText& out, const std::vector<ports::OfferedTool>& tools) {
    out.key("tools").open('[');
    for (const ports::OfferedTool& tool : tools)
      out.open('{')
          .member("type", "function")
          .key("function")
          .open('{')
          .member("name", tool.name)
          .member("description", tool.description)
          .key("parameters")
          .raw(tool.input_schema.text)
          .close('}')
          .close('}');
    out.close(']');
  }
};

}  // namespace

const Wire& openai_chat_wire() {
  static const ChatWire wire;
  return wire;
}

}  // namespace agentrt::adapters
