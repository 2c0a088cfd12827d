#include <array>

#include <fmt/format.h>

#include "schema/publish.h"
#include "schema/publish_parts.h"
#include "schema/publish_text.h"

namespace agentrt::schema {
namespace {

constexpr std::string_view kEventRef = "#/components/schemas/event";

struct Parameter {
  std::string_view name;
  std::string_view place;  // path, query, header
  std::string_view schema;
  std::string_view about;
};

constexpr std::array kParameters{
    Parameter{"id", "path", R"({"type":"string"})", "The id of the session, token, login or turn."},
    Parameter{"threadId", "path", R"({"type":"string"})", "The id of a thread of that session."},
    Parameter{"name", "path", R"({"type":"string"})", "The file name of the document or asset."},
    Parameter{"ref", "path", R"({"type":"string"})", "The ref of an output."},
    Parameter{"sessionId", "query", R"({"type":"string"})",
              "The session that the output belongs to; required."},
    Parameter{"mediaType", "query", R"({"type":"string"})",
              "What the bytes are; without it the Content-Type of the request."},
    Parameter{"Range", "header", R"({"type":"string"})",
              "One range of bytes; answered with 206, or 416 where there are no such bytes."},
    Parameter{"limit", "query", R"({"type":"integer","minimum":1})",
              "The size of a page; more than 1000 counts as 1000."},
    Parameter{"cursor", "query", R"({"type":"string"})",
              "Where to go on: the nextCursor or historyCursor of an earlier reply."},
    Parameter{"threadsCursor", "query", R"({"type":"string"})",
              "The next page of threads: the threadsCursor of an earlier reply."},
    Parameter{"includeSystem", "query", R"({"type":"boolean"})", "Also list sess_runtime."},
    Parameter{"order", "query", R"({"type":"string","enum":["created","updated"]})",
              "Newest first by creation, the default, or by the last change of the summary."},
    Parameter{"status", "query", R"({"type":"string"})",
              "Only sessions with one of these statuses, joined by commas."},
    Parameter{"text", "query", R"({"type":"string"})",
              "Only sessions whose id, title, folder or preview contains it; at most 256 bytes."},
    Parameter{"atSequence", "query", R"({"type":"integer","minimum":1})",
              "The reply as it was when this fact was the last one."},
    Parameter{"after", "query", R"({"type":"integer","minimum":0})",
              "Only events with a greater sequence."},
    Parameter{"generation", "query", R"({"type":"string"})",
              "The store's generation that the sequence belongs to; another one is gone."},
    Parameter{"types", "query", R"({"type":"string"})",
              "Only events of these types: exact names, joined by commas, at most 64."},
    Parameter{"cwd", "query", R"({"type":"string"})",
              "A folder whose configuration files count too."},
    Parameter{"check", "query", R"({"type":"boolean"})", "Connect to each server."},
    Parameter{"server", "query", R"({"type":"string"})", "Only this one: its name or URL."},
    Parameter{"channelId", "query", R"({"type":"string"})",
              "Of a stream: the connected channel that it belongs to."},
    Parameter{"Last-Event-ID", "header", R"({"type":"string"})",
              "Of a stream: the last id seen. Beats after and cursor."},
};

constexpr std::string_view kOpen = "";    // no token is needed
constexpr std::string_view kAny = "any";  // any token; its scopes are checked per call

struct Route {
  std::string_view path;
  std::string_view method;
  std::string_view operation;
  std::string_view summary;
  std::string_view scope;       // the required scope; kAny or kOpen
  std::string_view parameters;  // names from kParameters, joined by spaces
  std::string_view body;        // a schema, or empty
  std::string_view reply;       // a schema
  std::string_view media = "application/json";
  bool body_required = true;
};

constexpr std::string_view kText = R"({"type":"string"})";
constexpr std::string_view kBytes = R"({"type":"string","format":"binary"})";
constexpr std::string_view kDocument = R"({"type":"object"})";
constexpr std::string_view kMcpLogin =
    R"({"type":"object","required":["status","server","url"],"properties":{"status":)"
    R"({"enum":["waiting","not_needed","logged_in"]},"loginId":{"type":"string"},"server":)"
    R"({"type":"string"},"url":{"type":"string"},"issuer":{"type":"string"},)"
    R"("authorizationUrl":{"type":"string"},"redirectUri":{"type":"string"},"scopes":)"
    R"({"type":"array","items":{"type":"string"}},"expiresAt":{"type":"string",)"
    R"("format":"date-time"},"tools":{"type":"integer"},"renewable":{"type":"boolean"},)"
    R"("reason":{"type":"string"},"remedy":{"type":"string"}}})";
constexpr std::string_view kUpgrade = "";  // the connection leaves HTTP: status 101
constexpr std::string_view kHealth =
    R"({"type":"object","required":["status"],"properties":{"status":{"type":"string"}}})";

constexpr std::array kRoutes{
    Route{"/v1/rpc", "post", "rpc", "JSON-RPC 2.0: one call, or a batch of at most 100.", kAny, "",
          R"({"oneOf":[{"$ref":"#/components/schemas/rpc.request"},{"type":"array","minItems":1,)"
          R"("maxItems":100,"items":{"$ref":"#/components/schemas/rpc.request"}}]})",
          R"({"oneOf":[{"$ref":"#/components/schemas/rpc.response"},{"type":"array",)"
          R"("items":{"$ref":"#/components/schemas/rpc.response"}}]})"},
    Route{"/v1/sessions", "get", "sessions", "The sessions, newest first.", "read",
          "limit cursor includeSystem order status text", "",
          R"({"$ref":"#/components/schemas/list_sessions.reply"})"},
    Route{"/v1/sessions/{id}", "get", "session", "One session with a window of its turns.", "read",
          "id limit cursor threadId threadsCursor atSequence", "",
          R"({"$ref":"#/components/schemas/get_session.reply"})"},
    Route{"/v1/sessions/{id}/threads/{threadId}", "get", "thread", "One thread as it stands.",
          "read", "id threadId atSequence", "",
          R"({"$ref":"#/components/schemas/get_thread_read.reply"})"},
    Route{"/v1/sessions/{id}/models/{name}", "get", "read_model", "One read model of a session.",
          "read", "id name threadId atSequence", "",
          R"({"$ref":"#/components/schemas/get_read_model.reply"})"},
    Route{"/v1/sessions/{id}/events", "get", "session_events",
          "A page of a session's events, or with Accept: text/event-stream the live stream.",
          "read", "id after limit types generation channelId Last-Event-ID", "",
          R"({"$ref":"#/components/schemas/event.page"})"},
    Route{"/v1/events", "get", "events", "The same over all sessions, in commit order.", "read",
          "cursor limit types Last-Event-ID", "", R"({"$ref":"#/components/schemas/event.page"})"},
    Route{"/v1/ws", "get", "websocket",
          "A WebSocket that carries JSON-RPC in both directions: every command, subscribe, "
          "unsubscribe, and events as notifications.",
          kAny, "", "", kUpgrade},
    Route{"/v1/outputs", "post", "upload_output",
          "Stores the body, bytes of any kind, as an output of a session.", "submit",
          "sessionId mediaType", kBytes, R"({"$ref":"#/components/schemas/upload_output.reply"})"},
    Route{"/v1/outputs/{ref}", "get", "output", "The bytes behind a ref.", "read", "ref Range", "",
          kBytes, "application/octet-stream"},
    Route{"/v1/tokens", "post", "create_token", "A new token; its text is returned only here.",
          "admin", "", R"({"$ref":"#/components/schemas/token.params"})",
          R"({"$ref":"#/components/schemas/token.created"})"},
    Route{"/v1/tokens", "get", "tokens", "The tokens, without their texts.", "admin", "", "",
          R"({"type":"object","properties":{"data":{"type":"array",)"
          R"("items":{"$ref":"#/components/schemas/token"}}},"required":["data"]})"},
    Route{"/v1/tokens/{id}", "delete", "revoke_token",
          "Revokes a token and closes the streams it opened.", "admin", "id", "",
          R"({"$ref":"#/components/schemas/token"})"},
    Route{"/v1/login-codes", "post", "create_login_code",
          "A code that works once, within 60 seconds, to sign in to the page.", kAny, "",
          R"({"type":"object","properties":{"scopes":{"type":"array","minItems":1,"items":)"
          R"({"enum":["read","submit","approve"]}}},"additionalProperties":false})",
          R"({"type":"object","required":["code","scopes","expiresAt"],"properties":{"code":)"
          R"({"type":"string"},"scopes":{"type":"array","items":{"type":"string"}},)"
          R"("expiresAt":{"type":"string","format":"date-time"}}})"},
    Route{"/v1/login", "post", "login", "Trades a login code for a token of 12 hours.", kOpen, "",
          R"({"type":"object","required":["code"],"properties":{"code":{"type":"string"}},)"
          R"("additionalProperties":false})",
          R"({"$ref":"#/components/schemas/token.created"})"},
    Route{"/v1/token", "get", "own_token", "The caller's own token, without its text.", kAny, "",
          "", R"({"$ref":"#/components/schemas/token"})"},
    Route{"/v1/token", "delete", "sign_out", "Revokes the caller's own token.", kAny, "", "",
          R"({"$ref":"#/components/schemas/token"})"},
    Route{"/v1/mcp/servers", "get", "mcp_servers",
          "The configured MCP servers with their state and login.", "read", "cwd check server", "",
          R"({"type":"object","required":["data"],"properties":{"data":{"type":"array","items":)"
          R"({"type":"object","required":["name","transport","state"],"properties":{"name":)"
          R"({"type":"string"},"transport":{"enum":["stdio","http","sse"]},"url":)"
          R"({"type":"string"},"state":{"enum":["ready","needs_login","unavailable",)"
          R"("untrusted","disabled"]},"tools":{"type":"integer"},"login":{"type":"object"},)"
          R"("reason":{"type":"string"},"remedy":{"type":"string"},"redirectPort":)"
          R"({"type":"integer"}}}}}})"},
    Route{"/v1/mcp/logins", "post", "mcp_login",
          "Begins a login to an MCP server; a person opens the authorizationUrl of the reply.",
          "admin", "",
          R"({"type":"object","required":["server","redirectUri"],"properties":{"server":)"
          R"({"type":"string"},"cwd":{"type":"string"},"redirectUri":{"type":"string"},)"
          R"("scopes":{"type":"array","items":{"type":"string"}}},"additionalProperties":false})",
          kMcpLogin},
    Route{"/v1/mcp/logins", "delete", "mcp_logout", "Ends the login to an MCP server.", "admin",
          "server cwd", "",
          R"({"type":"object","required":["server","wasLoggedIn","revocation"],"properties":)"
          R"({"server":{"type":"string"},"wasLoggedIn":{"type":"boolean"},"revocation":)"
          R"({"enum":["confirmed","not_offered","unconfirmed"]},"reason":{"type":"string"}}})"},
    Route{"/v1/mcp/logins/{id}", "post", "mcp_login_callback",
          "Finishes a login with the address that the browser was sent to.", "admin", "id",
          R"({"type":"object","required":["callbackUrl"],"properties":{"callbackUrl":)"
          R"({"type":"string"}},"additionalProperties":false})",
          kMcpLogin},
    Route{"/mcp", "post", "mcp", "One message to the MCP server of the runtime.", kAny, "",
          kDocument, kDocument},
    Route{"/mcp", "get", "mcp_stream", "Not offered: messages are sent within calls.", kAny, "", "",
          kDocument},
    Route{"/mcp", "delete", "mcp_end", "Ends a session of the MCP server.", kAny, "", "",
          kDocument},
    Route{"/agui", "post", "agui", "One AG-UI run; the reply is a stream of events.", "submit", "",
          kDocument, kText, "text/event-stream"},
    Route{"/", "get", "page", "The inspector page; it contains no data.", kOpen, "", "", kText,
          "text/html"},
    Route{"/assets/{name}", "get", "asset", "A file of the page.", kOpen, "name", "", kText,
          "text/javascript"},
    Route{"/v1/turns/{id}/environment", "post", "turn_environment",
          "The environment of the client for its turn; served on the Unix socket only.", "submit",
          "id",
          R"({"type":"object","properties":{"variables":{"type":"array"},)"
          R"("settings":{"type":"array"},"credentials":{"type":"array"},)"
          R"("config":{"type":"string"},"workspace":{"type":"string"}},)"
          R"("required":["variables","settings","credentials"]})",
          kDocument},
    Route{
        "/v1/sessions/{id}/mcp-servers", "post", "lend_mcp_servers",
        "The MCP servers that an editor brings along for a session, kept in memory; served on the "
        "Unix socket only.",
        "admin", "id", R"({"type":"array","items":{"type":"object"}})", kDocument},
    Route{"/v1/environments", "get", "environments",
          "What the owner holds in memory for its successor; served on the Unix socket only.",
          "admin", "", "", kDocument},
    Route{"/v1/owner/leave", "post", "leave",
          "Ends a background owner of the data folder; served on the Unix socket only.", "admin",
          "", R"({"type":"object","properties":{"when":{"enum":["now","idle"],"default":"now"}}})",
          R"({"type":"object","properties":{"leaves":{"type":"boolean"}},"required":["leaves"]})",
          "application/json", false},
    Route{"/healthz", "get", "healthz", "Whether the process lives.", kOpen, "", "", kHealth},
    Route{"/readyz", "get", "readyz", "Whether it takes commands.", kOpen, "", "", kHealth},
    Route{"/metrics", "get", "metrics", "Counters for Prometheus.", "read", "", "", kText,
          "text/plain"},
    Route{"/openapi.json", "get", "openapi", "This document.", "read", "", "", kDocument},
    Route{"/schemas/{name}", "get", "schema", "One of the published JSON Schemas.", "read", "name",
          "", kDocument},
};

std::string parameter_refs(std::string_view names) {
  std::string out;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    if (!out.empty()) out += ',';
    out += fmt::format(R"({{"$ref":"#/components/parameters/{}"}})", names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return out;
}

std::string request_body(const Route& route) {
  return fmt::format(R"("requestBody":{{"required":{},"content":{{"{}":)"
                     R"({{"schema":{}}}}}}},)",
                     route.body_required,
                     route.body == kBytes ? "application/octet-stream" : "application/json",
                     route.body);
}

std::string operation(const Route& route) {
  std::string out = fmt::format(R"("{}":{{"operationId":"{}","summary":"{}",)", route.method,
                                route.operation, route.summary);
  if (route.scope == kOpen) out += R"("security":[],)";
  if (route.scope != kOpen && route.scope != kAny)
    out += fmt::format(R"("security":[{{"bearer":["{}"]}}],)", route.scope);
  if (!route.parameters.empty())
    out += fmt::format(R"("parameters":[{}],)", parameter_refs(route.parameters));
  if (!route.body.empty()) out += request_body(route);
  if (route.reply == kUpgrade)
    return out + R"("responses":{"101":{"description":"Switching Protocols"},)"
                 R"("default":{"$ref":"#/components/responses/error"}}})";
  std::string content = fmt::format(R"("{}":{{"schema":{}}})", route.media, route.reply);
  if (route.parameters.contains("Last-Event-ID"))
    content += R"(,"text/event-stream":{"schema":{"type":"string"}})";
  out += fmt::format(R"("responses":{{"200":{{"description":"done","content":{{{}}}}},)"
                     R"("default":{{"$ref":"#/components/responses/error"}}}}}})",
                     content);
  return out;
}

std::string paths(const std::vector<CommandSchemas>& commands) {
  std::string out;
  for (const auto& command : commands) {
    const std::string_view name = command.traits.name;
    if (!out.empty()) out += ',';
    const std::string body = fmt::format(R"({{"$ref":"#/components/schemas/{}.params"}})", name);
    const std::string reply = fmt::format(R"({{"$ref":"#/components/schemas/{}.reply"}})", name);
    const std::string_view summary = command.traits.effect == CommandEffect::mutates
                                         ? "Done and stored when answered."
                                         : "Reads; writes nothing.";
    const Route route{"", "post", name, summary, name_of(command.traits.scope), "", body, reply};
    out += fmt::format(R"("/v1/commands/{}":{{{}}})", name, operation(route));
  }
  std::string_view open;  // the path whose methods are being written
  for (const Route& route : kRoutes) {
    if (route.path == open) {
      out.pop_back();
      out += ',' + operation(route) + '}';
    } else {
      out += fmt::format(R"(,"{}":{{{}}})", route.path, operation(route));
    }
    open = route.path;
  }
  return out;
}

std::string parameters() {
  std::string out;
  for (const Parameter& parameter : kParameters) {
    if (!out.empty()) out += ',';
    out += fmt::format(R"("{0}":{{"name":"{0}","in":"{1}",{2}"schema":{3},"description":"{4}"}})",
                       parameter.name, parameter.place,
                       parameter.place == "path" ? R"("required":true,)" : "", parameter.schema,
                       parameter.about);
  }
  return out;
}

constexpr std::string_view kTokenMembers =
    R"("tokenId":{"type":"string"},"scopes":{"type":"array","items":{"type":"string","enum":)"
    R"(["read","submit","approve","admin"]}},"sessionId":{"type":"string"},)"
    R"("cwd":{"type":"string"},"name":{"type":"string"},)"
    R"("createdAt":{"type":"string","format":"date-time"},)"
    R"("expiresAt":{"type":"string","format":"date-time"},)"
    R"("revokedAt":{"type":"string","format":"date-time"})";

std::string schemas(const std::vector<CommandSchemas>& commands) {
  std::string out =
      fmt::format(R"("event":{{{}}},"error":{})", envelope_schema_members(), error_schema());
  out += fmt::format(R"(,"event.page":{{"type":"object","required":["data","cursor",)"
                     R"("generation"],"properties":{{"data":{{"type":"array","items":)"
                     R"({{"$ref":"{}"}}}},"nextCursor":{{"type":"string"}},"cursor":)"
                     R"({{"type":"string"}},"generation":{{"type":"string"}}}}}})",
                     kEventRef);
  for (const auto& [traits, params, reply] : commands)
    out += fmt::format(R"(,"{0}.params":{1},"{0}.reply":{2})", traits.name, params, reply);
  out += R"(,"upload_output.reply":{"type":"object","required":["sessionId","outputRef","size",)"
         R"("digest","mediaType","sequence"],"properties":{"sessionId":{"type":"string"},)"
         R"("outputRef":{"type":"string"},"size":{"type":"integer"},"digest":{"type":"string"},)"
         R"("mediaType":{"type":"string"},"sequence":{"type":"integer"}}})";
  out += R"(,"rpc.request":{"type":"object","required":["jsonrpc","method"],"properties":)"
         R"({"jsonrpc":{"const":"2.0"},"id":{"type":["string","number","null"]},)"
         R"("method":{"type":"string"},"params":{"type":"object"}}})"
         R"(,"rpc.response":{"type":"object","required":["jsonrpc","id"],"properties":)"
         R"({"jsonrpc":{"const":"2.0"},"id":{"type":["string","number","null"]},)"
         R"("result":{"type":"object"},"error":{"type":"object","required":["code","message"],)"
         R"("properties":{"code":{"type":"integer"},"message":{"type":"string"},)"
         R"("data":{"type":"object"}}}}})";
  out += R"(,"token.params":{"type":"object","required":["scopes"],"properties":{"scopes":)"
         R"({"type":"array","minItems":1,"items":{"type":"string","enum":)"
         R"(["read","submit","approve","admin"]}},"sessionId":{"type":"string"},)"
         R"("cwd":{"type":"string"},"name":{"type":"string"},"expiresAt":{"type":"string",)"
         R"("format":"date-time"}},"additionalProperties":false})";
  out += fmt::format(R"(,"token":{{"type":"object","required":["tokenId","scopes"],"properties":)"
                     R"({{{0}}}}},"token.created":{{"type":"object","required":["tokenId",)"
                     R"("token","scopes"],"properties":{{{0},"token":{{"type":"string"}}}}}})",
                     kTokenMembers);
  return out;
}

}  // namespace

std::string published_openapi() {
  SchemaWriter writer{"#/components/schemas/"};
  const auto commands = command_schemas(writer, kEventRef);
  return pretty(fmt::format(
      R"({{"openapi":"3.1.0","info":{{"title":"agentrt","version":"1","description":)"
      R"("Commands in, facts out. Every failure is the error object with one of its codes.",)"
      R"("license":{{"name":"Apache-2.0","identifier":"Apache-2.0"}}}},)"
      R"("servers":[{{"url":"http://127.0.0.1:7717"}}],"security":[{{"bearer":[]}}],)"
      R"("paths":{{{}}},"components":{{"securitySchemes":{{"bearer":{{"type":"http",)"
      R"("scheme":"bearer","description":"The text in DATA/token, or one made by POST )"
      R"(/v1/tokens."}}}},"parameters":{{{}}},"responses":{{"error":{{"description":)"
      R"("refused or failed","content":{{"application/json":{{"schema":)"
      R"({{"$ref":"#/components/schemas/error"}}}}}}}}}},"schemas":{{{}}}}}}})",
      paths(commands), parameters(), schemas(commands) + definition_members(writer)));
}

}  // namespace agentrt::schema
