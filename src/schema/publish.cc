#include "schema/publish.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "schema/catalogue.h"
#include "schema/commands.h"
#include "schema/facts.h"
#include "schema/json_schema.h"
#include "schema/publish_parts.h"
#include "schema/publish_text.h"
#include "schema/snapshots.h"

namespace agentrt::schema {
namespace {

constexpr std::string_view kDialect = "https://json-schema.org/draft/2020-12/schema";

// The start of a document: dialect, id, title and description.
std::string opening(std::string_view file, std::string_view title, std::string_view about) {
  return fmt::format(R"({{"$schema":"{}","$id":"{}","title":"{}","description":"{}",)", kDialect,
                     file, title, about);
}

constexpr std::string_view kHome = "#/$defs/";

std::string page_schema(const std::string& session) {
  return fmt::format(R"({{"type":"object","properties":{{"data":{{"type":"array","items":{}}},)"
                     R"("nextCursor":{{"type":"string"}}}},"required":["data"]}})",
                     session);
}

// nextCursor is the sequence to pass as `after`, absent once the page reaches asOfSequence.
std::string event_page_schema(std::string_view event_ref) {
  return fmt::format(R"({{"type":"object","properties":{{"data":{{"type":"array","items":)"
                     R"({{"$ref":"{}"}}}},"nextCursor":{{"type":"string"}},"generation":)"
                     R"({{"type":"string"}},"asOfSequence":{{"type":"integer","minimum":0}}}},)"
                     R"("required":["data","generation","asOfSequence"]}})",
                     event_ref);
}

// SessionSnapshot holds its turns as JSON text from the index; this inserts their schema.
std::string with_typed_history(std::string snapshot, SchemaWriter& writer) {
  static constexpr std::string_view kUntyped = R"("history":{"type":"array","items":true})";
  const std::size_t at = snapshot.find(kUntyped);
  check(at != std::string::npos, "a session snapshot has a history");
  const std::string typed = writer.of<std::vector<TurnSnapshot>>(Unknown::ignore);
  return snapshot.replace(at, kUntyped.size(), R"("history":)" + typed);
}

std::string session_snapshot_schema(SchemaWriter& writer) {
  return with_typed_history(writer.of<SessionSnapshot>(Unknown::ignore), writer);
}

// The members that all thirteen models have.
std::string model_schema() {
  return R"({"type":"object","required":["generation","asOfSequence"],)"
         R"("properties":{"generation":{"type":"string"},"asOfSequence":{"type":"integer"}}})";
}

template <class C>
std::string reply_schema(SchemaWriter& writer, std::string_view event_ref) {
  if constexpr (std::is_same_v<C, ListEvents>)
    return event_page_schema(event_ref);
  else if constexpr (std::is_same_v<C, ListSessions>)
    return page_schema(writer.of<SessionSummary>(Unknown::ignore));
  else if constexpr (std::is_same_v<C, ListActions>)
    return page_schema(writer.of<ActionSnapshot>(Unknown::ignore));
  else if constexpr (std::is_same_v<C, ListChannels>)
    return page_schema(writer.of<ChannelSnapshot>(Unknown::ignore));
  else if constexpr (std::is_same_v<C, GetTask>)
    return writer.of<TaskSnapshot>(Unknown::ignore);
  else if constexpr (std::is_same_v<C, ListTasks>)
    return page_schema(writer.of<TaskSnapshot>(Unknown::ignore));
  else if constexpr (std::is_same_v<C, ListSubagents>)
    return page_schema(writer.of<SubagentSnapshot>(Unknown::ignore));
  else if constexpr (std::is_same_v<C, GetSession>)
    return session_snapshot_schema(writer);
  else if constexpr (std::is_same_v<C, GetReadModel>)
    return model_schema();
  else
    return writer.of<typename C::Reply>(Unknown::ignore);
}

}  // namespace

std::vector<CommandSchemas> command_schemas(SchemaWriter& writer, std::string_view event_ref) {
  std::vector<CommandSchemas> out;
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, CommandTypes>>(
      [&]<class C>(boost::mp11::mp_identity<C>) {
        out.push_back(
            {C::kTraits, writer.of<C>(Unknown::refuse), reply_schema<C>(writer, event_ref)});
      });
  return out;
}

std::string definition_members(const SchemaWriter& writer) {
  SchemaWriter turns = writer;
  std::string out;
  for (const auto& [name, schema] : writer.definitions())
    out += fmt::format(R"(,"{}":{})", name,
                       name == "SessionSnapshot" ? with_typed_history(schema, turns) : schema);
  return out;
}

std::string envelope_schema_members() {
  std::string ids;
  boost::mp11::mp_for_each<codec::Members<Ids>>([&](auto d) {
    ids += ',';
    ids += codec::kWireKey<decltype(d)>.view();
    ids += R"({"type":"string","minLength":1})";
  });
  return R"("type":"object","required":["type","eventId","schemaVersion","timestamp","sequence",)"
         R"("runtimeId","sessionId","payload"],"properties":{"type":{"type":"string",)"
         R"("minLength":1},"eventId":{"type":"string","minLength":1},"schemaVersion":)"
         R"({"type":"string"},"timestamp":{"type":"string","format":"date-time"},"sequence":)"
         R"({"type":"integer","minimum":1},"runtimeId":{"type":"string","minLength":1},)"
         R"("sessionId":{"type":"string","minLength":1})" +
         ids + R"(,"payload":{"type":"object"}})";
}

std::string error_schema() {
  std::vector<std::string_view> codes;
  std::string statuses_by_code;
  for (int i = 0; i <= static_cast<int>(Code::storage_full); ++i) {
    const Code code = static_cast<Code>(i);
    codes.push_back(code_name(code));
    if (i > 0) statuses_by_code += ',';
    statuses_by_code += fmt::format(R"("{}":{})", code_name(code), http_status(code));
  }
  return fmt::format(R"({{"type":"object","required":["error"],"properties":{{"error":)"
                     R"({{"type":"object","required":["code","message"],"properties":{{"code":)"
                     R"({{"type":"string","enum":[{}]}},"message":{{"type":"string"}},)"
                     R"("details":{{"type":"object"}}}}}}}},"x-httpStatus":{{{}}}}})",
                     quoted(codes), statuses_by_code);
}

std::string published_events() {
  std::string out =
      opening("events.schema.json", "agentrt events",
              "One event of a session's stream. Readers keep and ignore types and members that "
              "they do not know.");
  out += envelope_schema_members() + R"(,"allOf":[)";
  SchemaWriter writer{std::string(kHome)};
  std::string payloads;
  using Known = boost::mp11::mp_pop_front<PayloadTypes>;  // without UnknownPayload
  boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, Known>>(
      [&]<class P>(boost::mp11::mp_identity<P>) {
        const EventType* entry = find_event_type(P::kType);
        check(entry != nullptr, "every fact type of this build is in the catalogue");
        const std::string_view comma = payloads.empty() ? "" : ",";
        out += fmt::format(R"({2}{{"if":{{"properties":{{"type":{{"const":"{0}"}}}}}},"then":)"
                           R"({{"required":[{1}],"properties":{{"payload":)"
                           R"({{"$ref":"#/$defs/{0}"}}}}}}}})",
                           P::kType, quoted(entry->ids), comma);
        payloads += fmt::format(R"({}"{}":{})", comma, P::kType, writer.of<P>(Unknown::ignore));
      });
  out += R"(],"$defs":{)" + payloads + definition_members(writer) + "}}";
  return pretty(out);
}

std::string published_commands() {
  std::string out = opening("commands.schema.json", "agentrt commands",
                            "One call as POST /v1/rpc takes it. POST /v1/commands/{command} takes "
                            "the params alone.");
  std::vector<std::string_view> names;
  std::string branches;
  std::string index;
  std::string definitions;
  SchemaWriter writer{std::string(kHome)};
  for (const auto& [traits, params, reply] : command_schemas(writer, "events.schema.json")) {
    const std::string_view comma = names.empty() ? "" : ",";
    names.push_back(traits.name);
    branches += fmt::format(R"({1}{{"if":{{"properties":{{"method":{{"const":"{0}"}}}}}},"then":)"
                            R"({{"properties":{{"params":{{"$ref":"#/$defs/{0}.params"}}}}}}}})",
                            traits.name, comma);
    index += fmt::format(R"({3}"{0}":{{"scope":"{1}","mutates":{2},"params":)"
                         R"("#/$defs/{0}.params","reply":"#/$defs/{0}.reply"}})",
                         traits.name, name_of(traits.scope),
                         traits.effect == CommandEffect::mutates, comma);
    definitions += fmt::format(R"("{0}.params":{1},"{0}.reply":{2},)", traits.name, params, reply);
  }
  out += fmt::format(R"("type":"object","required":["jsonrpc","method"],"properties":)"
                     R"({{"jsonrpc":{{"const":"2.0"}},"id":{{"type":["string","number","null"]}},)"
                     R"("method":{{"type":"string","enum":[{}]}},"params":{{"type":"object"}}}},)"
                     R"("allOf":[{}],"x-commands":{{{}}},"$defs":{{{}"error":{}{}}}}})",
                     quoted(names), branches, index, definitions, error_schema(),
                     definition_members(writer));
  return pretty(out);
}

std::string published_snapshots() {
  SchemaWriter writer{std::string(kHome)};
  const std::string session = session_snapshot_schema(writer);
  const std::string thread = writer.of<ThreadRead>(Unknown::ignore);
  const std::string summary = writer.of<SessionSummary>(Unknown::ignore);
  return pretty(
      fmt::format(R"({}"anyOf":[{{"$ref":"#/$defs/SessionSnapshot"}},)"
                  R"({{"$ref":"#/$defs/ThreadRead"}},{{"$ref":"#/$defs/SessionSummary"}}],)"
                  R"("$defs":{{"SessionSnapshot":{},"ThreadRead":{},)"
                  R"("SessionSummary":{}{}}}}})",
                  opening("snapshots.schema.json", "agentrt read models",
                          "What get_session and get_thread_read answer with, and one "
                          "row of list_sessions."),
                  session, thread, summary, definition_members(writer)));
}

std::span<const PublishedDocument> published_documents() {
  static constexpr std::array<PublishedDocument, 4> kDocuments{{
      {"events", "events.schema.json", &published_events},
      {"commands", "commands.schema.json", &published_commands},
      {"snapshots", "snapshots.schema.json", &published_snapshots},
      {"openapi", "openapi.json", &published_openapi},
  }};
  return kDocuments;
}

std::string missing_vocabulary() {
  std::string events;
  std::size_t missing_events = 0;
  for (const EventType& entry : event_types()) {
    if (std::ranges::find(known_types(), entry.type) != known_types().end()) continue;
    ++missing_events;
    events += fmt::format("event {}\n", entry.type);
  }
  std::string commands;
  std::size_t missing_commands = 0;
  for (const CatalogueCommand& entry : catalogue_commands()) {
    if (find_command(entry.name)) continue;
    ++missing_commands;
    commands += fmt::format("command {}\n", entry.name);
  }
  return fmt::format(
             "# {} of {} event types and {} of {} commands of the standard are not here yet.\n",
             missing_events, event_types().size(), missing_commands, catalogue_commands().size()) +
         events + commands;
}

}  // namespace agentrt::schema
