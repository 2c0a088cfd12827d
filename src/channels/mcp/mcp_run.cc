#include "channels/mcp/mcp_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "channels/handlers/rpc.h"
#include "channels/mcp/mcp_forms.h"
#include "channels/mcp/mcp_reply.h"
#include "schema/json_loose.h"

namespace agentrt::channels {
namespace {

// The member of an envelope that tells whose event it is.
struct EventIds {
  std::optional<TurnId> turn_id;
  std::optional<ActionId> action_id;
};
BOOST_DESCRIBE_STRUCT(EventIds, (), (turn_id, action_id))

constexpr std::string_view kRequired = "action.required";
constexpr std::string_view kResolved = "action.resolved";

schema::SubmitTurn submit_of(const RunTurnArgs& args) {
  schema::SubmitTurn out;
  out.session_id = args.session_id;
  out.input.push_back({.type = schema::InputKind::text, .text = args.prompt, .path = {}});
  schema::TurnOptions& options = out.options.emplace();
  options.cwd = args.cwd;
  options.model = args.model;
  if (args.mode) options.mode = schema::enum_of<schema::PermissionMode>(*args.mode);
  options.resume = true;
  if (args.idempotency_key) out.idempotency_key = "mcp:" + *args.idempotency_key;
  return out;
}

Error wrong_mode() {
  return {Code::invalid_params,
          "mode: expected default, untrusted, on_request, on_failure, never, plan, auto or bypass",
          {}};
}

}  // namespace

void McpRun::begin(Services& services, const ExchangePtr& exchange, McpCall call, RunTurnArgs args,
                   bool streams) {
  const std::shared_ptr<McpRun> run(new McpRun(services, std::move(call), std::move(args)));
  run->exchange_ = exchange;
  services.protocols.waiting.add(run);
  services.ticker.add(run);
  if (streams)
    run->out_ = SseOut::open(services, *exchange,
                             {.on_room = {}, .on_gone = [weak = std::weak_ptr(run)](SseOut::Gone) {
                                if (const auto self = weak.lock()) self->stop();
                              }});
  if (run->out_ && !run->out_->open()) return run->stop();
  run->call_.peer->began(run->call_.id, [weak = std::weak_ptr(run)] {
    if (const auto self = weak.lock()) self->stop();
  });
  run->submit();
}

McpRun::~McpRun() {
  if (tap_) tap_->close();
}

void McpRun::submit() {
  const auto& mode = args_.mode;
  if (mode && !schema::enum_of<schema::PermissionMode>(*mode)) return refuse(wrong_mode());
  channels::call(services_, call_.as, submit_of(args_),
                 [self = shared_from_this()](Result<schema::SubmitTurnReply> reply) {
                   self->submitted(reply);
                 });
}

void McpRun::submitted(const Result<schema::SubmitTurnReply>& reply) {
  if (ending_) return;
  if (!reply) return refuse(reply.error());
  turn_ = *reply;
  StreamStart start;
  start.session = reply->session_id;
  start.after = reply->sequence;
  start.types = {"turn.completed", "turn.failed", std::string(kRequired), std::string(kResolved)};
  tap_ = SessionTap::open(services_, call_.as, std::move(start), *this);
}

void McpRun::on_event(Sequence, std::string_view type, const std::string& event) {
  EventIds ids;
  schema::Met met;
  if (ending_ || !schema::read_loosely(event, ids, met)) return;
  if (type == kRequired) return look();
  if (type == kResolved) return resolved(ids.action_id.value_or(ActionId{}));
  if (ids.turn_id == turn_->turn_id) finish();
}

void McpRun::on_tap_ended(Error why) {
  tap_.reset();
  if (why.code == Code::unauthenticated || why.code == Code::forbidden) return refuse(why);
  finish();
}

// A question is looked up, because the event may be an old one that is answered already.
void McpRun::look() {
  look_again_ = looking_;
  if (std::exchange(looking_, true)) return;
  read_actions(services_, call_.as, turn_->session_id,
               [self = shared_from_this()](Result<std::vector<schema::ActionSnapshot>> actions) {
                 self->found(std::move(actions));
               });
}

void McpRun::found(Result<std::vector<schema::ActionSnapshot>> actions) {
  looking_ = false;
  if (ending_) return;
  if (std::exchange(look_again_, false)) return look();
  if (!actions) return finish();
  bool waits = false;
  for (const schema::ActionSnapshot& action : *actions) {
    if (action.turn_id != turn_->turn_id && !action.subagent_id) continue;
    if (asked_.contains(action.action_id)) continue;
    if (can_ask(action))
      ask(action);
    else
      waits = true;
  }
  if (waits) finish();
}

bool McpRun::can_ask(const schema::ActionSnapshot& action) const {
  return out_ && call_.peer->takes_forms() && call_.as.allows(TokenScope::approve) &&
         form_of(action).has_value();
}

void McpRun::ask(const schema::ActionSnapshot& action) {
  const std::uint64_t id =
      call_.peer->expect([weak = weak_from_this(), action](Result<schema::Json> result) {
        if (const auto self = weak.lock()) self->answered(action, result);
      });
  asked_[action.action_id] = id;
  send(fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"elicitation/create","params":{}}})", id,
                   *form_of(action)));
}

