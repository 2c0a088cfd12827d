// Tokens of logins: which one a request gets, and their renewal. logging_in.cc makes and ends
// logins.
#include "adapters/mcp/login/logins.h"

#include <algorithm>

#include <fmt/format.h>

#include "adapters/mcp/remedy.h"
#include "base/private_file.h"

namespace agentrt::adapters {
namespace {

constexpr std::size_t kKeyBytesMax = 64 * 1024;

std::string key_url(const McpHttp& server) {
  const auto url = parse_url(server.url);
  return url ? canonical_url(*url) : server.url;
}

bool usable(const StoredLogin& login, Timestamp now) {
  return login.tokens && (!login.tokens->expires_at || *login.tokens->expires_at > now);
}

std::vector<std::string> granted(const StoredLogin& login) {
  return login.tokens && login.tokens->scopes ? *login.tokens->scopes : login.requested;
}

}  // namespace

Result<Challenged> challenged_by(const HttpHead& head, const Url& server) {
  Challenged out;
  TRY_ASSIGN(out.challenge, read_challenge(head.www_authenticate));
  out.reach = names_loopback(server) ? Reach::loopback : reach_of_text(head.peer);
  return out;
}

Result<std::optional<SigningKey>> signing_key_of(const McpOauth& oauth) {
  if (!oauth.private_key_file) return std::nullopt;
  TRY_ASSIGN(auto text,
             read_private_file(*oauth.private_key_file, kKeyBytesMax, WiderMode::refuse));
  if (!text)
    return fail(Code::unavailable,
                fmt::format("the private key {} does not exist", *oauth.private_key_file));
  return SigningKey{*std::move(text), oauth.algorithm};
}

// Authorizes the requests of one connection.
class McpLogins::OfServer final : public McpAuthorization {
 public:
  OfServer(McpLogins& logins, McpServer server) : logins_(logins), server_(std::move(server)) {}

  void token(TokenTo then) override { logins_.token(server_, guarded(std::move(then))); }
  void refused(const std::string& used, const HttpHead& head, TokenTo then) override {
    logins_.refused(server_, used, head, guarded(std::move(then)));
  }
  Error rejected() override {
    return logins_.login_needed(server_, "it refuses the token of its login");
  }
  std::optional<Error> lacking(const HttpHead& head) override {
    return logins_.lacking(server_, head);
  }

 private:
  TokenTo guarded(TokenTo then) {
    return [here = std::weak_ptr(here_),
            then = std::move(then)](Result<std::optional<std::string>> token) mutable {
      if (!here.expired()) then(std::move(token));
    };
  }

