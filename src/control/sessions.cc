// control/sessions.cc: decides the creation and update of sessions.
#include <fmt/format.h>

#include "control/folders.h"
#include "control/turn_facts.h"
#include "policy/folders.h"

namespace agentrt::control {

using namespace schema;

namespace {

std::optional<Error> wrong_metadata(const std::optional<Json>& metadata) {
  if (metadata && !metadata->text.starts_with('{'))
    return Error{Code::invalid_params, "metadata: expected an object", {}};
  return std::nullopt;
}

}  // namespace

Decided create_session(const Session& view, const CreateSession& command, Inputs inputs) {
  const FolderChoice asked{command.cwd,
                           command.additional_roots.value_or(std::vector<std::string>{})};
  if (auto error = policy::wrong_folders("", asked)) return *error;
  if (auto error = wrong_metadata(command.metadata)) return *error;
  FolderChoice folders = folders_of_new(asked, inputs);
  SessionReply reply{.session_id = inputs.session,
                     .title = command.title,
                     .cwd = *folders.cwd,
                     .archived = false,
                     .sequence = 1};
  if (view.exists()) {
    reply.cwd = view.cwd;  // the default may have changed since the session was created
    if (view.params_hash == inputs.params_hash) return Unchanged{to_json(reply)};
    return refuse(Code::idempotency_conflict,
                  fmt::format("session {} already exists and was created with other params",
                              inputs.session.text()));
  }
  if (auto error = wrong_folders(view, "", asked, inputs)) return *error;
  Facts facts{view, inputs};
  SessionCreated created{.title = command.title, .cwd = reply.cwd, .metadata = command.metadata};
  if (command.additional_roots) created.additional_roots = std::move(folders.additional_roots);
  if (command.session_id) created.params_hash = inputs.params_hash;
  facts.add(facts.of_session(), std::move(created));
  return accept(facts, std::move(reply));
}

Decided update_session(const Session& view, const UpdateSession& command, Inputs inputs) {
  if (!view.exists())
    return refuse(Code::not_found, fmt::format("there is no session {}", inputs.session.text()));
  if (auto error = wrong_metadata(command.metadata)) return *error;
  if (!command.title && !command.metadata && !command.archived)
    return refuse(Code::invalid_params, "nothing to change: give title, metadata or archived");
  if (command.archived.value_or(false) && !view.processes.empty())
    return refuse(
        Code::conflict,
        fmt::format(
            "the session has {} background processes: end them with terminate_process first",
            view.processes.size()));
  Facts facts{view, inputs};
  facts.add(facts.of_session(), SessionUpdated{.title = command.title,
                                               .metadata = command.metadata,
                                               .archived = command.archived});
  return accept(facts, SessionReply{.session_id = view.id,
                                    .title = command.title ? command.title : view.title,
                                    .cwd = view.cwd,
                                    .archived = command.archived.value_or(view.archived),
                                    .sequence = 0});
}

}  // namespace agentrt::control
