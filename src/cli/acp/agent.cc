#include "cli/acp/agent.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "cli/acp/blocks.h"
#include "cli/known_session.h"
#include "cli/turns/checks.h"
#include "cli/views/session_view.h"
#include "config/client_environment.h"
#include "config/permitted_modes.h"
#include "schema/json_loose.h"

namespace agentrt::cli {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr int kLendEveryMs = 30'000;
constexpr std::uint64_t kPage = 1'000;

struct ElicitationModes {
  std::optional<schema::Json> form;
  std::optional<schema::Json> url;
};
BOOST_DESCRIBE_STRUCT(ElicitationModes, (), (form, url))

struct ClientCapabilities {
  std::optional<ElicitationModes> elicitation;
};
BOOST_DESCRIBE_STRUCT(ClientCapabilities, (), (elicitation))

struct InitializeParams {
  std::optional<ClientCapabilities> client_capabilities;
};
BOOST_DESCRIBE_STRUCT(InitializeParams, (), (client_capabilities))

struct SessionParams {
  SessionId session_id;
  std::string cwd;
  std::optional<std::vector<std::string>> additional_directories;
  std::optional<schema::Json> mcp_servers;
  std::optional<std::vector<schema::Json>> prompt;
  std::string mode_id;
  std::string config_id;
  std::optional<schema::Json> value;
};
BOOST_DESCRIBE_STRUCT(SessionParams, (),
                      (session_id, cwd, additional_directories, mcp_servers, prompt, mode_id,
                       config_id, value))

struct ListParams {
  std::optional<std::string> cwd;
  std::optional<std::string> cursor;
};
BOOST_DESCRIBE_STRUCT(ListParams, (), (cwd, cursor))

struct CancelParams {
  std::optional<schema::Json> request_id;
};
BOOST_DESCRIBE_STRUCT(CancelParams, (), (request_id))

struct EventPage {
  std::vector<schema::Json> data;
};
BOOST_DESCRIBE_STRUCT(EventPage, (), (data))

SessionParams params_of(const EditorMessage& message) {
  SessionParams out;
  schema::Met met;
  (void)schema::read_loosely(message.params.text, out, met);
  return out;
}

std::string list_of(const std::vector<std::string>& objects) {
  return fmt::format("[{}]", fmt::join(objects, ","));
}

std::string_view mode_about(std::string_view mode) {
  if (mode == "default") return "Reads freely, asks before changes";
  if (mode == "untrusted") return "Asks before everything";
  if (mode == "on_request") return "Works in the sandbox, asks to leave it";
  if (mode == "on_failure") return "Works in the sandbox, asks if it stops a command";
  if (mode == "never") return "Never asks: what would need approval fails";
  if (mode == "plan") return "Reads and proposes, changes nothing";
  if (mode == "auto") return "Allows what no rule denies or asks about";
  return "Allows everything that no rule denies";
}

struct UploadReply {
  std::string output_ref;
};
BOOST_DESCRIBE_STRUCT(UploadReply, (), (output_ref))

Result<std::string> upload(const Client& client, const SessionId& session, const PromptPart& part) {
  const std::string target = fmt::format("/v1/outputs?sessionId={}&mediaType={}",
                                         url_escaped(session.text()), url_escaped(part.media_type));
  TRY_ASSIGN(const std::string text, client.ask("POST", target, part.bytes));
  UploadReply reply;
  TRY(schema::from_json(text, reply, schema::Unknown::ignore));
  return std::move(reply.output_ref);
}

int number_of(const Error& error) {
  switch (error.code) {
    case Code::not_found:
      return kAcpNotFound;
    case Code::invalid_params:
    case Code::conflict:
    case Code::forbidden:
      return kAcpInvalidParams;
    default:
      return kAcpInternal;
  }
}

std::string data_of(std::string_view code) {
  return fmt::format(R"({{"code":{}}})", json_text(code));
}

}  // namespace

AcpAgent::AcpAgent(Context& context, Attachment& attachment)
    : context_(context),
      attachment_(attachment),
      editor_([this](EditorMessage message) { take(std::move(message)); }),
      link_(attachment) {
  link_.on_moved([this] { moved(); });
}

