#include <algorithm>

#include <fmt/format.h>

#include "base/url.h"
#include "channels/handlers/handlers.h"
#include "channels/handlers/rpc_calls.h"
#include "channels/request_checks.h"

namespace agentrt::channels {

RequestOrigin origin_of(const Head& head) {
  RequestOrigin origin;
  if (well_formed_id(head.request_id)) origin.request = RequestId{head.request_id};
  origin.trace = trace_of(head.traceparent);
  origin.transport = schema::Transport::http_json;
  if (!head.channel.empty()) origin.channel = ChannelId{head.channel};
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
  if (starts_channel(schema::traits_of(command).name))
    return services.desk.start(
        std::move(command), exchange->identity, origin_of(exchange->request.head), nullptr,
        [waiting = std::weak_ptr(exchange)](ports::Reply reply, const AttachmentPtr&) {
          if (const auto asker = waiting.lock()) asker->respond(reply_response(std::move(reply)));
        });
  auto allowed = Authorization::command(exchange->identity.get(), std::move(command),
                                        origin_of(exchange->request.head));
  if (!allowed) return exchange->respond(error_response(allowed.error()));
  services.desk.call(*std::move(allowed), reply_to(services, exchange, effect));
}

// The calls of one POST /v1/rpc.
class PostedCalls final : public RpcCaller {
 public:
  PostedCalls(Services& services, const Exchange& exchange)
      : services_(services), exchange_(exchange) {}

  const Identity* identity() const override { return exchange_.identity.get(); }
  RequestOrigin origin() const override {
    RequestOrigin origin = origin_of(exchange_.request.head);
    origin.transport = schema::Transport::json_rpc;
    return origin;
  }
  void command(ports::Authorized<schema::Command> command, ports::ReplyTo reply_to) override {
    services_.desk.call(std::move(command), std::move(reply_to));
  }
  bool own_method(const RpcCall& call, OwnReply& reply) override {
    if (!starts_channel(call.method)) return false;
    auto command = command_of(identity(), call);
    if (!command) {
      reply(std::unexpected(command.error()), {});
      return true;
    }
    services_.desk.start(
        *std::move(command), exchange_.identity, origin(), nullptr,
        [reply = std::move(reply)](ports::Reply answer, const AttachmentPtr&) mutable {
          reply(std::move(answer), {});
        });
    return true;
  }

 private:
  Services& services_;
  const Exchange& exchange_;
};

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

template <class AnyId>
Result<std::optional<AnyId>> find_id(const Query& query, std::string_view name) {
  const std::string* const text = find(query, name);
  if (!text) return std::nullopt;
  return read_id<AnyId>(*text);
}

// The members order and status=a,b: decoded like those of a JSON body, so that errors are the same.
Result<schema::ListSessions> read_words(const Query& query) {
  std::string json;
  if (const std::string* const order = find(query, "order")) {
    json += R"("order":)";
    schema::write_string(json, *order);
  }
  if (const std::string* const status = find(query, "status")) {
    json += json.empty() ? R"("status":[)" : R"(,"status":[)";
    for (std::string_view rest = *status;;) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      schema::write_string(json, rest.substr(0, comma));
      if (comma == rest.size()) break;
      json += ',';
      rest.remove_prefix(comma + 1);
    }
    json += ']';
  }
  schema::ListSessions words;
  TRY(schema::from_json("{" + json + "}", words, schema::Unknown::refuse));
  return words;
}

Result<schema::Command> list_sessions_of(const Request& request) {
  TRY_ASSIGN(schema::ListSessions command, read_words(request.query));
  TRY_ASSIGN(command.limit, find_number(request.query, "limit"));
  TRY_ASSIGN(command.include_system, find_flag(request.query, "includeSystem"));
  command.cursor = find_text(request.query, "cursor");
  command.text = find_text(request.query, "text");
  return command;
}

Result<schema::Command> get_session_of(const Request& request) {
  schema::GetSession command;
  TRY_ASSIGN(command.session_id, read_id<SessionId>(request.ids[0]));
  TRY_ASSIGN(command.limit, find_number(request.query, "limit"));
  command.cursor = find_text(request.query, "cursor");
  command.threads_cursor = find_text(request.query, "threadsCursor");
  TRY_ASSIGN(command.thread_id, find_id<ThreadId>(request.query, "threadId"));
  TRY_ASSIGN(command.at_sequence, find_number(request.query, "atSequence"));
  return command;
}

Result<schema::Command> get_model_of(const Request& request) {
  schema::GetReadModel command;
  TRY_ASSIGN(command.session_id, read_id<SessionId>(request.ids[0]));
  command.name = request.ids[1];
  TRY_ASSIGN(command.thread_id, find_id<ThreadId>(request.query, "threadId"));
  TRY_ASSIGN(command.at_sequence, find_number(request.query, "atSequence"));
  return command;
}

Result<schema::Command> get_thread_of(const Request& request) {
  schema::GetThreadRead command;
  TRY_ASSIGN(command.session_id, read_id<SessionId>(request.ids[0]));
  TRY_ASSIGN(command.thread_id, read_id<ThreadId>(request.ids[1]));
  TRY_ASSIGN(command.at_sequence, find_number(request.query, "atSequence"));
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
  PostedCalls calls(services, *exchange);
  answer_rpc(services, calls, read_rpc(exchange->request.body),
             [asker = std::weak_ptr(exchange)](std::string body) {
               const auto waiting = asker.lock();
               if (!waiting) return;
               Response response;
               response.body = std::move(body);
               if (response.body.empty()) response.status = 204;
               waiting->respond(std::move(response));
             });
}

void get_sessions(Services& services, const ExchangePtr& exchange) {
  answer(services, exchange, list_sessions_of(exchange->request));
}

void get_session(Services& services, const ExchangePtr& exchange) {
  answer(services, exchange, get_session_of(exchange->request));
}

void get_model(Services& services, const ExchangePtr& exchange) {
  answer(services, exchange, get_model_of(exchange->request));
}

void get_thread(Services& services, const ExchangePtr& exchange) {
  answer(services, exchange, get_thread_of(exchange->request));
}

}  // namespace agentrt::channels
