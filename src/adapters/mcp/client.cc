#include "adapters/mcp/client.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "adapters/mcp/remedy.h"
#include "schema/json_loose.h"

namespace agentrt::adapters {
namespace {

using schema::Json;

// Newest first. The first is offered; the server may choose any other.
constexpr std::array<std::string_view, 4> kProtocols = {"2025-11-25", "2025-06-18", "2025-03-26",
                                                        "2024-11-05"};

constexpr std::string_view kNewerProtocol = "2026-07-28";
constexpr std::string_view kNewerOnly =
    "; it may speak only MCP 2026-07-28, which is not supported";

constexpr std::string_view kSamplingCode = "mcp_sampling_refused";
constexpr std::string_view kSamplingRefusal =
    "this client does not offer sampling: a prompt that a server writes would spend the user's "
    "budget outside of the session's context and policy";

struct Capabilities {
  std::optional<Json> tools;
};
BOOST_DESCRIBE_STRUCT(Capabilities, (), (tools))

struct Greeting {
  std::string protocol_version;
  std::optional<Capabilities> capabilities;
};
BOOST_DESCRIBE_STRUCT(Greeting, (), (protocol_version, capabilities))

struct Progress {
  std::optional<Json> progress_token;
  std::optional<Json> progress;
  std::optional<Json> total;
  std::optional<std::string> message;
};
BOOST_DESCRIBE_STRUCT(Progress, (), (progress_token, progress, total, message))

std::string greeting_params() {
  return fmt::format(R"({{"protocolVersion":"{}","capabilities":{{"roots":{{"listChanged":false}},)"
                     R"("elicitation":{{"form":{{}},"url":{{}}}}}},)"
                     R"("clientInfo":{{"name":"agentrt","version":"{}"}}}})",
                     kProtocols.front(), AGENTRT_VERSION);
}

template <class T>
bool read(const std::optional<Json>& json, T& out) {
  schema::Met met;
  return json && schema::read_loosely(json->text, out, met);
}

// A file URI (RFC 8089): all but unreserved characters are percent-encoded.
std::string file_uri(std::string_view path) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string out = "file://";
  for (const char c : path) {
    if (kPlain.find(c) != std::string_view::npos)
      out.push_back(c);
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string remedy_of(const McpServer& server) {
  const std::string raise = fmt::format("raise startup_ms in [mcp_servers.{}]", server.name);
  const auto* const program = std::get_if<McpStdio>(&server.way);
  if (program == nullptr || program->command.empty())
    return "check that the server at its url runs, or " + raise;
  return fmt::format(
      "if a package is still being downloaded, run `{}` once in a terminal, or {}",
      schema::utf8_prefix(fmt::format("{}", fmt::join(program->command, " ")), kMcpReasonBytesMax),
      raise);
}

Error lost_call(const std::string& server, const Error& why,
                const std::vector<std::uint64_t>& refused, std::uint64_t id) {
  const bool was_refused = std::ranges::find(refused, id) != refused.end();
  if (was_refused && why.code == Code::unauthenticated)
    return reworded(why, fmt::format("the MCP server {} is unavailable: {}", server, why.message));
  if (was_refused)
    return {Code::expired,
            fmt::format("the connection to the MCP server {} was lost ({})", server, why.message),
            {}};
  return {Code::gone,
          fmt::format("the connection to the MCP server {} was lost during the call ({}); whether "
                      "the call had an effect is unknown",
                      server, why.message),
          {}};
}

}  // namespace

McpClient::McpClient(ports::Loop& loop, McpServer server, const MakeTransport& make,
                     std::function<void(const Error&)> on_over)
    : loop_(loop), server_(std::move(server)), on_over_(std::move(on_over)) {
  transport_ = make(server_, *this);
}

McpClient::~McpClient() {
  if (timer_) loop_.cancel(*timer_);
  for (auto& [id, call] : calls_) stop_clocks(call);
}

// Starts the handshake and the first listing of tools.
void McpClient::start() {
  listing_ = true;
  limit_by_time("it did not start", server_.startup_ms, "; " + remedy_of(server_));
  transport_->open();
  request("initialize", greeting_params(),
          [this](const Result<Json>& result) { take_greeting(result); });
}

void McpClient::limit_by_time(std::string_view what, std::int64_t ms, std::string_view advice) {
  if (timer_) loop_.cancel(*timer_);
  timer_ = loop_.after(ms, [this, why = fmt::format("{} within {} ms{}", what, ms, advice)] {
    timer_.reset();
    fail_all(why);
  });
}

void McpClient::take_greeting(const Result<Json>& result) {
  if (!result) {
    const std::string& why = result.error().message;
    // Its revision has no handshake.
    const bool newer = why.contains(kNewerProtocol) || result.error().code == Code::not_found;
    return fail_all(reworded(result.error(), fmt::format("it refused to initialize: {}{}", why,
                                                         newer ? kNewerOnly : "")));
  }
  Greeting greeting;
  if (!read(*result, greeting)) return fail_all("its reply to initialize is not valid");
  if (std::ranges::find(kProtocols, greeting.protocol_version) == kProtocols.end())
    return fail_all(
        fmt::format("it uses the protocol version {}, which is not supported",
                    as_json(schema::utf8_prefix(greeting.protocol_version, kMcpReasonBytesMax))));
  transport_->agreed(greeting.protocol_version);
  transport_->send(rpc_notification("notifications/initialized", "{}"), std::nullopt);
  if (!greeting.capabilities || !greeting.capabilities->tools) return listed({});
  list_tools();
}

void McpClient::list_tools() {
  listing_ = true;
  changed_ = false;
  coming_ = {};
  pages_ = 0;
  ask_page(std::nullopt);
}

void McpClient::ask_page(const std::optional<std::string>& cursor) {
  request("tools/list", cursor ? fmt::format(R"({{"cursor":{}}})", as_json(*cursor)) : "{}",
          [this](const Result<Json>& result) { take_page(result); });
}

void McpClient::take_page(const Result<Json>& result) {
  if (!result) return listed(std::unexpected(result.error()));
  const auto cursor = add_page(*result, server_, coming_);
  if (!cursor) return listed(fail(Code::unavailable, cursor.error().message));
  if (*cursor && ++pages_ < kMcpToolPagesMax) return ask_page(*cursor);
  if (*cursor)
    coming_.leave_out("the rest", fmt::format("its list has more than {} pages", kMcpToolPagesMax));
  tools_ = std::move(coming_);
  listed({});
}

void McpClient::listed(Result<void> outcome) {
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
  listing_ = false;
  if (!outcome) changed_ = true;  // list again on the next use
  if (!outcome && !ready_) return fail_all(outcome.error());
  ready_ = true;
  for (Listed& each : std::exchange(listeners_, {})) each(outcome);
}

void McpClient::when_listed(Listed then) {
  if (over_) {
    loop_.post([then = std::move(then), why = *over_]() mutable { then(std::unexpected(why)); });
    return;
  }
  listeners_.push_back(std::move(then));
  if (listing_) return;
  if (changed_) {
    limit_by_time("it did not list its tools", answer_ms());
    return list_tools();
  }
  if (loop_.now().ms - heard_at_ >= kMcpPingAfterMs) return check_alive();
  listing_ = true;
  loop_.post([this, here = std::weak_ptr(here_)] {
    if (!here.expired() && !over_) listed({});
  });
}

void McpClient::check_alive() {
  listing_ = true;
  limit_by_time("it did not answer a ping", answer_ms());
  ping_ = request("ping", "{}", [this](const Result<Json>&) { listed({}); });
}

std::uint64_t McpClient::request(std::string_view method, const std::string& params, Done done) {
  const std::uint64_t id = ++last_id_;
  waiting_.emplace(id, std::move(done));
  transport_->send(rpc_request(id, method, params), id);
  return id;
}

Result<std::uint64_t> McpClient::call(const std::string& tool, const Json& args,
                                      std::shared_ptr<McpCallListener> listener) {
  if (over_) return fail(Code::gone, over_->message);
  if (calls_.size() >= kMcpRequestsMax)
    return fail(Code::limit_exceeded,
                fmt::format("{} calls of the MCP server {} are already waiting; try again later",
                            kMcpRequestsMax, server_.name));
  const std::uint64_t id = last_id_ + 1;
  Call& call = calls_[id];
  call.listener = std::move(listener);
  set_clocks(id, call);
  request("tools/call",
          fmt::format(R"({{"name":{},"arguments":{},"_meta":{{"progressToken":{}}}}})",
                      as_json(tool), args.text, id),
          [this, id](Result<Json> result) { end_call(id, std::move(result)); });
  return id;
}

void McpClient::set_clocks(std::uint64_t id, Call& call) {
  if (call.silent) loop_.cancel(*call.silent);
  call.silent = loop_.after(server_.tool_timeout_ms,
                            [this, id] { call_timed_out(id, server_.tool_timeout_ms); });
  if (!call.whole)
    call.whole = loop_.after(kMcpCallMaxMs, [this, id] { call_timed_out(id, kMcpCallMaxMs); });
}

void McpClient::stop_clocks(Call& call) {
  if (call.silent) loop_.cancel(*call.silent);
  if (call.whole) loop_.cancel(*call.whole);
  call.silent.reset();
  call.whole.reset();
}

void McpClient::call_timed_out(std::uint64_t id, std::int64_t after_ms) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const auto listener = found->second.listener;
  cancel(id);
  listener->on_end(fail(Code::timeout, fmt::format("the MCP server {} did not answer within {} ms",
                                                   server_.name, after_ms)));
}

void McpClient::end_call(std::uint64_t id, Result<Json> result) {
  auto found = calls_.extract(id);
  if (!found) return;
  stop_clocks(found.mapped());
  found.mapped().listener->on_end(std::move(result));
}

void McpClient::cancel(std::uint64_t id) {
  auto found = calls_.extract(id);
  if (!found) return;
  stop_clocks(found.mapped());
  waiting_.erase(id);
  if (over_) return;
  for (const auto& [name, question] : found.mapped().questions)
    transport_->send(
        rpc_result(question.request_id,
                   question_result(question, ports::QuestionAnswer::cancel, std::nullopt)),
        std::nullopt);
  transport_->send(rpc_notification("notifications/cancelled",
                                    fmt::format(R"({{"requestId":{},"reason":"the call is not )"
                                                R"(wanted any more"}})",
                                                id)),
                   std::nullopt);
  transport_->forget(id);
}