// A blocking request, repeated once with the next owner.
template <class Work>
auto AcpAgent::with_owner(Work work) -> decltype(work(std::declval<const Client&>())) {
  auto done = work(attachment_.client());
  if (done || done.error().code != Code::unavailable) return done;
  if (auto renewed = attachment_.renew(); !renewed) return std::unexpected(renewed.error());
  return work(attachment_.client());
}

Result<void> AcpAgent::open() {
  TRY_ASSIGN(const config::Config config, config_of(context_, context_.cwd));
  environment_ = schema::to_json(config::client_environment(config, context_.environment));
  modes_ = config::permitted_modes(config);
  for (const auto& [name, model] : config.models) models_.push_back(name);
  return link_.open();
}

Result<int> AcpAgent::run(Signals& signals) {
  int lend_in = kLendEveryMs;
  while (true) {
    std::array<pollfd, 3> wait{{{STDIN_FILENO, POLLIN, 0},
                                {link_.descriptor(), link_.waits_for(), 0},
                                {signals.descriptor(), POLLIN, 0}}};
    const int ready = ::poll(wait.data(), wait.size(), lend_in);
    if (signals.count() > 0) return kExitInterrupted;
    if (ready == 0)
      for (auto& [id, session] : sessions_) (void)lend_servers(id, session.servers);
    if (wait[0].revents != 0) {
      std::array<char, kReadBytes> bytes;
      const ssize_t size = ::read(STDIN_FILENO, bytes.data(), bytes.size());
      if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN)) return kExitDone;
      if (size > 0) editor_.feed({bytes.data(), static_cast<std::size_t>(size)});
    }
    if (editor_.gone()) return kExitDone;
    TRY(link_.step(wait[1].revents != 0));
  }
}

void AcpAgent::refuse(const EditorMessage& message, const Error& error) {
  if (message.id)
    editor_.refuse(*message.id, number_of(error), error.message, data_of(code_name(error.code)));
}

void AcpAgent::take(EditorMessage message) {
  if (!initialized_ && message.method != "initialize") {
    if (message.id) editor_.refuse(*message.id, kAcpInvalidRequest, "begin with initialize");
    return;
  }
  dispatch(message);
}

void AcpAgent::dispatch(const EditorMessage& message) {
  const std::string& method = *message.method;
  if (method == "session/cancel") return cancel(message);
  if (method == "$/cancel_request") return cancel_request(message);
  if (!message.id) return;
  if (method == "initialize") return initialize(message);
  if (method == "session/new") return new_session(message);
  if (method == "session/load") return reopen(message, Replay::yes);
  if (method == "session/resume") return reopen(message, Replay::no);
  if (method == "session/list") return list_sessions(message);
  if (method == "session/close") return close_session(message);
  if (method == "session/prompt") return prompt(message);
  if (method == "session/set_mode") return set_mode(message);
  if (method == "session/set_config_option") return set_option(message);
  editor_.refuse(*message.id, kAcpNoMethod, fmt::format("there is no method {}", method));
}

void AcpAgent::initialize(const EditorMessage& message) {
  InitializeParams params;
  schema::Met met;
  (void)schema::read_loosely(message.params.text, params, met);
  if (params.client_capabilities && params.client_capabilities->elicitation) {
    forms_ = params.client_capabilities->elicitation->form.has_value();
    urls_ = params.client_capabilities->elicitation->url.has_value();
  }
  initialized_ = true;
  editor_.respond(
      *message.id,
      fmt::format(
          R"({{"protocolVersion":1,"agentCapabilities":{{"loadSession":true,)"
          R"("promptCapabilities":{{"image":true,"audio":false,"embeddedContext":true}},)"
          R"("mcpCapabilities":{{"http":true,"sse":true}},"sessionCapabilities":{{"list":{{}},)"
          R"("resume":{{}},"close":{{}},"additionalDirectories":{{}}}}}},"authMethods":[],)"
          R"("agentInfo":{{"name":"agentrt","title":"agentrt","version":"{}"}}}})",
          AGENTRT_VERSION));
}

// --- sessions ---

