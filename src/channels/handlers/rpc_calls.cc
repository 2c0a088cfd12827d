#include "channels/handlers/rpc_calls.h"

#include <fmt/format.h>

namespace agentrt::channels {
namespace {

// A message whose calls are in progress.
struct Answers {
  RpcMessage message;
  std::vector<std::string> replies;
  std::vector<HeldReply> held;  // the bytes of those replies
  std::vector<AfterReply> after;
  std::size_t missing = 0;
  std::shared_ptr<ReplyBudget> budget;
  RpcDone done;

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
    std::string body = join_replies(message.shape, replies);
    replies.clear();
    held.clear();
    done(std::move(body));
    for (AfterReply& act : after) act();
  }
};

Error unknown_method(const std::string& method) {
  return {Code::not_found,
          fmt::format("there is no method {}; `agentrt schema commands` lists them", method),
          {}};
}

// Starts one call; its reply arrives now or from the inbox.
void start_call(Services& services, RpcCaller& caller, const std::shared_ptr<Answers>& answers,
                std::size_t index) {
  const RpcCall& call = answers->message.calls[index];
  if (!call.fault.empty()) {
    answers->replies[index] = call.fault;
    return answers->finish_one();
  }
  OwnReply own = [answers, index](const ports::Reply& reply, AfterReply after) {
    if (after) answers->after.push_back(std::move(after));
    answers->settle(index, reply, schema::CommandEffect::mutates);
  };
  if (caller.own_method(call, own)) return;
  const schema::CommandTraits* const traits = schema::find_command(call.method);
  if (!traits) {
    if (!call.id.empty())
      answers->replies[index] = rpc_error(call.id, unknown_method(call.method), kRpcMethodNotFound);
    return answers->finish_one();
  }
  const schema::CommandEffect effect = traits->effect;
  auto command = command_of(caller.identity(), call);
  if (!command) return answers->settle(index, std::unexpected(command.error()), effect);
  auto allowed = Authorization::command(caller.identity(), *std::move(command), caller.origin());
  if (!allowed) return answers->settle(index, std::unexpected(allowed.error()), effect);
  caller.command(*std::move(allowed), [inbox = services.inbox, answers, index,
                                       effect](ports::Reply reply) mutable {
    inbox->post([answers = std::move(answers), index, effect, reply = std::move(reply)] {
      answers->settle(index, reply, effect);
    });
  });
}

}  // namespace

bool starts_channel(std::string_view method) {
  return method == schema::ConnectChannel::kTraits.name ||
         method == schema::ReconnectChannel::kTraits.name;
}

Result<schema::Command> command_of(const Identity* identity, const RpcCall& call) {
  const schema::CommandTraits* const traits = schema::find_command(call.method);
  if (!traits) return std::unexpected(unknown_method(call.method));
  // Before the params are decoded, as for the route of a command.
  TRY(Authorization::check_scope(identity, traits->scope, traits->name));
  return schema::read_command(call.method, call.params);
}

void answer_rpc(Services& services, RpcCaller& caller, RpcMessage message, RpcDone done) {
  const auto answers = std::make_shared<Answers>();
  answers->message = std::move(message);
  answers->budget = services.replies;
  answers->done = std::move(done);
  const std::size_t calls = answers->message.calls.size();
  answers->replies.resize(calls);
  answers->missing = calls;
  for (std::size_t i = 0; i < calls; ++i) start_call(services, caller, answers, i);
}

}  // namespace agentrt::channels