void McpRun::answered(const schema::ActionSnapshot& action, const Result<schema::Json>& result) {
  if (ending_ || asked_.erase(action.action_id) == 0) return;
  if (!result) return finish();
  const auto answer = answer_in(action, *result);
  if (!answer) return finish();  // the person has not decided: the action stays open
  respond(action, answer->decision, answer->payload);
}

void McpRun::respond(const schema::ActionSnapshot& action, std::string decision,
                     std::optional<schema::Json> payload) {
  schema::RespondAction respond;
  respond.action_id = action.action_id;
  respond.decision = std::move(decision);
  respond.digest = action.digest;
  respond.payload = std::move(payload);
  channels::call(services_, call_.as, std::move(respond),
                 [self = shared_from_this()](const Result<schema::ActionReply>& reply) {
                   // A refused answer leaves the question open, unless another client was faster.
                   if (!reply && !self->ending_) self->look();
                 });
}

// Another client answered: this client's dialog is withdrawn.
void McpRun::resolved(const ActionId& action) {
  const auto asked = asked_.extract(action);
  if (!asked) return;
  call_.peer->forget(asked.mapped());
  send(rpc_notification(
      "notifications/cancelled",
      fmt::format(R"({{"requestId":{},"reason":"it was answered elsewhere"}})", asked.mapped())));
}

void McpRun::tick(Instant now) {
  if (ending_) return;
  if (!out_ && exchange_.expired()) return stop();
  if (!turn_) return;
  const Duration limit(static_cast<std::int64_t>(args_.wait_ms.value_or(kMcpWaitMs)));
  if (now - began_ >= limit) return finish();
  if (!out_ || !call_.progress_token || now - told_ < kMcpProgressEvery) return;
  told_ = now;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - began_).count();
  send(rpc_notification("notifications/progress",
                        fmt::format(R"({{"progressToken":{},"progress":{},"message":)"
                                    R"("working for {} s"}})",
                                    call_.progress_token->text, seconds, seconds)));
}

void McpRun::finish() {
  if (std::exchange(ending_, true)) return;
  read_turn(services_, call_.as, turn_->session_id, turn_->turn_id,
            [self = shared_from_this()](const Result<TurnResult>& result) {
              self->reply(rpc_result(self->call_.id, result ? turn_tool_result(*result)
                                                            : failed_tool_result(result.error())));
            });
}

void McpRun::refuse(const Error& error) {
  ending_ = true;
  reply(is_wrong_call(error) ? mcp_error(call_.id, kRpcInvalidParams, error.message)
                             : rpc_result(call_.id, failed_tool_result(error)));
}

void McpRun::reply(const std::string& message) {
  const auto self = shared_from_this();
  if (out_) {
    out_->send(message);
    out_->finish();
  } else if (const auto exchange = exchange_.lock()) {
    Response response;
    response.body = message;
    exchange->respond(std::move(response));
  }
  stop();
}

// Ends the call; the turn continues.
void McpRun::stop() {
  const auto self = shared_from_this();
  ending_ = true;
  for (const auto& [action, request] : asked_) call_.peer->forget(request);
  asked_.clear();
  call_.peer->ended(call_.id);
  if (tap_) tap_->close();
  tap_.reset();
  if (out_) out_->finish();
  out_.reset();
  services_.protocols.waiting.remove(this);
}

void McpRun::send(const std::string& message) {
  if (out_) out_->send(message);
}

}  // namespace agentrt::channels