void McpClient::answer(std::uint64_t id, const std::string& name, ports::QuestionAnswer answer,
                       const std::optional<Json>& content) {
  const auto found = calls_.find(id);
  if (found == calls_.end() || over_) return;
  const auto question = found->second.questions.extract(name);
  if (!question) return;
  if (found->second.questions.empty()) set_clocks(id, found->second);
  transport_->send(
      rpc_result(question.mapped().request_id, question_result(question.mapped(), answer, content)),
      std::nullopt);
}

void McpClient::close(std::move_only_function<void()> closed) {
  while (!calls_.empty()) cancel(calls_.begin()->first);
  if (!over_) over_ = {Code::unavailable, "it was closed", {}};
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
  waiting_.clear();
  listeners_.clear();
  transport_->close(std::move(closed));
}

void McpClient::fail_all(std::string why) {
  fail_all(Error{Code::unavailable, std::move(why), {}});
}

void McpClient::fail_all(const Error& why, const std::vector<std::uint64_t>& refused) {
  if (over_) return;
  over_ = why;
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
  waiting_.clear();
  for (auto& [id, call] : std::exchange(calls_, {})) {
    stop_clocks(call);
    call.listener->on_end(std::unexpected(lost_call(server_.name, why, refused, id)));
  }
  for (Listed& each : std::exchange(listeners_, {})) each(std::unexpected(why));
  on_over_(why);
}

