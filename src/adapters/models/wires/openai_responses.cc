// adapters/models/wires/openai_responses.cc: the wire of OpenAI's Responses API. The provider
// stores nothing (store: false), so each request contains the whole conversation.
#include "adapters/models/wires/json_events.h"
#include "adapters/models/wires/json_text.h"

namespace agentrt::adapters {

using namespace schema;

namespace {

void write_text_part(JsonText& out, std::string_view type, std::string_view text) {
  out.open('{').member("type", type).member("text", text).close('}');
}

// The text and attachments of a message, as an array of parts.
void write_parts(JsonText& out, const ports::Message& message) {
  out.open('[');
  if (!message.text.empty() || message.attachments.empty())
    write_text_part(out, "input_text", message.text);
  for (const ports::Attachment& one : message.attachments) {
    out.open('{');
    if (is_image(one))
      out.member("type", "input_image").member("image_url", data_url(one));
    else
      out.member("type", "input_file")
          .member("filename", one.name)
          .member("file_data", data_url(one));
    out.close('}');
  }
  out.close(']');
}

void write_user(JsonText& out, const ports::Message& message) {
  out.open('{').member("role", "user").key("content");
  write_parts(out, message);
  out.close('}');
}

void write_result(JsonText& out, const ports::Message& message) {
  out.open('{').member("type", "function_call_output").member("call_id", message.answers.text());
  if (message.attachments.empty()) {
    out.member("output", message.text);
  } else {
    out.key("output");
    write_parts(out, message);
  }
  out.close('}');
}

void write_assistant(JsonText& out, const Endpoint& endpoint, const ports::Message& message) {
  if (const Json* reasoning = state_for(endpoint, message)) out.raw(elements_of(*reasoning));
  if (!message.text.empty()) {
    out.open('{').member("role", "assistant").key("content").open('[');
    write_text_part(out, "output_text", message.text);
    out.close(']').close('}');
  }
  for (const ports::MadeCall& call : message.calls)
    out.open('{')
        .member("type", "function_call")
        .member("call_id", call.id.text())
        .member("name", plain_name(call.name))
        .member("arguments", args_object(call.args))
        .close('}');
}

void write_item(JsonText& out, const Endpoint& endpoint, const ports::Message& message) {
  switch (message.role) {
    case ports::Role::user:
      return write_user(out, message);
    case ports::Role::assistant:
      return write_assistant(out, endpoint, message);
    case ports::Role::tool:
      return write_result(out, message);
  }
}

class ResponsesReader final : public JsonEventReader {
 public:
  using JsonEventReader::JsonEventReader;

 private:
  void on_json(std::string_view, JsonElement root) override {
    const std::string_view type = string_in(root["type"]);
    if (type == "response.output_text.delta" || type == "response.refusal.delta") {
      answer().add_text(string_in(root["delta"]));
    } else if (type == "response.reasoning_summary_text.delta" ||
               type == "response.reasoning_text.delta") {
      read_reasoning(root);
    } else if (type == "response.output_item.added" &&
               string_in(root["item"]["type"]) == "function_call") {
      answer().name_call(place(root), string_in(root["item"]["name"]));
    } else if (type == "response.function_call_arguments.delta") {
      answer().add_args(place(root), string_in(root["delta"]));
    } else if (type == "response.function_call_arguments.done") {
      answer().set_args(place(root), std::string(string_in(root["arguments"])));
    } else if (type == "response.output_item.done" &&
               string_in(root["item"]["type"]) == "reasoning") {
      keep_reasoning(root["item"]);
    } else if (type == "response.completed" || type == "response.incomplete") {
      finish(root["response"]);
    } else if (type == "response.failed") {
      JsonElement described = root;
      (void)root["response"].get(described);
      fail_as_told(described);
    } else if (type == "error" || (type.empty() && !root["error"].error())) {
      fail_as_told(root);
    }
  }
  static std::uint64_t place(JsonElement root) {
    return count_in(root["output_index"]).value_or(0);
  }
  // A summary arrives in parts, each a paragraph.
  void read_reasoning(JsonElement root) {
    const auto part = std::pair{place(root), count_in(root["summary_index"]).value_or(0)};
    if (part_ && *part_ != part) answer().add_reasoning("\n\n");
    part_ = part;
    answer().add_reasoning(string_in(root["delta"]));
  }
  // Kept unchanged to send back: the provider stores nothing, and only it can decrypt the item.
  void keep_reasoning(JsonMember item) {
    if (string_in(item["encrypted_content"]).empty() || reasoning_.size() > kStateBytesMax) return;
    reasoning_ += (reasoning_.empty() ? "" : ",") + object_in(item);
    answer().set_state(Json{"[" + reasoning_ + "]"});
  }
  void finish(JsonMember response) {
    const JsonMember usage = response["usage"];
    answer().set_usage(
        {.input_tokens = count_in(usage["input_tokens"]).value_or(0),
         .output_tokens = count_in(usage["output_tokens"]).value_or(0),
         .cached_tokens = count_in(usage["input_tokens_details"]["cached_tokens"]),
         .reasoning_tokens = count_in(usage["output_tokens_details"]["reasoning_tokens"])});
    const std::string_view why = string_in(response["incomplete_details"]["reason"]);
    answer().set_stop(why == "max_output_tokens" ? StopReason::max_tokens
                      : why == "content_filter"  ? StopReason::content_filter
                      : why.empty()              ? StopReason::end_turn
                                                 : StopReason::unknown);
    answer().complete();
  }

  std::optional<std::pair<std::uint64_t, std::uint64_t>> part_;
  std::string reasoning_;  // comma-separated items
};

class ResponsesWire final : public Wire {
 public:
  HttpRequest write(const Endpoint& endpoint, const ports::ModelRequest& request) const override {
    JsonText out;
    out.open('{').member("model", endpoint.model);
    if (!request.instructions.empty()) out.member("instructions", request.instructions);
    out.key("input").open('[');
    for (const ports::Message& message : request.messages) write_item(out, endpoint, message);
    out.close(']');
    if (!request.tools.empty()) {
      out.key("tools").open('[');
      for (const ports::OfferedTool& tool : request.tools)
        out.open('{')
            .member("type", "function")
            .member("name", tool.name)
            .member("description", tool.description)
            .key("parameters")
            .raw(tool.input_schema.text)
            .key("strict")
            .raw("false")
            .close('}');
      out.close(']');
    }
    if (endpoint.max_output_tokens)
      out.key("max_output_tokens").number(*endpoint.max_output_tokens);
    if (endpoint.reasons)
      out.key("reasoning")
          .raw(R"({"summary":"auto"})")
          .key("include")
          .raw(R"(["reasoning.encrypted_content"])");
    out.key("store").raw("false").key("stream").raw("true").close('}');
    HttpRequest http{endpoint.base_url + "/responses",
                     {"Content-Type: application/json", "Accept: text/event-stream"},
                     out.take(),
                     endpoint.timeouts};
    if (!endpoint.key.empty()) http.headers.push_back("Authorization: Bearer " + endpoint.key);
    return http;
  }
  std::unique_ptr<WireReader> read(Answer& answer, const Subject& subject) const override {
    return std::make_unique<ResponsesReader>(answer, subject);
  }
};

}  // namespace

const Wire& openai_responses_wire() {
  static const ResponsesWire wire;
  return wire;
}

}  // namespace agentrt::adapters