std::string AcpAgent::config_options(const Opened& opened) const {
  std::vector<std::string> modes, models;
  for (const std::string& mode : modes_)
    modes.push_back(fmt::format(R"({{"value":"{0}","name":"{0}","description":{1}}})", mode,
                                json_text(mode_about(mode))));
  models.push_back(R"({"value":"","name":"Routing decides"})");
  for (const std::string& model : models_)
    models.push_back(fmt::format(R"({{"value":{0},"name":{0}}})", json_text(model)));
  return fmt::format(
      R"([{{"type":"select","id":"mode","name":"Permission mode","category":"mode",)"
      R"("currentValue":"{}","options":{}}},{{"type":"select","id":"model","name":"Model",)"
      R"("category":"model","currentValue":{},"options":{}}}])",
      opened.mode, list_of(modes), json_text(opened.model), list_of(models));
}

std::string AcpAgent::session_state(const Opened& opened) const {
  std::vector<std::string> modes;
  for (const std::string& mode : modes_)
    modes.push_back(fmt::format(R"({{"id":"{0}","name":"{0}","description":{1}}})", mode,
                                json_text(mode_about(mode))));
  return fmt::format(R"("modes":{{"currentModeId":"{}","availableModes":{}}},"configOptions":{})",
                     opened.mode, list_of(modes), config_options(opened));
}

// The mode of turns in the folder that name none.
Result<void> AcpAgent::learn_folder(Opened& opened, const std::optional<SessionId>& session) {
  schema::GetRules rules;
  rules.session_id = session;
  if (!session) rules.cwd = opened.cwd;
  TRY_ASSIGN(const std::string text, with_owner([&](const Client& client) {
               return client.call("get_rules", schema::to_json(rules));
             }));
  schema::RulesReply reply;
  TRY(schema::from_json(text, reply, schema::Unknown::ignore));
  opened.mode = schema::name_of(reply.mode);
  return {};
}

// The servers stay in the memory of the owner for as long as this process repeats them.
Result<void> AcpAgent::lend_servers(const SessionId& session, const std::string& servers) {
  if (servers.empty()) return {};
  const std::string target =
      fmt::format("/v1/sessions/{}/mcp-servers", url_escaped(session.text()));
  TRY_ASSIGN(const std::string reply,
             with_owner([&](const Client& client) { return client.ask("POST", target, servers); }));
  return {};
}

void AcpAgent::new_session(const EditorMessage& message) {
  const SessionParams params = params_of(message);
  if (!params.cwd.starts_with('/'))
    return editor_.refuse(*message.id, kAcpInvalidParams, "cwd: expected an absolute path");
  schema::CreateSession create;
  create.cwd = params.cwd;
  create.additional_roots = params.additional_directories;
  create.idempotency_key = own_key("acp " + *message.id);
  const auto text = with_owner(
      [&](const Client& client) { return client.call("create_session", schema::to_json(create)); });
  if (!text) return refuse(message, text.error());
  schema::SessionReply reply;
  if (const auto read = schema::from_json(*text, reply, schema::Unknown::ignore); !read)
    return refuse(message, read.error());
  Opened opened;
  opened.cwd = reply.cwd;
  opened.roots = params.additional_directories.value_or(std::vector<std::string>{});
  opened.thread = ThreadId{std::string(kMainThread)};
  opened.updates = std::make_unique<AcpUpdates>(opened.cwd);
  if (params.mcp_servers) opened.servers = params.mcp_servers->text;
  if (opened.servers == "[]") opened.servers.clear();
  if (const auto learned = learn_folder(opened, reply.session_id); !learned)
    return refuse(message, learned.error());
  if (const auto lent = lend_servers(reply.session_id, opened.servers); !lent)
    return refuse(message, lent.error());
  const std::string state = session_state(opened);
  sessions_[reply.session_id] = std::move(opened);
  editor_.respond(*message.id,
                  fmt::format(R"({{"sessionId":"{}",{}}})", reply.session_id.text(), state));
  follow(reply.session_id, reply.sequence);
}

