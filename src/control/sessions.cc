// control/sessions.cc: making and changing sessions.
#include <fmt/format.h>

#include "control/turn_facts.h"

namespace agentrt::control {

using namespace schema;

namespace {

std::optional<Error> wrong_workspace(const std::optional<std::string>& cwd) {
  if (cwd && !cwd->starts_with('/'))
    return Error{Code::invalid_params, "cwd: expected an absolute path", {}};
  return std::nullopt;
}

std::optional<Error> wrong_metadata(const std::optional<Json>& metadata) {
  if (metadata && !metadata->text.starts_with('{'))
    return Error{Code::invalid_params, "metadata: expected an object", {}};
  return std::nullopt;
}

}  // namespace

Decision create_session(const Session& view, const CreateSession& command, Inputs inputs) {
  if (auto error = wrong_workspace(command.cwd)) return *error;
  if (auto error = wrong_metadata(command.metadata)) return *error;
  SessionReply reply{.session_id = inputs.session,
                     .title = command.title,
                     .cwd = command.cwd.value_or(inputs.settings->default_cwd),
                     .archived = false,
                     .sequence = 1};
  if (view.exists()) {
    reply.cwd = view.cwd;  // the default may have changed since
    if (view.params_hash == inputs.params_hash) return Unchanged{to_json(reply)};
    return refuse(Code::idempotency_conflict,
                  fmt::format("session {} exists already and was made with other params",
                              inputs.session.text()));
  }
  Facts facts{view, inputs};
  SessionCreated created{.title = command.title,
                         .cwd = reply.cwd,
                         .additional_roots = command.additional_roots,
                         .metadata = command.metadata};
  if (command.session_id) created.params_hash = inputs.params_hash;
  facts.add(facts.of_session(), std::move(created));
  return accept(facts, std::move(reply));
}

Decision update_session(const Session& view, const UpdateSession& command, Inputs inputs) {
  if (!view.exists())
    return refuse(Code::not_found, fmt::format("there is no session {}", inputs.session.text()));
  if (auto error = wrong_metadata(command.metadata)) return *error;
  if (!command.title && !command.metadata && !command.archived)
    return refuse(Code::invalid_params, "nothing to change: give title, metadata or archived");
  if (command.archived.value_or(false) && !view.processes.empty())
    return refuse(Code::conflict,
                  fmt::format("{} commands of this session run in the background: end them with "
                              "terminate_process first",
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
