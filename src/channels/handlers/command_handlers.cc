#include <fmt/format.h>

#include "channels/handlers/handlers.h"
#include "channels/handlers/rpc.h"
#include "channels/request_checks.h"

namespace agentrt::channels {

RequestOrigin origin_of(const Head& head) {
  RequestOrigin origin;
  if (well_formed_id(head.request_id)) origin.request = RequestId{head.request_id};
  origin.trace = trace_of(head.traceparent);
  if (!head.client_folder.empty()) origin.folder = percent_decoded(head.client_folder);
  return origin;
}

namespace {

ports::ReplyTo reply_to(Services& services, const ExchangePtr& exchange,
                        schema::CommandEffect effect) {
  return [inbox = services.inbox, effect,
          waiting = std::weak_ptr(exchange)](ports::Reply reply) mutable {
    inbox->post([waiting, effect, reply = std::move(reply)]() mutable {
      const auto asker = waiting.lock();
      if (!asker) return;
      Response response = reply_response(std::move(reply));
      response.only_reads = effect == schema::CommandEffect::reads;
      asker->respond(std::move(response));
    });
  };
}

}  // namespace

ports::ReplyTo reply_to(Services& services, const ExchangePtr& exchange) {
  return reply_to(services, exchange, schema::CommandEffect::mutates);
}

namespace {

// Gives `command` to the core and answers with its reply.
void answer_command(Services& services, const ExchangePtr& exchange, schema::Command command) {
  const schema::CommandEffect effect = schema::traits_of(command).effect;
  auto allowed = Authorization::command(exchange->identity.get(), std::move(command),
                                        origin_of(exchange->request.head));
  if (!allowed) return exchange->respond(error_response(allowed.error()));
  services.sink.call(*std::move(allowed), reply_to(services, exchange, effect));
}

// A JSON-RPC message whose calls are in progress; they end in any order.
struct RpcAnswers {
  RpcMessage message;
  std::vector<std::string> replies;
  std::vector<HeldReply> held;  // the bytes of those replies
  std::size_t missing = 0;
  std::weak_ptr<Exchange> asker;
  std::shared_ptr<ReplyBudget> budget;

  // Only replies to reads may be refused because of reply_bytes_max.
  void settle(std::size_t index, const ports::Reply& reply, schema::CommandEffect effect) {
    const std::string& id = message.calls[index].id;
    if (id.empty()) return finish_one();
    if (!reply)
      replies[index] = rpc_error(id, reply.error());
    else if (effect == schema::CommandEffect::reads && !budget->has_room(reply->capacity()))
      replies[index] = rpc_error(id, no_room_for_reply());
    else
      replies[index] = rpc_result(id, *reply);
    held.emplace_back(budget, replies[index].capacity());
    finish_one();
  }

  void finish_one() {
    if (--missing > 0) return;
    const auto exchange = asker.lock();
    if (!exchange) return;
    Response response;
    response.body = join_replies(message.shape, replies);
    replies.clear();
    held.clear();
    if (response.body.empty()) response.status = 204;
    exchange->respond(std::move(response));
  }
};

// Starts one call; its reply arrives now or from the inbox.
void start_call(Services& services, const Exchange& exchange,
                const std::shared_ptr<RpcAnswers>& answers, std::size_t index) {
  const RpcCall& call = answers->message.calls[index];
  if (!call.fault.empty()) {
    answers->replies[index] = call.fault;
    return answers->finish_one();
  }
  const schema::CommandTraits* const traits = schema::find_command(call.method);
  if (!traits) {
    const Error error{
        Code::not_found,
        fmt::format("there is no method {}; `agentrt schema commands` lists them", call.method),
        {}};
    if (!call.id.empty()) answers->replies[index] = rpc_error(call.id, error, kRpcMethodNotFound);
    return answers->finish_one();
  }
  const schema::CommandEffect effect = traits->effect;
  // Before the params are decoded, as for the route of a command.
  const Identity* const identity = exchange.identity.get();
  if (const auto scoped = Authorization::check_scope(identity, traits->scope, traits->name);
      !scoped)
    return answers->settle(index, std::unexpected(scoped.error()), effect);
  auto command = schema::read_command(call.method, call.params);
  if (!command) return answers->settle(index, std::unexpected(command.error()), effect);
  auto allowed =
      Authorization::command(identity, *std::move(command), origin_of(exchange.request.head));
  if (!allowed) return answers->settle(index, std::unexpected(allowed.error()), effect);
  services.sink.call(*std::move(allowed), [inbox = services.inbox, answers, index,
                                           effect](ports::Reply reply) mutable {
    inbox->post([answers = std::move(answers), index, effect, reply = std::move(reply)] {
      answers->settle(index, reply, effect);
    });
  });
}

// Validates ids in a path, because a command built from them bypasses the decoder.
template <class AnyId>
Result<AnyId> read_id(const std::string& text) {
  if (!well_formed_id(text))
    return fail(Code::invalid_params, "an id has 1 to 128 of the characters A-Z a-z 0-9 . _ : -");
  return AnyId{text};
}

std::optional<std::string> find_text(const Query& query, std::string_view name) {
  const std::string* const text = find(query, name);
  if (!text) return std::nullopt;
  return *text;
}

Result<schema::Command> list_sessions_of(const Request& request) {
  schema::ListSessions command;
  TRY_ASSIGN(command.limit, find_number(request.query, "limit"));
  TRY_ASSIGN(command.include_system, find_flag(request.query, "includeSystem"));
  command.cursor = find_text(request.query, "cursor");
  return command;
}

Result<schema::Command> get_session_of(const Request& request) {
  schema::GetSession command;
  TRY_ASSIGN(command.session_id, read_id<SessionId>(request.ids[0]));
  TRY_ASSIGN(command.limit, find_number(request.query, "limit"));
  command.cursor = find_text(request.query, "cursor");
  return command;
}

Result<schema::Command> get_thread_of(const Request& request) {
  schema::GetThreadRead command;
  TRY_ASSIGN(command.session_id, read_id<SessionId>(request.ids[0]));
  TRY_ASSIGN(command.thread_id, read_id<ThreadId>(request.ids[1]));
  return command;
}

void answer(Services& services, const ExchangePtr& exchange, Result<schema::Command> command) {
  if (!command) return exchange->respond(error_response(command.error()));
  answer_command(services, exchange, *std::move(command));
}

}  // namespace

void post_command(Services& services, const ExchangePtr& exchange) {
  const Request& request = exchange->request;
  answer(services, exchange, schema::read_command(request.ids[0], request.body));
}

void post_rpc(Services& services, const ExchangePtr& exchange) {
  const auto answers = std::make_shared<RpcAnswers>();
  answers->message = read_rpc(exchange->request.body);
  answers->asker = exchange;
  answers->budget = services.replies;
  const std::size_t calls = answers->message.calls.size();
  answers->replies.resize(calls);
  answers->missing = calls;
  for (std::size_t i = 0; i < calls; ++i) start_call(services, *exchange, answers, i);
}

void get_sessions(Services& services, const ExchangePtr& exchange) {
  answer(services, exchange, list_sessions_of(exchange->request));
}

void get_session(Services& services, const ExchangePtr& exchange) {
  answer(services, exchange, get_session_of(exchange->request));
}

void get_thread(Services& services, const ExchangePtr& exchange) {
  answer(services, exchange, get_thread_of(exchange->request));
}

}  // namespace agentrt::channels