void AcpAgent::reopen(const EditorMessage& message, Replay replays) {
  const SessionParams params = params_of(message);
  const auto known =
      with_owner([&](const Client& client) { return look_up(client, params.session_id); });
  if (!known) return refuse(message, known.error());
  if (!known->exists())
    return editor_.refuse(*message.id, kAcpNotFound,
                          fmt::format("there is no session {}", params.session_id.text()));
  if (known->cwd != params.cwd)
    return editor_.refuse(*message.id, kAcpInvalidParams,
                          fmt::format("cwd: this session works in {}", known->cwd));
  Opened opened;
  opened.cwd = known->cwd;
  opened.thread = thread_to_use(*known);
  opened.updates = std::make_unique<AcpUpdates>(opened.cwd);
  if (params.mcp_servers && params.mcp_servers->text != "[]")
    opened.servers = params.mcp_servers->text;
  auto learned = learn_folder(opened, params.session_id);
  if (learned) learned = lend_servers(params.session_id, opened.servers);
  if (!learned) return refuse(message, learned.error());
  const auto earlier = sessions_.find(params.session_id);
  if (earlier != sessions_.end()) opened.asked = std::move(earlier->second.asked);
  if (earlier != sessions_.end()) opened.prompt = std::move(earlier->second.prompt);
  Opened& kept = sessions_[params.session_id] = std::move(opened);
  Sequence after = known->as_of_sequence;
  if (replays == Replay::yes) {
    const auto replayed = replay(params.session_id, kept, known->as_of_sequence);
    if (!replayed) return refuse(message, replayed.error());
    after = *replayed;
  }
  editor_.respond(*message.id, fmt::format("{{{}}}", session_state(kept)));
  follow(params.session_id, after);
  resume_if_stopped(params.session_id, kept);
  ask_open(params.session_id);
}

// Shows the whole conversation, page by page. Gives the last sequence.
Result<Sequence> AcpAgent::replay(const SessionId& session, Opened& opened, Sequence until) {
  Sequence after = 0;
  while (after < until) {
    schema::ListEvents list;
    list.session_id = session;
    list.after = after;
    list.limit = kPage;
    TRY_ASSIGN(const std::string text, with_owner([&](const Client& client) {
                 return client.call("list_events", schema::to_json(list));
               }));
    EventPage page;
    TRY(schema::from_json(text, page, schema::Unknown::ignore));
    if (page.data.empty()) break;
    for (const schema::Json& row : page.data) {
      TRY_ASSIGN(const Envelope event, read_envelope(row.text));
      if (event.sequence > until) return until;
      for (const std::string& each : opened.updates->take(event)) update(session, each);
      after = event.sequence;
    }
  }
  return after;
}

void AcpAgent::list_sessions(const EditorMessage& message) {
  ListParams params;
  schema::Met met;
  (void)schema::read_loosely(message.params.text, params, met);
  schema::ListSessions list;
  list.cursor = params.cursor;
  list.limit = 100;
  const auto text = with_owner(
      [&](const Client& client) { return client.call("list_sessions", schema::to_json(list)); });
  if (!text) return refuse(message, text.error());
  const auto page = read_list(*text);
  if (!page) return refuse(message, page.error());
  std::vector<std::string> rows;
  for (const schema::Json& row : page->data) {
    schema::SessionSummary session;
    if (!schema::from_json(row.text, session, schema::Unknown::ignore)) continue;
    if (params.cwd && session.cwd != *params.cwd) continue;
    const std::string title = session.title ? *session.title : session.preview.value_or("");
    rows.push_back(fmt::format(R"({{"sessionId":"{}","cwd":{},"title":{},"updatedAt":"{}"}})",
                               session.session_id.text(), json_text(session.cwd), json_text(title),
                               format(session.updated_at)));
  }
  const std::string next =
      page->next_cursor ? fmt::format(R"(,"nextCursor":{})", json_text(*page->next_cursor)) : "";
  editor_.respond(*message.id, fmt::format(R"({{"sessions":{}{}}})", list_of(rows), next));
}

AcpAgent::Opened* AcpAgent::opened(const EditorMessage& message, const SessionId& session) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) return &found->second;
  if (message.id)
    editor_.refuse(*message.id, kAcpNotFound,
                   fmt::format("the session {} is not open; send session/load", session.text()));
  return nullptr;
}

void AcpAgent::close_session(const EditorMessage& message) {
  const SessionId session = params_of(message).session_id;
  Opened* const found = opened(message, session);
  if (!found) return;
  schema::InterruptTurn interrupt;
  interrupt.session_id = session;
  interrupt.thread_id = found->thread;
  interrupt.reason = "the editor closed the session";
  if (found->prompt)
    (void)with_owner([&](const Client& client) {
      return client.call("interrupt_turn", schema::to_json(interrupt));
    });
  if (found->prompt) editor_.respond(found->prompt->request, R"({"stopReason":"cancelled"})");
  for (const auto& [action, request] : found->asked) editor_.withdraw(request);
  link_.unfollow(session);
  sessions_.erase(session);
  editor_.respond(*message.id, "{}");
}

