#include "channels/agui/agui_input.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "base/digest.h"
#include "schema/json_loose.h"

namespace agentrt::channels {
namespace {

using schema::Json;

struct Input {
  std::string thread_id;
  std::string run_id;
  std::optional<std::vector<Json>> messages;
  std::optional<std::vector<Json>> tools;
  std::optional<std::vector<Json>> context;
  std::optional<Json> state;
  std::optional<std::vector<Json>> resume;
};
BOOST_DESCRIBE_STRUCT(Input, (), (thread_id, run_id, messages, tools, context, state, resume))

struct Message {
  std::string id;
  std::string role;
  std::optional<Json> content;
};
BOOST_DESCRIBE_STRUCT(Message, (), (id, role, content))

struct Source {
  std::string type;
  std::string value;
  std::optional<std::string> mime_type;
};
BOOST_DESCRIBE_STRUCT(Source, (), (type, value, mime_type))

struct Part {
  std::string type;
  std::optional<std::string> text;
  std::optional<Source> source;
};
BOOST_DESCRIBE_STRUCT(Part, (), (type, text, source))

struct Parts {
  std::vector<Json> parts;
};
BOOST_DESCRIBE_STRUCT(Parts, (), (parts))

struct Answer {
  std::string interrupt_id;
  std::string status;
  std::optional<Json> payload;
};
BOOST_DESCRIBE_STRUCT(Answer, (), (interrupt_id, status, payload))

struct Named {
  std::string name;
};
BOOST_DESCRIBE_STRUCT(Named, (), (name))

std::unexpected<Error> wrong(std::string_view member, std::string_view what) {
  return fail(Code::invalid_params, fmt::format("{}: {}", member, what));
}

template <class T>
bool read(const Json& json, T& out) {
  schema::Met met;
  return schema::read_loosely(json.text, out, met);
}

Result<AguiPart> read_part(const Json& json) {
  Part part;
  if (!read(json, part)) return wrong("messages.content", "expected objects");
  if (part.type == "text" && part.text) return AguiPart{*part.text, {}, {}};
  if (!part.source) return wrong("messages.content", "expected a text, or a source");
  if (part.source->type != "data")
    return wrong("messages.content", "only sources of type data are taken; URLs are not fetched");
  auto bytes = from_base64(part.source->value);
  if (!bytes) return wrong("messages.content.source.value", "expected base64");
  return AguiPart{
      {}, part.source->mime_type.value_or("application/octet-stream"), *std::move(bytes)};
}

Result<std::vector<AguiPart>> read_content(const Json& content) {
  const std::string_view text = content.text;
  if (text.starts_with('"'))
    return std::vector<AguiPart>{{schema::unescaped(text.substr(1, text.size() - 2)), {}, {}}};
  Parts parts;
  if (!schema::from_json(fmt::format(R"({{"parts":{}}})", content.text), parts,
                         schema::Unknown::ignore))
    return wrong("messages.content", "expected a string or a list");
  std::vector<AguiPart> out;
  for (const Json& part : parts.parts) {
    TRY_ASSIGN(AguiPart read, read_part(part));
    out.push_back(std::move(read));
  }
  return out;
}

Result<AguiMessage> read_message(const Json& json) {
  Message message;
  if (!read(json, message) || message.id.empty() || message.id.size() > kAguiIdBytesMax)
    return wrong("messages", "expected objects with an id");
  AguiMessage out{message.id, message.role, {}, {}};
  if (message.role != "user") return out;
  if (!message.content) return wrong("messages.content", "is missing");
  out.digest = hex(bytes_of(sha256(message.content->text)));
  TRY_ASSIGN(out.parts, read_content(*message.content));
  return out;
}

Result<AguiAnswer> read_answer(const Json& json) {
  Answer answer;
  if (!read(json, answer) || answer.interrupt_id.empty() ||
      (answer.status != "resolved" && answer.status != "cancelled"))
    return wrong("resume", "expected {interruptId, status: resolved or cancelled, payload}");
  return AguiAnswer{answer.interrupt_id, answer.status == "cancelled", std::move(answer.payload)};
}

bool is_empty(const Json& json) {
  return json.text == "null" || json.text == "{}" || json.text == "[]" || json.text == R"("")";
}

}  // namespace

Result<AguiInput> read_agui_input(const std::string& text) {
  TRY(schema::check_json(text));
  Input input;
  schema::Met met;
  if (!schema::read_loosely(text, input, met)) return wrong("body", "expected RunAgentInput");
  if (!met.misfits.empty()) return wrong(met.misfits.front().member, met.misfits.front().what);
  for (const auto& [name, id] :
       {std::pair{"threadId", &input.thread_id}, std::pair{"runId", &input.run_id}})
    if (id->empty() || id->size() > kAguiIdBytesMax)
      return wrong(name, fmt::format("expected 1 to {} bytes", kAguiIdBytesMax));
  AguiInput out;
  out.thread_id = input.thread_id;
  out.run_id = input.run_id;
  out.raw_messages = std::move(input.messages).value_or(std::vector<Json>{});
  if (out.raw_messages.size() > kAguiMessagesMax)
    return wrong("messages", fmt::format("expected at most {}", kAguiMessagesMax));
  for (const Json& message : out.raw_messages) {
    TRY_ASSIGN(AguiMessage read, read_message(message));
    out.messages.push_back(std::move(read));
  }
  for (const Json& tool : input.tools.value_or(std::vector<Json>{})) {
    Named named;
    if (read(tool, named) && out.tools.size() < 256) out.tools.push_back(named.name);
  }
  out.has_context = input.context && !input.context->empty();
  out.has_state = input.state && !is_empty(*input.state);
  if (!input.resume) return out;
  out.resume.emplace();
  for (const Json& answer : *input.resume) {
    TRY_ASSIGN(AguiAnswer read, read_answer(answer));
    out.resume->push_back(std::move(read));
  }
  return out;
}

}  // namespace agentrt::channels
