// Logins of people: begun, finished by the redirect of the browser, and ended.
#include <algorithm>

#include <fmt/format.h>

#include "adapters/mcp/login/logins.h"
#include "adapters/mcp/remedy.h"
#include "base/base64.h"
#include "base/random_bytes.h"

namespace agentrt::adapters {
namespace {

constexpr std::size_t kStateBytes = 32;
constexpr std::size_t kVerifierBytes = 32;
constexpr std::size_t kIdBytes = 16;
constexpr std::uint64_t kOk = 200;

std::unexpected<Error> issuer_says(const IssuerMetadata& issuer, const Error& error) {
  return std::unexpected(
      reworded(error, fmt::format("the authorization server {} {}", issuer.issuer, error.message)));
}

// http://127.0.0.1:PORT/callback, where only programs of the person's machine listen.
Result<void> check_redirect(std::string_view redirect_uri) {
  const auto url = parse_url(redirect_uri);
  if (url && url->scheme == "http" && names_loopback(*url) && !url->has_query &&
      !url->has_fragment && url->path == "/callback")
    return {};
  return fail(Code::invalid_params, "redirectUri: expected http://127.0.0.1:PORT/callback");
}

}  // namespace

struct McpLogins::Beginning {
  McpServer server;
  std::string redirect_uri;
  std::optional<std::vector<std::string>> scopes;
  Challenged by;
  Discovered found = {};
  std::move_only_function<void(Result<LoginBegun>)> done;

