#include "cli/chat/opened_session.h"

#include <fmt/format.h>

#include "cli/decisions/folder_mode.h"
#include "cli/sessions/event_pages.h"
#include "cli/turns/checks.h"
#include "config/client_environment.h"
#include "schema/commands.h"
#include "schema/text_limits.h"

namespace agentrt::cli {

Result<ChatFolder> enter_folder(const Context& context, const Attachment& attachment,
                                std::string cwd, config::Config config,
                                const std::optional<std::string>& model) {
  // A remote runtime uses its own models, files and environment.
  if (attachment.remote()) return ChatFolder{std::move(cwd), std::move(config)};
  TRY(use_folder(context, attachment.client(), cwd, model, config));
  // `serve` may have models of its own.
  if (attachment.owner().kind == runtime::OwnerKind::background)
    TRY(check_models(context, config, model));
  ChatFolder folder{std::move(cwd), std::move(config)};
  folder.environment =
      schema::to_json(config::client_environment(folder.config, context.environment));
  return folder;
}

Result<OpenedSession> read_session(const Context& context, const Attachment& attachment,
                                   const SessionId& session, const ChatFolder& folder,
                                   const std::optional<std::string>& model) {
  const Client& client = attachment.client();
  schema::GetSession params;
  params.session_id = session;
  params.limit = schema::kListSizeMax;
  TRY_ASSIGN(const std::string reply, client.call("get_session", schema::to_json(params)));
  OpenedSession opened;
  TRY(schema::from_json(reply, opened.session, schema::Unknown::ignore));
  const std::string& cwd = opened.session.cwd;
  if (cwd == folder.cwd) return opened;
  auto entered = enter_folder(context, attachment, cwd, folder.config, model);
  if (!entered && model) {
    entered = enter_folder(context, attachment, cwd, folder.config, std::nullopt);
    opened.model_missing = true;
  }
  TRY_ASSIGN(opened.folder, std::move(entered));
  if (!attachment.remote()) {
    TRY_ASSIGN(opened.lacks_mode, lacks_folder_mode(client, cwd));
  }
  return opened;
}

Result<bool> read_on(const Client& client, Recall& recall) {
  schema::ListEvents params;
  params.session_id = recall.session;
  params.limit = Recall::kPageEvents;
  params.types = Conversation::recalled_types();
  params.after = recall.after;
  TRY_ASSIGN(const EventPage page, read_events(client, params));
  for (const Envelope& event : page.events) {
    if (event.sequence > recall.last) return false;
    recall.conversation.recall(event);
  }
  if (!page.next || *page.next >= recall.last) return false;
  recall.after = *page.next;
  return true;
}

Result<std::string> read_call_output(const Client& client, const SessionId& session,
                                     Sequence ended) {
  schema::ListEvents params;
  params.session_id = session;
  params.limit = 1;
  params.after = ended - 1;
  TRY_ASSIGN(const EventPage page, read_events(client, params));
  if (page.events.empty()) return fail(Code::not_found, "The call is not in the log any more.");
  const Envelope& event = page.events.front();
  TRY_ASSIGN(const schema::Payload payload, schema::read_payload(event.type, event.payload.text));
  std::string preview;
  std::vector<std::string> refs;
  if (const auto* result = std::get_if<schema::ToolResult>(&payload)) {
    preview = result->preview.value_or("");
    if (result->output_ref) refs.push_back(*result->output_ref);
  } else if (const auto* failed = std::get_if<schema::ToolFailed>(&payload)) {
    preview = failed->preview.value_or(failed->error.message);
    refs = failed->output_refs.value_or(refs);
  }
  if (refs.empty()) return preview;
  std::string text;
  for (const std::string& ref : refs) {
    const auto stored = client.ask("GET", "/v1/outputs/" + url_escaped(ref), "");
    if (!stored && stored.error().code == Code::unavailable) return std::unexpected(stored.error());
    // It may have been deleted: outputs are kept for a limited time.
    text += stored ? *stored : fmt::format("{}\n[{}]\n", preview, stored.error().message);
  }
  return text;
}

}  // namespace agentrt::cli
