// The MCP server over Streamable HTTP: POST, GET and DELETE /mcp.
#include <charconv>

#include <fmt/format.h>

#include "channels/handlers/handlers.h"
#include "channels/handlers/rpc.h"
#include "channels/mcp/mcp_reply.h"
#include "channels/mcp/mcp_run.h"
#include "channels/mcp/mcp_words.h"
#include "channels/request_checks.h"
#include "schema/json_loose.h"
#include "schema/json_member.h"

namespace agentrt::channels {
namespace {

using schema::Json;

struct Incoming {
  std::optional<Json> jsonrpc;
  std::optional<Json> id;
  std::optional<std::string> method;
  std::optional<Json> params;
  std::optional<Json> result;
  std::optional<Json> error;
};
BOOST_DESCRIBE_STRUCT(Incoming, (), (jsonrpc, id, method, params, result, error))

struct ClientCapabilities {
  std::optional<Json> elicitation;
};
BOOST_DESCRIBE_STRUCT(ClientCapabilities, (), (elicitation))

struct InitializeParams {
  std::string protocol_version;
  std::optional<ClientCapabilities> capabilities;
};
BOOST_DESCRIBE_STRUCT(InitializeParams, (), (protocol_version, capabilities))

struct ElicitationModes {
  std::optional<Json> form;
  std::optional<Json> url;
};
BOOST_DESCRIBE_STRUCT(ElicitationModes, (), (form, url))

struct CallMeta {
  std::optional<Json> progress_token;
};
BOOST_DESCRIBE_STRUCT(CallMeta, (), (progress_token))

struct CallParams {
  std::string name;
  std::optional<Json> arguments;
};
BOOST_DESCRIBE_STRUCT(CallParams, (), (name, arguments))

struct CancelParams {
  std::optional<Json> request_id;
};
BOOST_DESCRIBE_STRUCT(CancelParams, (), (request_id))

struct SessionPage {
  std::vector<Json> sessions;
  std::optional<std::string> next_cursor;
};
BOOST_DESCRIBE_STRUCT(SessionPage, (), (sessions, next_cursor))

template <class T>
bool read(const std::optional<Json>& json, T& out) {
  schema::Met met;
  return json && schema::read_loosely(json->text, out, met);
}

std::optional<Json> progress_token_in(const std::optional<Json>& params) {
  CallMeta meta;
  const auto inner = params ? schema::member_of(params->text, "_meta") : std::nullopt;
  if (!inner || !read(inner, meta)) return std::nullopt;
  return meta.progress_token;
}

void answer_json(Exchange& exchange, std::string body, int status = 200) {
  Response response;
  response.status = status;
  response.body = std::move(body);
  exchange.respond(std::move(response));
}

void accept(Exchange& exchange) {
  Response response;
  response.status = 202;
  exchange.respond(std::move(response));
}

// Whether the client shows forms. Without a mode, `elicitation` means forms (2025-06-18).
bool takes_forms(const InitializeParams& params) {
  if (!params.capabilities || !params.capabilities->elicitation) return false;
  ElicitationModes modes;
  (void)read(params.capabilities->elicitation, modes);
  return modes.form || !modes.url;
}

void initialize(Services& services, const ExchangePtr& exchange, const std::string& id,
                const std::optional<Json>& given) {
  InitializeParams params;
  if (!read(given, params) || params.protocol_version.empty())
    return answer_json(
        *exchange, mcp_error(id, kRpcInvalidParams, "protocolVersion: expected a version of MCP"));
  const auto peer = services.protocols.mcp.begin(exchange->identity->id, takes_forms(params));
  Response response;
  response.fields.emplace_back("Mcp-Session-Id", peer->id());
  response.body = rpc_result(id, mcp_greeting(mcp_version_for(params.protocol_version)));
  exchange->respond(std::move(response));
}

// --- tools ---

struct ToolContext {
  Services& services;
  ExchangePtr exchange;
  McpCall call;
  Json arguments;
};

// False: the arguments do not fit, and the call was answered.
template <class Args>
bool read_args(const ToolContext& context, Args& out) {
  auto valid = schema::from_json(context.arguments.text, out, schema::Unknown::refuse);
  if (valid) return true;
  answer_json(*context.exchange,
              mcp_error(context.call.id, kRpcInvalidParams, valid.error().message));
  return false;
}

// A missing scope is an HTTP status, so that clients can ask for another token.
bool has_scope(const ToolContext& context, TokenScope scope, std::string_view tool) {
  const auto allowed = Authorization::check_scope(context.call.as.identity.get(), scope, tool);
  if (allowed) return true;
  answer_json(*context.exchange, mcp_error(context.call.id, kRpcRefused, allowed.error().message),
              403);
  return false;
}

void answer_result(const std::weak_ptr<Exchange>& waiting, const std::string& id,
                   const Result<std::string>& result) {
  const auto exchange = waiting.lock();
  if (!exchange) return;
  if (result) return answer_json(*exchange, rpc_result(id, *result));
  if (is_wrong_call(result.error()))
    return answer_json(*exchange, mcp_error(id, kRpcInvalidParams, result.error().message));
  answer_json(*exchange, rpc_result(id, failed_tool_result(result.error())));
}

void tell_turn(const ToolContext& context, const TurnArgs& args) {
  read_turn(context.services, context.call.as, args.session_id, args.turn_id,
            [waiting = std::weak_ptr(context.exchange),
             id = context.call.id](const Result<TurnResult>& result) {
              answer_result(waiting, id,
                            result ? Result<std::string>(turn_tool_result(*result))
                                   : std::unexpected(result.error()));
            });
}

void run_turn(const ToolContext& context) {
  RunTurnArgs args;
  if (!has_scope(context, TokenScope::submit, "run_turn") || !read_args(context, args)) return;
  if (args.wait_ms && *args.wait_ms > kMcpWaitMaxMs)
    return answer_json(*context.exchange,
                       mcp_error(context.call.id, kRpcInvalidParams,
                                 fmt::format("waitMs: expected at most {}", kMcpWaitMaxMs)));
  if (context.services.protocols.waiting.full())
    return answer_json(
        *context.exchange,
        rpc_result(
            context.call.id,
            failed_tool_result({Code::overloaded, "too many calls are waiting; try again", {}})));
  McpRun::begin(context.services, context.exchange, context.call, std::move(args),
                accepts_stream(context.exchange->request.head.accept));
}

void get_turn(const ToolContext& context) {
  TurnArgs args;
  if (has_scope(context, TokenScope::read, "get_turn") && read_args(context, args))
    tell_turn(context, args);
}

void interrupt_turn(const ToolContext& context) {
  TurnArgs args;
  if (!has_scope(context, TokenScope::submit, "interrupt_turn") || !read_args(context, args))
    return;
  schema::InterruptTurn interrupt;
  interrupt.session_id = args.session_id;
  interrupt.turn_id = args.turn_id;
  interrupt.queue = schema::QueueKeep::keep;
  call(context.services, context.call.as, std::move(interrupt),
       [context, args](const Result<schema::InterruptTurnReply>& reply) {
         if (reply) return tell_turn(context, args);
         answer_result(context.exchange, context.call.id, std::unexpected(reply.error()));
       });
}

void list_sessions(const ToolContext& context) {
  ListSessionsArgs args;
  if (!has_scope(context, TokenScope::read, "list_sessions") || !read_args(context, args)) return;
  schema::ListSessions list;
  list.limit = args.limit;
  list.cursor = args.cursor;
  call_text(context.services, context.call.as, std::move(list),
            [waiting = std::weak_ptr(context.exchange),
             id = context.call.id](const Result<std::string>& text) {
              auto page = read_reply<ListPage>(text);
              if (!page) return answer_result(waiting, id, std::unexpected(page.error()));
              const std::string told =
                  schema::to_json(SessionPage{std::move(page->data), std::move(page->next_cursor)});
              std::string words;
              schema::write_string(words, told);
              answer_result(waiting, id,
                            fmt::format(R"({{"content":[{{"type":"text","text":{}}}],)"
                                        R"("structuredContent":{}}})",
                                        words, told));
            });
}

using Tool = void (*)(const ToolContext& context);
Tool tool_named(std::string_view name) {
  if (name == "run_turn") return run_turn;
  if (name == "get_turn") return get_turn;
  if (name == "interrupt_turn") return interrupt_turn;
  return name == "list_sessions" ? list_sessions : nullptr;
}

void call_tool(Services& services, const ExchangePtr& exchange, McpPeerPtr peer,
               const Incoming& message) {
  const std::string& id = message.id->text;
  CallParams params;
  if (!read(message.params, params))
    return answer_json(*exchange, mcp_error(id, kRpcInvalidParams, "params: expected an object"));
  const Tool tool = tool_named(params.name);
  if (tool == nullptr)
    return answer_json(*exchange, mcp_error(id, kRpcInvalidParams,
                                            fmt::format("there is no tool {}; see tools/list",
                                                        schema::utf8_prefix(params.name, 128))));
  tool({services,
        exchange,
        {.id = id,
         .peer = std::move(peer),
         .as = acting_as(*exchange),
         .progress_token = progress_token_in(message.params)},
        params.arguments.value_or(Json{"{}"})});
}

// --- messages ---

void take_response(McpPeer& peer, Incoming message) {
  std::uint64_t request = 0;
  const std::string& id = message.id->text;
  std::from_chars(id.data(), id.data() + id.size(), request);
  if (message.result) return peer.take(request, *std::move(message.result));
  peer.take(request, fail(Code::unavailable, "the client refused the question"));
}

void take_notification(McpPeer& peer, const Incoming& message) {
  CancelParams params;
  if (message.method == "notifications/cancelled" && read(message.params, params) &&
      params.request_id)
    peer.cancel(params.request_id->text);
}

void take_request(Services& services, const ExchangePtr& exchange, McpPeerPtr peer,
                  const Incoming& message) {
  const std::string& id = message.id->text;
  if (message.method == "ping") return answer_json(*exchange, rpc_result(id, "{}"));
  if (message.method == "tools/list")
    return answer_json(*exchange, rpc_result(id, mcp_tool_list()));
  if (message.method == "tools/call")
    return call_tool(services, exchange, std::move(peer), message);
  answer_json(*exchange, mcp_error(id, kRpcMethodNotFound,
                                   "this server offers tools/list, tools/call and ping"));
}

bool is_id(const Json& id) {
  return id.text.starts_with('"') || id.text.starts_with('-') ||
         (id.text.front() >= '0' && id.text.front() <= '9');
}

// A message that needs no session. True: it was answered.
bool answered_without_session(Services& services, const ExchangePtr& exchange,
                              const Incoming& message) {
  const std::string id = message.id ? message.id->text : "null";
  if (message.method == "initialize" && message.id) {
    initialize(services, exchange, id, message.params);
    return true;
  }
  if (message.method == "server/discover" && message.id) {
    answer_json(*exchange, mcp_error(id, kRpcMethodNotFound,
                                     "this server speaks MCP 2025-11-25 and 2025-06-18; begin with "
                                     "initialize"));
    return true;
  }
  return false;
}

}  // namespace

void post_mcp(Services& services, const ExchangePtr& exchange) {
  const Head& head = exchange->request.head;
  const auto refuse = [&](int status, int number, std::string_view why) {
    answer_json(*exchange, mcp_error("null", number, why), status);
  };
  if (!head.mcp_protocol.empty() && !is_mcp_version(head.mcp_protocol))
    return refuse(400, kRpcInvalidRequest,
                  "MCP-Protocol-Version: this server speaks 2025-11-25 and 2025-06-18");
  const std::string& text = exchange->request.body;
  if (const auto valid = schema::check_json(text); !valid)
    return refuse(400, kRpcParseError, valid.error().message);
  Incoming message;
  schema::Met met;
  if (!schema::read_loosely(text, message, met) || !message.jsonrpc ||
      message.jsonrpc->text != R"("2.0")" || (message.id && !is_id(*message.id)))
    return refuse(400, kRpcInvalidRequest, "expected one JSON-RPC 2.0 message");
  if (answered_without_session(services, exchange, message)) return;
  if (head.mcp_session.empty())
    return refuse(400, kRpcInvalidRequest, "Mcp-Session-Id is missing; begin with initialize");
  auto peer = services.protocols.mcp.find(head.mcp_session, exchange->identity->id);
  if (!peer) return refuse(404, kMcpNoSession, "this session is not known here; initialize again");
  if (message.method && message.id)
    return take_request(services, exchange, std::move(peer), message);
  if (message.method)
    take_notification(*peer, message);
  else if (message.id)
    take_response(*peer, std::move(message));
  accept(*exchange);
}

// The server has no messages of its own outside of calls.
void get_mcp(Services&, const ExchangePtr& exchange) {
  Response response = error_response(
      {Code::method_not_allowed, "this server sends messages only within calls", {}});
  response.fields.emplace_back("Allow", "POST, DELETE");
  exchange->respond(std::move(response));
}

void delete_mcp(Services& services, const ExchangePtr& exchange) {
  const auto peer =
      services.protocols.mcp.find(exchange->request.head.mcp_session, exchange->identity->id);
  if (!peer)
    return answer_json(*exchange,
                       mcp_error("null", kMcpNoSession, "this session is not known here"), 404);
  services.protocols.mcp.end(peer->id());
  Response response;
  response.status = 204;
  exchange->respond(std::move(response));
}

}  // namespace agentrt::channels