// --- modes and options ---

void AcpAgent::set_mode(const EditorMessage& message) {
  const SessionParams params = params_of(message);
  Opened* const found = opened(message, params.session_id);
  if (!found) return;
  if (std::ranges::find(modes_, params.mode_id) == modes_.end())
    return editor_.refuse(*message.id, kAcpInvalidParams,
                          fmt::format("modeId: expected one of {}", fmt::join(modes_, ", ")));
  found->mode = params.mode_id;
  update(params.session_id, fmt::format(R"({{"sessionUpdate":"config_option_update",)"
                                        R"("configOptions":{}}})",
                                        config_options(*found)));
  editor_.respond(*message.id, "{}");
}

void AcpAgent::set_option(const EditorMessage& message) {
  const SessionParams params = params_of(message);
  Opened* const found = opened(message, params.session_id);
  if (!found) return;
  const bool text = params.value && params.value->text.starts_with('"');
  const std::string value =
      text ? schema::unescaped(
                 std::string_view(params.value->text).substr(1, params.value->text.size() - 2))
           : std::string();
  const bool mode = params.config_id == "mode";
  const bool known =
      mode ? std::ranges::find(modes_, value) != modes_.end()
           : params.config_id == "model" &&
                 (value.empty() || std::ranges::find(models_, value) != models_.end());
  if (!text || !known)
    return editor_.refuse(*message.id, kAcpInvalidParams,
                          "configId and value: expected an option and one of its values");
  (mode ? found->mode : found->model) = value;
  if (mode)
    update(params.session_id,
           fmt::format(R"({{"sessionUpdate":"current_mode_update","currentModeId":"{}"}})", value));
  editor_.respond(*message.id, fmt::format(R"({{"configOptions":{}}})", config_options(*found)));
}

void AcpAgent::update(const SessionId& session, std::string_view update) {
  editor_.notify("session/update",
                 fmt::format(R"({{"sessionId":"{}","update":{}}})", session.text(), update));
}

// --- prompts ---

void AcpAgent::prompt(const EditorMessage& message) {
  const SessionParams params = params_of(message);
  Opened* const found = opened(message, params.session_id);
  if (!found) return;
  if (found->prompt)
    return editor_.refuse(*message.id, kAcpInvalidRequest,
                          "a prompt of this session is running; cancel it first");
  const TurnId turn = fresh_turn_id();
  found->updates->own_turn(turn);
  found->prompt = Prompt{*message.id, turn};
  const auto submitted =
      submit(params.session_id, *found, params.prompt.value_or(std::vector<schema::Json>{}), turn);
  if (submitted) return;
  found->prompt.reset();
  refuse(message, submitted.error());
}

Result<void> AcpAgent::submit(const SessionId& session, Opened& opened,
                              const std::vector<schema::Json>& blocks, const TurnId& turn) {
  TRY_ASSIGN(std::vector<PromptPart> parts, read_blocks(blocks));
  schema::SubmitTurn submit;
  submit.session_id = session;
  submit.thread_id = opened.thread;
  submit.turn_id = turn;
  schema::TurnOptions& options = submit.options.emplace();
  options.mode = schema::enum_of<schema::PermissionMode>(opened.mode);
  if (!opened.model.empty()) options.model = opened.model;
  options.interactive = true;
  for (PromptPart& part : parts) {
    if (part.media_type.empty()) {
      submit.input.push_back({.type = schema::InputKind::text, .text = part.text, .path = {}});
      continue;
    }
    TRY_ASSIGN(const std::string ref,
               with_owner([&](const Client& client) { return upload(client, session, part); }));
    submit.input.push_back({.type = schema::InputKind::output, .text = {}, .path = {}, .ref = ref});
  }
  TRY(with_owner([&](const Client& client) -> Result<void> {
    TRY(send_environment(client, turn, environment_));
    TRY_ASSIGN(const std::string reply, client.call("submit_turn", schema::to_json(submit)));
    return {};
  }));
  return {};
}