void McpClient::on_closed(Error why, std::vector<std::uint64_t> refused) { fail_all(why, refused); }

// An undeliverable ping means that the server is gone; an error reply to it means that it is alive.
void McpClient::on_refused(std::uint64_t request, Error why) {
  auto found = waiting_.extract(request);
  if (over_ || !found) return;
  if (request == ping_) return fail_all(why);
  found.mapped()(std::unexpected(std::move(why)));
}

void McpClient::on_garbage() {
  if (++garbage_ > kMcpGarbageMax)
    fail_all(
        fmt::format("it sent more than {} lines that are not protocol messages", kMcpGarbageMax));
}

void McpClient::on_message(std::string text, std::optional<std::uint64_t> within) {
  if (over_) return;
  heard_at_ = loop_.now().ms;
  auto messages = read_rpc(text);
  if (!messages) return on_garbage();
  for (RpcMessage& message : *messages) {
    if (over_) return;
    if (message.is_answer())
      take_answer(std::move(message));
    else if (message.id)
      take_request(message, within);
    else
      take_notification(message);
  }
}

// An answer to a request that was abandoned is late, not invalid.
void McpClient::take_answer(RpcMessage message) {
  const auto id = message.id ? number_of(*message.id) : std::nullopt;
  if (!id || *id == 0 || *id > last_id_) return on_garbage();
  auto found = waiting_.extract(*id);
  if (!found) return;
  transport_->answered(*id);
  if (message.result) return found.mapped()(*std::move(message.result));
  const Code code = message.error->code == kRpcInvalidParams  ? Code::invalid_params
                    : message.error->code == kRpcNoSuchMethod ? Code::not_found
                                                              : Code::internal;
  found.mapped()(
      fail(code, std::string(schema::utf8_prefix(message.error->message, kMcpReasonBytesMax))));
}

