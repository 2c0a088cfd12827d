#include <fmt/format.h>

#include "channels/handlers/handlers.h"

// Creating and revoking a token syncs a small file on the network thread. This is rare, and the
// reply must follow the sync.
namespace agentrt::channels {
namespace {

Result<NewToken> read_wanted(const std::string& body) {
  NewToken wanted;
  TRY(schema::check_json(body));
  TRY(schema::from_json(body, wanted, schema::Unknown::refuse));
  return wanted;
}

Result<std::string> create(Tokens& tokens, const std::string& body) {
  TRY_ASSIGN(const NewToken wanted, read_wanted(body));
  TRY_ASSIGN(const Tokens::Created created, tokens.create(wanted));
  std::string out = fmt::format(R"({{"token":"{}",)", created.token);
  schema::write_members(out, created.view);
  return out + "}";
}

}  // namespace

void post_token(Services& services, const ExchangePtr& exchange) {
  exchange->respond(reply_response(create(services.tokens, exchange->request.body)));
}

void get_tokens(Services& services, const ExchangePtr& exchange) {
  Response response;
  response.body = fmt::format(R"({{"data":{}}})", schema::to_json(services.tokens.list()));
  exchange->respond(std::move(response));
}

void delete_token(Services& services, const ExchangePtr& exchange) {
  const auto revoked = services.tokens.revoke(exchange->request.ids[0]);
  if (!revoked) return exchange->respond(error_response(revoked.error()));
  exchange->respond(reply_response(schema::to_json(*revoked)));
}

}  // namespace agentrt::channels