void AcpAgent::cancel(const EditorMessage& message) {
  const SessionId session = params_of(message).session_id;
  const auto found = sessions_.find(session);
  if (found == sessions_.end() || !found->second.prompt) return;
  schema::InterruptTurn interrupt;
  interrupt.session_id = session;
  interrupt.turn_id = found->second.prompt->turn;
  interrupt.idempotency_key = own_key("acp cancel " + found->second.prompt->turn.text());
  link_.call("interrupt_turn", schema::to_json(interrupt), [](Result<schema::Json>) {});
}

// Of our requests, only a prompt can be cancelled.
void AcpAgent::cancel_request(const EditorMessage& message) {
  CancelParams params;
  schema::Met met;
  if (!schema::read_loosely(message.params.text, params, met) || !params.request_id) return;
  for (const auto& [session, opened] : sessions_)
    if (opened.prompt && opened.prompt->request == params.request_id->text)
      return cancel({{}, {}, {fmt::format(R"({{"sessionId":"{}"}})", session.text())}});
}

// --- events ---

void AcpAgent::follow(const SessionId& session, Sequence after) {
  link_.follow(session, after,
               [this, session](const std::string& text) { on_event(session, text); });
}

void AcpAgent::on_event(const SessionId& session, const std::string& text) {
  const auto found = sessions_.find(session);
  const auto event = read_envelope(text);
  if (found == sessions_.end() || !event) return;
  Opened& opened = found->second;
  for (const std::string& each : opened.updates->take(*event)) update(session, each);
  if (event->type == schema::ActionRequired::kType) {
    schema::ActionRequired required;
    if (schema::from_json(event->payload.text, required, schema::Unknown::ignore))
      ask(session, opened, event->action_id, event->tool_call_id, required);
  }
  if (event->type == schema::ActionResolved::kType)
    if (const auto asked = opened.asked.extract(event->action_id)) editor_.withdraw(asked.mapped());
  if (event->type == schema::TurnCompleted::kType || event->type == schema::TurnFailed::kType)
    end_prompt(opened, *event);
}

void AcpAgent::end_prompt(Opened& opened, const Envelope& event) {
  if (!opened.prompt || opened.prompt->turn != event.turn_id) return;
  const std::string request = std::exchange(opened.prompt, std::nullopt)->request;
  const auto stop = [&](std::string_view reason) {
    editor_.respond(request, fmt::format(R"({{"stopReason":"{}"}})", reason));
  };
  if (event.type == schema::TurnCompleted::kType) {
    schema::TurnCompleted completed;
    (void)schema::from_json(event.payload.text, completed, schema::Unknown::ignore);
    if (completed.stop_reason == schema::StopReason::max_tokens) return stop("max_tokens");
    if (completed.stop_reason == schema::StopReason::content_filter) return stop("refusal");
    return stop("end_turn");
  }
  schema::TurnFailed failed;
  (void)schema::from_json(event.payload.text, failed, schema::Unknown::ignore);
  if (failed.status == schema::Status::cancelled) return stop("cancelled");
  const std::string why = failed.error ? failed.error->message : failed.reason;
  // The only limit that ends a turn of its own.
  if (why.contains("limits.turn_steps")) return stop("max_turn_requests");
  editor_.refuse(request, kAcpInternal, why.empty() ? "the turn failed" : why,
                 data_of(failed.error ? schema::name_of(failed.error->category) : "internal"));
}

// A turn that a restart stopped continues, because the editor is there again.
void AcpAgent::resume_if_stopped(const SessionId& session, Opened& opened) {
  const auto open =
      with_owner([&](const Client& client) { return open_turn(client, session, opened.thread); });
  if (!open || !*open || !(*open)->resumable) return;
  (void)with_owner([&](const Client& client) -> Result<void> {
    TRY(send_environment(client, (*open)->turn.turn, environment_));
    return resume(client, (*open)->turn);
  });
}

void AcpAgent::moved() {
  for (auto& [session, opened] : sessions_) {
    (void)lend_servers(session, opened.servers);
    if (opened.prompt) resume_if_stopped(session, opened);
    ask_open(session);
  }
}

}  // namespace agentrt::cli