void McpClient::take_request(const RpcMessage& message, std::optional<std::uint64_t> within) {
  if (message.method == "ping")
    return transport_->send(rpc_result(*message.id, "{}"), std::nullopt);
  if (message.method == "roots/list") return answer_roots(*message.id);
  if (message.method == "elicitation/create") return take_question(message, within);
  if (message.method == "sampling/createMessage") return refuse_sampling(message, within);
  transport_->send(rpc_error(*message.id, kRpcNoSuchMethod, "this client does not support it"),
                   std::nullopt);
}

void McpClient::answer_roots(const Json& id) {
  std::string list;
  for (const std::string& folder : roots_)
    list += fmt::format(R"({}{{"uri":{}}})", list.empty() ? "" : ",", as_json(file_uri(folder)));
  transport_->send(rpc_result(id, fmt::format(R"({{"roots":[{}]}})", list)), std::nullopt);
}

std::size_t McpClient::open_questions() const {
  std::size_t count = 0;
  for (const auto& [id, call] : calls_) count += call.questions.size();
  return count;
}

// A request of the server belongs to the call in whose answer stream it arrived. If that is
// unknown, it belongs to the oldest call.
std::map<std::uint64_t, McpClient::Call>::iterator McpClient::call_of(
    std::optional<std::uint64_t> within) {
  const auto call = within ? calls_.find(*within) : calls_.begin();
  return call == calls_.end() ? calls_.begin() : call;
}

void McpClient::refuse_sampling(const RpcMessage& message, std::optional<std::uint64_t> within) {
  transport_->send(rpc_error(*message.id, kRpcNoSuchMethod, kSamplingRefusal), std::nullopt);
  const auto call = call_of(within);
  if (call == calls_.end() || std::exchange(call->second.refused_sampling, true)) return;
  call->second.listener->on_warning(
      std::string(kSamplingCode),
      fmt::format("the MCP server {} asked for a model's answer (sampling), which was refused; the "
                  "call continues",
                  server_.name));
}

// Without a call, no user can be asked.
void McpClient::take_question(const RpcMessage& message, std::optional<std::uint64_t> within) {
  const auto call = call_of(within);
  auto question = read_question(message.params.value_or(Json{"{}"}));
  if (!question)
    return transport_->send(rpc_error(*message.id, kRpcInvalidParams, question.error().message),
                            std::nullopt);
  McpQuestion open{*message.id, std::nullopt};
  if (!question->url) open.schema = question->schema;
  if (call == calls_.end() || open_questions() >= kMcpQuestionsMax)
    return transport_->send(
        rpc_result(*message.id, question_result(open, ports::QuestionAnswer::cancel, std::nullopt)),
        std::nullopt);
  question->id = fmt::format("q{}", ++last_question_);
  question->server = server_.name;
  stop_clocks(call->second);
  call->second.questions.emplace(question->id, std::move(open));
  call->second.listener->on_question(*std::move(question));
}

void McpClient::take_notification(const RpcMessage& message) {
  if (message.method == "notifications/tools/list_changed") changed_ = true;
  if (message.method == "notifications/progress" && message.params) take_progress(*message.params);
}

void McpClient::take_progress(const Json& params) {
  Progress progress;
  if (!read(params, progress) || !progress.progress_token) return;
  const auto found = calls_.find(number_of(*progress.progress_token).value_or(0));
  if (found == calls_.end()) return;
  Call& call = found->second;
  if (call.questions.empty()) set_clocks(found->first, call);
  const std::int64_t now = loop_.now().ms;
  if (now - call.told_at < kMcpProgressEveryMs && now >= call.told_at) return;
  call.told_at = now;
  std::string text = progress.message.value_or("");
  if (text.empty() && progress.progress)
    text = progress.total ? fmt::format("{} of {}", progress.progress->text, progress.total->text)
                          : progress.progress->text;
  text.resize(schema::utf8_prefix(text, kMcpProgressBytesMax).size());
  if (!text.empty()) call.listener->on_progress(std::move(text));
}

}  // namespace agentrt::adapters
