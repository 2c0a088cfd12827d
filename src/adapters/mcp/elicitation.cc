#include "adapters/mcp/elicitation.h"

#include <map>

#include <fmt/format.h>

#include "schema/codec.h"
#include "schema/json_loose.h"

namespace agentrt::adapters {
namespace {

using schema::Json;

struct Params {
  std::optional<std::string> mode;
  std::string message;
  std::optional<Json> requested_schema;
  std::optional<std::string> url;
};
BOOST_DESCRIBE_STRUCT(Params, (), (mode, message, requested_schema, url))

struct Form {
  std::map<std::string, Json> properties;
};
BOOST_DESCRIBE_STRUCT(Form, (), (properties))

struct Property {
  std::optional<Json> default_;
};
BOOST_DESCRIBE_STRUCT(Property, (), (default_))

struct Content {
  std::map<std::string, Json> content;
};
BOOST_DESCRIBE_STRUCT(Content, (), (content))

bool is_web_address(const std::string& url) {
  return (url.starts_with("https://") || url.starts_with("http://")) &&
         url.size() <= kMcpUrlBytesMax && url.find_first_of(" \t\r\n") == std::string::npos;
}

Content filled_in(const Json& form_schema, const std::optional<Json>& given) {
  Content out;
  schema::Met met;
  if (given && schema::check_json(given->text))
    (void)schema::read_loosely(fmt::format(R"({{"content":{}}})", given->text), out, met);
  Form form;
  (void)schema::read_loosely(form_schema.text, form, met);
  for (const auto& [name, json] : form.properties) {
    Property property;
    (void)schema::read_loosely(json.text, property, met);
    if (property.default_) out.content.try_emplace(name, *property.default_);
  }
  return out;
}

}  // namespace

Result<ports::ToolQuestion> read_question(const Json& params) {
  Params read;
  schema::Met met;
  if (!schema::read_loosely(params.text, read, met) || read.message.empty())
    return fail(Code::invalid_params, "message is missing");
  if (params.text.size() > kMcpQuestionBytesMax)
    return fail(Code::invalid_params,
                fmt::format("message is longer than {} bytes", kMcpQuestionBytesMax));
  ports::ToolQuestion question;
  question.prompt = std::move(read.message);
  const std::string mode = read.mode.value_or("form");
  if (mode == "url") {
    if (!read.url || !is_web_address(*read.url))
      return fail(Code::invalid_params, "url must be an http or https URL");
    question.url = std::move(read.url);
    return question;
  }
  if (mode != "form") return fail(Code::invalid_params, "mode must be form or url");
  Form form;
  if (!read.requested_schema || !schema::read_loosely(read.requested_schema->text, form, met))
    return fail(Code::invalid_params, "requestedSchema must be a schema of type object");
  question.schema = *std::move(read.requested_schema);
  return question;
}

std::string question_result(const McpQuestion& question, ports::QuestionAnswer answer,
                            const std::optional<Json>& content) {
  if (answer != ports::QuestionAnswer::accept || !question.schema)
    return fmt::format(R"({{"action":"{}"}})", schema::name_of(answer));
  const Content whole = filled_in(*question.schema, content);
  return fmt::format(R"({{"action":"accept","content":{}}})", schema::to_json(whole.content));
}

}  // namespace agentrt::adapters
