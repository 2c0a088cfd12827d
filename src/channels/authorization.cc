#include "channels/authorization.h"

#include <fmt/format.h>

#include "policy/laxity.h"
#include "schema/admission.h"

namespace agentrt::channels {
namespace {

ports::Caller caller_of(const Identity& identity, RequestOrigin origin) {
  return {.principal = identity.id,
          .request = std::move(origin.request),
          .trace = std::move(origin.trace),
          .folders = {.any = identity.allows(TokenScope::approve),
                      .bound = identity.session.has_value(),
                      .folder = identity.folder,
                      .started_in = std::move(origin.folder)},
          .session = identity.session,
          .sender = {.account = identity.id,
                     .transport = origin.transport,
                     .submits = identity.allows(TokenScope::submit),
                     .approves = identity.allows(TokenScope::approve),
                     .administers = identity.allows(TokenScope::admin),
                     .adapter = origin.adapter},
          .channel = std::move(origin.channel),
          .channels = std::move(origin.connection)};
}

// Whether a turn's mode or sandbox allows what other turns must ask for; that needs scope approve.
bool approves_in_advance(const schema::Command& command) {
  if (const auto* job = std::get_if<schema::CreateJob>(&command)) {
    schema::TurnOptions options;
    if (job->options) {
      options.mode = job->options->mode;
      options.sandbox = job->options->sandbox;
    }
    return policy::approves_in_advance(options);
  }
  if (const auto* spawn = std::get_if<schema::SpawnSubagent>(&command)) {
    schema::TurnOptions options;
    options.mode = spawn->mode;
    options.sandbox = spawn->sandbox;
    return policy::approves_in_advance(options);
  }
  const auto* submit = std::get_if<schema::SubmitTurn>(&command);
  return submit && submit->options && policy::approves_in_advance(*submit->options);
}

// `touched`: the session that the request concerns; absent if it may concern several.
Result<void> check_session(const Identity& identity, const std::optional<SessionId>& touched) {
  if (!identity.session || touched == identity.session) return {};
  return fail(Code::forbidden,
              touched
                  ? "the token is bound to another session"
                  : "the token is bound to one session: name that session, or use another token");
}

// A read of one object by its id. With a bound token it finds only objects of the token's session.
template <class C>
void look_only_in(const SessionId& session, schema::Command& command) {
  if (auto* read = std::get_if<C>(&command); read && !read->session_id) read->session_id = session;
}

Result<void> check_binding(const Identity& identity, const schema::Command& command) {
  if (!identity.session) return {};
  const std::optional<SessionId> named = schema::session_of(command);
  if (!named && schema::plan_admission(command).object) return {};
  return check_session(identity, named);
}

}  // namespace

Result<void> Authorization::check_scope(const Identity* identity, TokenScope scope,
                                        std::string_view what) {
  if (!identity)
    return fail(Code::unauthenticated,
                "a valid token is needed: over HTTP send Authorization: Bearer TOKEN; the first "
                "token is in DATA/token");
  if (!identity->allows(scope))
    return fail(Code::forbidden,
                fmt::format("{} needs a token with scope {}", what, schema::name_of(scope)));
  return {};
}

Result<ports::Authorized<schema::Command>> Authorization::command(const Identity* identity,
                                                                  schema::Command command,
                                                                  RequestOrigin origin) {
  const schema::CommandTraits& traits = schema::traits_of(command);
  TRY(check_scope(identity, traits.scope, traits.name));
  if (approves_in_advance(command) && !identity->allows(TokenScope::approve))
    return fail(Code::forbidden,
                "work with this mode or sandbox needs a token with scope approve, because it "
                "runs calls that otherwise need approval");
  if (identity->session) {
    look_only_in<schema::GetTask>(*identity->session, command);
    look_only_in<schema::GetJob>(*identity->session, command);
    look_only_in<schema::GetTurn>(*identity->session, command);
    look_only_in<schema::FindObject>(*identity->session, command);
  }
  TRY(check_binding(*identity, command));
  return ports::Authorized(std::move(command), caller_of(*identity, std::move(origin)));
}

Result<ports::Authorized<StreamStart>> Authorization::events(const Identity* identity,
                                                             StreamStart start) {
  TRY(check_scope(identity, TokenScope::read));
  TRY(check_session(*identity, start.session));
  return ports::Authorized(std::move(start), caller_of(*identity, {}));
}

Result<ports::Authorized<OutputQuery>> Authorization::output(const Identity* identity,
                                                             OutputQuery query) {
  TRY(check_scope(identity, TokenScope::read));
  return ports::Authorized(std::move(query), caller_of(*identity, {}));
}

Result<ports::Authorized<NewUpload>> Authorization::upload(const Identity* identity,
                                                           NewUpload upload, RequestOrigin origin) {
  TRY(check_scope(identity, TokenScope::submit));
  TRY(check_session(*identity, upload.session));
  return ports::Authorized(std::move(upload), caller_of(*identity, std::move(origin)));
}

}  // namespace agentrt::channels
