// Signing in and out of the page. Like token_handlers.cc, these sync a small file on the network
// thread.
#include <fmt/format.h>

#include "channels/handlers/handlers.h"

namespace agentrt::channels {
namespace {

struct CodeParams {
  std::optional<std::vector<TokenScope>> scopes;
};
BOOST_DESCRIBE_STRUCT(CodeParams, (), (scopes))

struct CodeReply {
  std::string code;
  std::vector<TokenScope> scopes;
  Timestamp expires_at;
};
BOOST_DESCRIBE_STRUCT(CodeReply, (), (code, scopes, expires_at))

struct LoginParams {
  std::string code;
};
BOOST_DESCRIBE_STRUCT(LoginParams, (), (code))

struct LoginReply {
  std::string token;
  TokenId token_id;
  std::vector<TokenScope> scopes;
  std::optional<SessionId> session_id;
  std::optional<Timestamp> expires_at;
};
BOOST_DESCRIBE_STRUCT(LoginReply, (), (token, token_id, scopes, session_id, expires_at))

// A token as its own holder sees it.
struct OwnToken {
  TokenId token_id;
  std::vector<TokenScope> scopes;
  std::optional<SessionId> session_id;
  std::optional<std::string> name;
  std::optional<Timestamp> expires_at;
};
BOOST_DESCRIBE_STRUCT(OwnToken, (), (token_id, scopes, session_id, name, expires_at))

template <class Params>
Result<Params> read_params(const std::string& body) {
  Params params;
  TRY(schema::check_json(body));
  TRY(schema::from_json(body, params, schema::Unknown::refuse));
  return params;
}

Result<std::string> issue(Services& services, const Exchange& exchange) {
  TRY_ASSIGN(const CodeParams params, read_params<CodeParams>(exchange.request.body));
  TRY_ASSIGN(LoginCodes::Issued issued,
             services.logins.issue(*exchange.identity, params.scopes, Clock::now()));
  return schema::to_json(
      CodeReply{std::move(issued.code), std::move(issued.scopes), issued.expires_at});
}

Result<std::string> log_in(Services& services, const Exchange& exchange) {
  TRY_ASSIGN(const LoginParams params, read_params<LoginParams>(exchange.request.body));
  TRY_ASSIGN(Tokens::Created created, services.logins.redeem(params.code, Clock::now()));
  TokenView& view = created.view;
  return schema::to_json(LoginReply{std::move(created.token), view.token_id, view.scopes,
                                    view.session_id, view.expires_at});
}

// The token may have been revoked since its request was checked.
Result<std::string> own_token(const Services& services, const Exchange& exchange) {
  auto view = services.tokens.find_id(exchange.identity->id);
  if (!view) return fail(Code::unauthenticated, "this token is no longer valid");
  return schema::to_json(OwnToken{view->token_id, std::move(view->scopes), view->session_id,
                                  std::move(view->name), view->expires_at});
}

Result<std::string> log_out(Services& services, const Exchange& exchange) {
  TRY_ASSIGN(const TokenView view, services.tokens.revoke(exchange.identity->id));
  return schema::to_json(view);
}

}  // namespace

void post_login_code(Services& services, const ExchangePtr& exchange) {
  exchange->respond(reply_response(issue(services, *exchange)));
}

void post_login(Services& services, const ExchangePtr& exchange) {
  exchange->respond(reply_response(log_in(services, *exchange)));
}

void get_own_token(Services& services, const ExchangePtr& exchange) {
  exchange->respond(reply_response(own_token(services, *exchange)));
}

void delete_own_token(Services& services, const ExchangePtr& exchange) {
  exchange->respond(reply_response(log_out(services, *exchange)));
}

}  // namespace agentrt::channels