  McpLogins& logins_;
  const McpServer server_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

McpLogins::McpLogins(Parts parts)
    : parts_(std::move(parts)), asker_(parts_.loop, parts_.streams), files_(parts_.folder) {
  LoginFiles::Read read = files_.read();
  problems_ = std::move(read.problems);
  for (StoredLogin& login : read.logins) {
    keep_secret(login);
    Key key{login.server, login.issuer};
    live_[std::move(key)].login = std::move(login);
  }
}

McpLogins::~McpLogins() {
  for (auto& [id, waiting] : waiting_) parts_.loop.cancel(waiting.timer);
}

std::unique_ptr<McpAuthorization> McpLogins::authorization_of(const McpServer& server) {
  return std::make_unique<OfServer>(*this, server);
}

const McpLogins::Live* McpLogins::find(const McpHttp& server) const {
  const McpOauth& oauth = *server.oauth;
  const bool own = oauth.grant == OauthGrant::client_credentials;
  const Live* best = nullptr;
  for (const auto& [key, live] : live_) {
    if (key.first != key_url(server) || live.stored == own) continue;
    if (own && live.login.client.id != oauth.client_id) continue;
    if (oauth.authorization_server && live.login.issuer != *oauth.authorization_server) continue;
    const bool better = !best || (live.login.tokens && !best->login.tokens) ||
                        (live.login.tokens.has_value() == best->login.tokens.has_value() &&
                         live.login.updated_at > best->login.updated_at);
    if (better) best = &live;
  }
  return best;
}

McpLogins::Live* McpLogins::find(const McpHttp& server) {
  return const_cast<Live*>(std::as_const(*this).find(server));
}

std::optional<LoginView> McpLogins::view_of(const McpHttp& server) const {
  const Live* const live = server.oauth ? find(server) : nullptr;
  if (!live) return std::nullopt;
  LoginView out;
  out.issuer = live->login.issuer;
  out.scopes = granted(live->login);
  if (live->login.tokens) out.expires_at = live->login.tokens->expires_at;
  out.renewable = renewable(*live);
  out.valid = live->login.tokens && (out.renewable || usable(live->login, parts_.loop.now()));
  out.redirect_uri = live->login.client.redirect_uri;
  return out;
}

bool McpLogins::needs_login(const McpHttp& server) const {
  return needing_.contains(key_url(server));
}

bool McpLogins::renewable(const Live& live) const {
  return !live.stored || (live.login.tokens && live.login.tokens->refresh_token);
}

Error McpLogins::login_needed(const McpServer& server, std::string why) {
  const auto& http = std::get<McpHttp>(server.way);
  if (http.oauth->grant == OauthGrant::client_credentials)
    return {Code::unauthenticated,
            fmt::format("{}; check client_id and its secret or key in the oauth section", why),
            {}};
  needing_.insert(key_url(http));
  return with_remedy(Code::unauthenticated, std::move(why),
                     fmt::format("run `agentrt mcp login {}`", server.name));
}

void McpLogins::token(const McpServer& server, TokenTo then) {
  const Live* const live = find(std::get<McpHttp>(server.way));
  if (!live || !live->login.tokens) return then(std::nullopt);
  const OauthTokens& tokens = *live->login.tokens;
  const Timestamp now = parts_.loop.now();
  const bool due = tokens.expires_at && *tokens.expires_at <= now + kRenewBeforeMs;
  if (!due || (!renewable(*live) && usable(live->login, now))) return then(tokens.access_token);
  if (!renewable(*live)) return then(std::nullopt);
  // A token that is about to expire is better than none while its issuer cannot be reached.
  std::optional<std::string> last;
  if (usable(live->login, now)) last = tokens.access_token;
  renew(server, {live->login.server, live->stored ? live->login.issuer : live->login.client.id},
        [last, then = std::move(then)](Result<std::optional<std::string>> fresh) mutable {
          if (!fresh && fresh.error().code == Code::unavailable && last) return then(last);
          then(std::move(fresh));
        });
}

void McpLogins::refused(const McpServer& server, const std::string& used, const HttpHead& head,
                        TokenTo then) {
  const auto& http = std::get<McpHttp>(server.way);
  const auto url = parse_url(http.url);
  auto by = url ? challenged_by(head, *url)
                : Result<Challenged>(fail(Code::invalid_params, "has no valid url"));
  if (!by) return then(fail(Code::unavailable, "it " + by.error().message));
  const Live* const live = find(http);
  const bool has_tokens = live && live->login.tokens;
  if (!has_tokens && http.oauth->grant == OauthGrant::client_credentials)
    return obtain(server, *by, std::move(then));
  if (!has_tokens) return then(std::unexpected(login_needed(server, "it needs a login")));
  if (live->login.tokens->access_token != used) return then(live->login.tokens->access_token);
  if (!renewable(*live))
    return then(std::unexpected(login_needed(server, "it refuses the token of its login")));
  renew(server, {live->login.server, live->stored ? live->login.issuer : live->login.client.id},
        std::move(then));
}

// Remembers the scopes, so that the next login requests them too.
std::optional<Error> McpLogins::lacking(const McpServer& server, const HttpHead& head) {
  const auto& http = std::get<McpHttp>(server.way);
  const auto challenge = read_challenge(head.www_authenticate);
  if (!challenge || !challenge->lacks_scopes()) return std::nullopt;
  const std::vector<std::string> scopes = challenge->scopes.value_or(std::vector<std::string>{});
  if (scopes.empty())
    return Error{Code::unavailable,
                 "it refuses the call because the login lacks scopes, which it does not name; ask "
                 "its operator",
                 {}};
  if (http.oauth->grant == OauthGrant::client_credentials)
    return Error{
        Code::unavailable,
        fmt::format("it refuses the call because its client lacks scopes ({}); add them to "
                    "scopes in the oauth section",
                    joined_scopes(scopes)),
        {}};
  Live* const live = find(http);
  const auto requested = [&](const std::string& scope) {
    return live && std::ranges::find(live->login.requested, scope) != live->login.requested.end();
  };
  if (std::ranges::all_of(scopes, requested))
    return Error{Code::unavailable,
                 fmt::format("it refuses scopes that the login requested ({}); ask its operator to "
                             "grant them",
                             joined_scopes(scopes)),
                 {}};
  if (live) {
    std::vector<std::string> wanted = live->login.wanted;
    add_scopes(wanted, scopes);
    if (wanted.size() <= kScopesMax && wanted != live->login.wanted) {
      live->login.wanted = std::move(wanted);
      store(*live);
    }
  }
  return with_remedy(
      Code::unavailable,
      fmt::format("it refuses the call because the login lacks scopes ({})", joined_scopes(scopes)),
      fmt::format("run `agentrt mcp login {}`", server.name));
}

// One renewal at a time per login: further callers wait for it.
void McpLogins::renew(const McpServer& server, Key key, TokenTo then) {
  Live& live = live_.at(key);
  live.waiting.push_back(std::move(then));
  if (std::exchange(live.renewing, true)) return;
  FormFields fields = live.stored
                          ? refresh_fields(*live.login.tokens->refresh_token, live.login.resource)
                          : credentials_fields(live.login.resource, live.login.requested);
  const StoredLogin login = live.login;
  ask_tokens(server, login, std::move(fields), [this, server, key](Result<OauthTokens> tokens) {
    renewed(server, key, std::move(tokens));
  });
}

void McpLogins::renewed(const McpServer& server, const Key& key, Result<OauthTokens> tokens) {
  const auto found = live_.find(key);
  if (found == live_.end()) return;
  Live& live = found->second;
  live.renewing = false;
  Result<std::optional<std::string>> outcome = std::nullopt;
  if (tokens) {
    const std::optional<OauthTokens> before = std::exchange(live.login.tokens, *tokens);
    if (before && !live.login.tokens->refresh_token)
      live.login.tokens->refresh_token = before->refresh_token;
    if (before && !live.login.tokens->scopes) live.login.tokens->scopes = before->scopes;
    store(live);
    outcome = live.login.tokens->access_token;
  } else if (tokens.error().code == Code::unauthenticated && live.stored) {
    live.login.tokens.reset();
    store(live);
    outcome = std::unexpected(login_needed(server, "its login has ended"));
  } else if (tokens.error().code == Code::unavailable) {
    outcome = std::unexpected(
        Error{Code::unavailable,
              fmt::format("its login cannot be renewed now: {}", tokens.error().message),
              {}});
  } else {
    outcome = std::unexpected(login_needed(
        server, fmt::format("its login cannot be renewed: {}", tokens.error().message)));
  }
  for (TokenTo& each : std::exchange(live.waiting, {})) each(outcome);
}

// A first token with the client's own credentials.
void McpLogins::obtain(const McpServer& server, const Challenged& by, TokenTo then) {
  const auto& http = std::get<McpHttp>(server.way);
  const Url url = *parse_url(http.url);
  discover(asker_, {{url, by.reach}, by.challenge, http.oauth->authorization_server},
           [this, server, url, by, then = std::move(then)](Result<Discovered> found) mutable {
             const auto& oauth = *std::get<McpHttp>(server.way).oauth;
             if (!found) return then(std::unexpected(quoted(found.error())));
             const auto auth = configured_auth(found->issuer, oauth.client_secret.has_value(),
                                               oauth.private_key_file.has_value());
             if (!auth)
               return then(fail(Code::unavailable,
                                fmt::format("its authorization server {}", auth.error().message)));
             const Key key{canonical_url(url), *oauth.client_id};
             Live& live = live_[key];
             if (live.renewing) {
               live.waiting.push_back(std::move(then));
               return;
             }
             live.stored = false;
             live.login = {.server = key.first,
                           .issuer = found->issuer.issuer,
                           .resource = found->resource,
                           .token_endpoint = found->issuer.token_endpoint,
                           .client = {*oauth.client_id, oauth.client_secret, *auth}};
             live.login.reach = by.reach;
             live.login.requested = oauth.scopes;
             if (live.login.requested.empty() && by.challenge.scopes)
               live.login.requested = *by.challenge.scopes;
             if (live.login.requested.empty() && found->scopes)
               live.login.requested = *found->scopes;
             renew(server, key, std::move(then));
           });
}

void McpLogins::ask_tokens(const McpServer& server, const StoredLogin& login, FormFields fields,
                           std::move_only_function<void(Result<OauthTokens>)> then) {
  auto key = signing_key_of(*std::get<McpHttp>(server.way).oauth);
  if (!key) return then(std::unexpected(key.error()));
  auto request = client_request(login.token_endpoint, std::move(fields), login.client, login.issuer,
                                *key, parts_.loop.now());
  if (!request) return then(std::unexpected(request.error()));
  asker_.ask(*std::move(request), login.reach,
             [this, issuer = login.issuer, then = std::move(then)](Result<Fetched> got) mutable {
               Result<OauthTokens> tokens = got ? read_tokens(*got, parts_.loop.now())
                                                : Result<OauthTokens>(std::unexpected(got.error()));
               if (got && !tokens)
                 tokens = std::unexpected(Error{
                     tokens.error().code,
                     fmt::format("the authorization server {} {}", issuer, tokens.error().message),
                     {}});
               if (!tokens) tokens = std::unexpected(quoted(tokens.error()));
               then(std::move(tokens));
             });
}

// If the file cannot be written, the login stays in memory until the runtime ends.
void McpLogins::store(Live& live) {
  live.login.updated_at = parts_.loop.now();
  keep_secret(live.login);
  if (!live.stored) return;
  if (const auto written = files_.write(live.login); !written)
    problems_.push_back(written.error().message);
  if (problems_.size() > kLoginFilesMax) problems_.erase(problems_.begin());
}

void McpLogins::keep_secret(const StoredLogin& login) {
  if (!parts_.secret) return;
  if (login.client.secret) parts_.secret(*login.client.secret);
  if (!login.tokens) return;
  parts_.secret(login.tokens->access_token);
  if (login.tokens->refresh_token) parts_.secret(*login.tokens->refresh_token);
}

// Without what a server quotes of our secrets.
Error McpLogins::quoted(Error error) const {
  if (parts_.redact) error.message = parts_.redact(std::move(error.message));
  return error;
}

}  // namespace agentrt::adapters