  const McpOauth& oauth() const { return *std::get<McpHttp>(server.way).oauth; }
  Url url() const { return *parse_url(std::get<McpHttp>(server.way).url); }
};

// Logins that are being ended.
struct McpLogins::Ending {
  std::vector<StoredLogin> logins;  // that are left
  std::optional<SigningKey> key;
  LoggedOut out;
  std::move_only_function<void(LoggedOut)> done;
};

void McpLogins::begin(McpServer server, std::string redirect_uri,
                      std::optional<std::vector<std::string>> scopes, Challenged by,
                      std::move_only_function<void(Result<LoginBegun>)> done) {
  if (const auto good = check_redirect(redirect_uri); !good)
    return done(std::unexpected(good.error()));
  if (scopes && scopes->size() > kScopesMax)
    return done(fail(Code::limit_exceeded, fmt::format("scopes: expected at most {}", kScopesMax)));
  if (waiting_.size() + beginning_ >= kUnfinishedLoginsMax)
    return done(fail(Code::limit_exceeded,
                     fmt::format("{} logins are not finished; finish one, or try again in {} min",
                                 kUnfinishedLoginsMax, kUnfinishedLoginMs / 60'000)));
  ++beginning_;
  auto beginning = std::make_shared<Beginning>(
      Beginning{.server = std::move(server),
                .redirect_uri = std::move(redirect_uri),
                .scopes = std::move(scopes),
                .by = std::move(by),
                .done = [this, done = std::move(done)](Result<LoginBegun> begun) mutable {
                  --beginning_;
                  if (!begun) begun = std::unexpected(quoted(begun.error()));
                  done(std::move(begun));
                }});
  discover(
      asker_,
      {{beginning->url(), beginning->by.reach},
       beginning->by.challenge,
       beginning->oauth().authorization_server},
      [this, beginning](Result<Discovered> found) {
        if (!found) return beginning->done(std::unexpected(found.error()));
        beginning->found = *std::move(found);
        const IssuerMetadata& issuer = beginning->found.issuer;
        if (issuer.authorization_endpoint.empty())
          return beginning->done(issuer_says(
              issuer,
              {Code::forbidden, "offers no login with a browser (no authorization_endpoint)", {}}));
        if (!issuer.has_s256)
          return beginning->done(issuer_says(
              issuer, {Code::forbidden,
                       "does not support PKCE with S256, without which a login is not safe",
                       {}}));
        choose_client(beginning);
      });
}

void McpLogins::choose_client(std::shared_ptr<Beginning> beginning) {
  const McpOauth& oauth = beginning->oauth();
  const IssuerMetadata& issuer = beginning->found.issuer;
  if (oauth.client_id) {
    const auto auth = configured_auth(issuer, oauth.client_secret.has_value(),
                                      oauth.private_key_file.has_value());
    if (!auth) return beginning->done(issuer_says(issuer, auth.error()));
    return client_chosen(*beginning, OauthClient{*oauth.client_id, oauth.client_secret, *auth});
  }
  if (oauth.client_metadata_url && issuer.takes_document_ids)
    return client_chosen(*beginning, OauthClient{*oauth.client_metadata_url});
  const auto stored = live_.find({canonical_url(beginning->url()), issuer.issuer});
  if (stored != live_.end() && stored->second.stored) {
    const OauthClient& client = stored->second.login.client;
    const bool expired = client.expires_at && *client.expires_at <= parts_.loop.now();
    if (client.redirect_uri == beginning->redirect_uri && !expired)
      return client_chosen(*beginning, client);
  }
  if (issuer.registration_endpoint.empty())
    return beginning->done(
        issuer_says(issuer, {Code::invalid_params,
                             fmt::format("does not register clients; set client_id in "
                                         "[mcp_servers.{}.oauth]",
                                         beginning->server.name),
                             {}}));
  const auto auth = registered_auth(issuer);
  if (!auth) return beginning->done(issuer_says(issuer, auth.error()));
  HttpRequest request;
  request.url = issuer.registration_endpoint;
  request.headers = {"Content-Type: application/json", "Accept: application/json"};
  request.body = registration_body(beginning->redirect_uri, *auth);
  asker_.ask(std::move(request), beginning->by.reach,
             [this, beginning, auth = *auth](Result<Fetched> got) {
               if (!got) return beginning->done(std::unexpected(got.error()));
               auto client =
                   read_registration(*got, beginning->found.issuer, auth, beginning->redirect_uri);
               if (!client)
                 return beginning->done(issuer_says(beginning->found.issuer, client.error()));
               client_chosen(*beginning, std::move(client));
             });
}

// What earlier calls lacked is requested together with what the login had.
std::vector<std::string> McpLogins::scopes_for(const Beginning& beginning) const {
  const IssuerMetadata& issuer = beginning.found.issuer;
  std::vector<std::string> out;
  if (beginning.scopes)
    out = *beginning.scopes;
  else if (!beginning.oauth().scopes.empty())
    out = beginning.oauth().scopes;
  else if (beginning.by.challenge.scopes)
    out = *beginning.by.challenge.scopes;
  else if (beginning.found.scopes)
    out = *beginning.found.scopes;
  const auto before = live_.find({canonical_url(beginning.url()), issuer.issuer});
  if (!beginning.scopes && before != live_.end() && !before->second.login.wanted.empty()) {
    add_scopes(out, before->second.login.requested);
    add_scopes(out, before->second.login.wanted);
  }
  const std::string offline = "offline_access";
  const auto lists = [&](const std::string& scope) {
    return std::ranges::find(issuer.scopes, scope) != issuer.scopes.end();
  };
  if (lists(offline)) add_scopes(out, {offline});
  if (!beginning.scopes && !lists(offline)) std::erase(out, offline);
  return out;
}

void McpLogins::client_chosen(Beginning& beginning, Result<OauthClient> client) {
  Unfinished waiting;
  waiting.server = beginning.server;
  waiting.reach = beginning.by.reach;
  waiting.client = *std::move(client);
  waiting.request = {.client_id = waiting.client.id,
                     .redirect_uri = beginning.redirect_uri,
                     .state = base64url(random_bytes(kStateBytes)),
                     .verifier = base64url(random_bytes(kVerifierBytes)),
                     .resource = beginning.found.resource,
                     .scopes = scopes_for(beginning)};
  waiting.found = std::move(beginning.found);
  if (parts_.secret) {
    parts_.secret(waiting.request.verifier);
    if (waiting.client.secret) parts_.secret(*waiting.client.secret);
  }
  const std::string id = "login_" + base64url(random_bytes(kIdBytes));
  LoginBegun begun{.id = id,
                   .issuer = waiting.found.issuer.issuer,
                   .authorization_url = authorization_url(waiting.found.issuer, waiting.request),
                   .redirect_uri = waiting.request.redirect_uri,
                   .scopes = waiting.request.scopes,
                   .expires_at = parts_.loop.now() + kUnfinishedLoginMs};
  waiting.timer = parts_.loop.after(kUnfinishedLoginMs, [this, id] { forget_unfinished(id); });
  waiting_.emplace(id, std::move(waiting));
  unfinished_ = waiting_.size();
  beginning.done(std::move(begun));
}

void McpLogins::forget_unfinished(const std::string& id) {
  const auto waiting = waiting_.extract(id);
  if (waiting) parts_.loop.cancel(waiting.mapped().timer);
  unfinished_ = waiting_.size();
}

void McpLogins::finish(const std::string& id, const std::string& callback_url,
                       std::move_only_function<void(Result<McpServer>)> done) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end())
    return done(fail(Code::not_found, "this login is not known, or has expired; log in again"));
  const auto code =
      code_in_callback(callback_url, found->second.request, found->second.found.issuer);
  if (!code && code.error().code == Code::invalid_params)
    return done(std::unexpected(code.error()));  // mistyped: the login still waits
  auto of = std::make_shared<Unfinished>(found->second);
  forget_unfinished(id);
  if (!code) return done(std::unexpected(quoted(code.error())));
  if (parts_.secret) parts_.secret(*code);
  StoredLogin asking;
  asking.issuer = of->found.issuer.issuer;
  asking.token_endpoint = of->found.issuer.token_endpoint;
  asking.client = of->client;
  asking.reach = of->reach;
  ask_tokens(of->server, asking, code_fields(*code, of->request),
             [this, of, done = std::move(done)](Result<OauthTokens> tokens) mutable {
               exchanged(*of, std::move(tokens), std::move(done));
             });
}

void McpLogins::exchanged(Unfinished& of, Result<OauthTokens> tokens,
                          std::move_only_function<void(Result<McpServer>)> done) {
  const std::string server = canonical_url(*parse_url(std::get<McpHttp>(of.server.way).url));
  const Key key{server, of.found.issuer.issuer};
  if (!tokens) {
    Error why = tokens.error();
    if (why.code == Code::unauthenticated) why.code = Code::forbidden;
    // A client that the server has forgotten registers again.
    if (const auto at = live_.find(key); at != live_.end() && why.code == Code::forbidden)
      at->second.login.client.redirect_uri.reset();
    return done(std::unexpected(std::move(why)));
  }
  StoredLogin login{.server = server,
                    .issuer = of.found.issuer.issuer,
                    .resource = of.found.resource,
                    .token_endpoint = of.found.issuer.token_endpoint,
                    .client = of.client,
                    .tokens = *std::move(tokens)};
  if (const std::string& endpoint = of.found.issuer.revocation_endpoint; !endpoint.empty())
    login.revocation_endpoint = endpoint;
  login.requested = of.request.scopes;
  login.reach = of.reach;
  login.updated_at = parts_.loop.now();
  keep_secret(login);
  if (const auto written = files_.write(login); !written)
    return done(std::unexpected(written.error()));
  live_[key].login = std::move(login);
  needing_.erase(server);
  done(std::move(of.server));
}

void McpLogins::log_out(const McpHttp& server, std::move_only_function<void(LoggedOut)> done) {
  const std::string url = canonical_url(*parse_url(server.url));
  auto ending = std::make_shared<Ending>();
  ending->done = std::move(done);
  if (server.oauth)
    if (auto key = signing_key_of(*server.oauth)) ending->key = *std::move(key);
  for (auto at = live_.begin(); at != live_.end();) {
    const auto next = std::next(at);
    if (at->first.first == url) {
      if (at->second.stored) ending->logins.push_back(at->second.login);
      for (TokenTo& each : at->second.waiting)
        each(fail(Code::unauthenticated, "its login was ended"));
      live_.erase(at);
    }
    at = next;
  }
  ending->out.found = !ending->logins.empty();
  revoke(std::move(ending));
}

// One after the other. The file is deleted whatever the server answers.
void McpLogins::revoke(std::shared_ptr<Ending> ending) {
  if (ending->logins.empty()) return ending->done(std::move(ending->out));
  const StoredLogin login = std::move(ending->logins.back());
  ending->logins.pop_back();
  const auto next = [this, ending, login](std::optional<std::string> problem) {
    if (const auto removed = files_.remove(login); !removed) problem = removed.error().message;
    if (problem) {
      ending->out.revocation = Revocation::unconfirmed;
      ending->out.reason = quoted({Code::unavailable, *std::move(problem), {}}).message;
    }
    revoke(ending);
  };
  if (!login.tokens || !login.revocation_endpoint) return next(std::nullopt);
  const OauthTokens& tokens = *login.tokens;
  FormFields fields = {
      {"token", tokens.refresh_token.value_or(tokens.access_token)},
      {"token_type_hint", tokens.refresh_token ? "refresh_token" : "access_token"}};
  auto request = client_request(*login.revocation_endpoint, std::move(fields), login.client,
                                login.issuer, ending->key, parts_.loop.now());
  if (!request) return next(request.error().message);
  if (ending->out.revocation == Revocation::not_offered)
    ending->out.revocation = Revocation::confirmed;
  asker_.ask(*std::move(request), login.reach, [next](const Result<Fetched>& got) {
    if (!got) return next(got.error().message);
    if (got->head.status == kOk) return next(std::nullopt);
    next(fmt::format("the authorization server answered with HTTP status {}", got->head.status));
  });
}

}  // namespace agentrt::adapters
