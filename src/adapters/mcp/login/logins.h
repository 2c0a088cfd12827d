// adapters/mcp/login/logins.h: the logins to MCP servers: made by a person in a browser, or by a
// client with credentials of its own; stored, renewed, and ended.
//
// A login belongs to the URL of a server and to the authorization server that made it. All
// connections to that URL share it, and its renewal. A token goes to the server's origin, a refresh
// token and the client's credentials to the authorization server, and neither to anyone else.
//
// Renewal replaces the stored file before the new token is used. If the authorization server says
// that the grant is no longer valid, the tokens are deleted; any other failure keeps them.
//
// Threads: everything runs on one loop, which also writes the small files; unfinished() on any
// thread. No callback follows the destructor.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "adapters/mcp/authorization.h"
#include "adapters/mcp/login/asker.h"
#include "adapters/mcp/login/discovery.h"
#include "adapters/mcp/server.h"

namespace agentrt::adapters {

inline constexpr std::size_t kUnfinishedLoginsMax = 16;
inline constexpr std::int64_t kUnfinishedLoginMs = 600'000;
inline constexpr std::int64_t kRenewBeforeMs = 60'000;  // the end of a token

// What a server answered to a request without a token.
struct Challenged {
  Challenge challenge;
  Reach reach = Reach::public_;  // where the server is
};
// Errors: limits of read_challenge().
Result<Challenged> challenged_by(const HttpHead& head, const Url& server);

struct LoginView {
  std::string issuer;
  std::vector<std::string> scopes;
  std::optional<Timestamp> expires_at;  // of the token
  bool renewable = false;
  bool valid = false;                       // false: a person must log in again
  std::optional<std::string> redirect_uri;  // of the client that was registered here
};

struct LoginBegun {
  std::string id;
  std::string issuer;
  std::string authorization_url;
  std::string redirect_uri;
  std::vector<std::string> scopes;
  Timestamp expires_at;  // of the unfinished login
};

// Whether the authorization server voided the tokens.
BOOST_DEFINE_ENUM_CLASS(Revocation, confirmed, not_offered, unconfirmed)

struct LoggedOut {
  bool found = false;  // there was a login
  Revocation revocation = Revocation::not_offered;
  std::string reason;  // if unconfirmed
};

class McpLogins {
 public:
  struct Parts {
    ports::Loop& loop;
    HttpStreams& streams;
    std::string folder;
    std::function<void(const std::string& value)> secret;  // is redacted from now on; may be empty
    std::function<std::string(std::string)> redact;        // may be empty
  };
  explicit McpLogins(Parts parts);
  ~McpLogins();

  // REQUIRES: an HTTP server with oauth. The object must not outlive this one.
  std::unique_ptr<McpAuthorization> authorization_of(const McpServer& server);

  // The login that a connection to the server would use; nullopt: there is none.
  std::optional<LoginView> view_of(const McpHttp& server) const;
  // A connection of this boot learned that the server needs a login that it does not have.
  bool needs_login(const McpHttp& server) const;

  // Begins a login with a browser. `scopes`: those to request instead of all others. Errors:
  // limit_exceeded; forbidden (a server cannot be used); invalid_params (the configuration
  // cannot); unavailable.
  void begin(McpServer server, std::string redirect_uri,
             std::optional<std::vector<std::string>> scopes, Challenged by,
             std::move_only_function<void(Result<LoginBegun>)> done);
  // Errors: not_found: unknown or expired; forbidden: refused; invalid_params; unavailable.
  void finish(const std::string& id, const std::string& callback_url,
              std::move_only_function<void(Result<McpServer>)> done);
  std::size_t unfinished() const { return unfinished_.load(std::memory_order_relaxed); }

  // Deletes every login of the server.
  void log_out(const McpHttp& server, std::move_only_function<void(LoggedOut)> done);

  // The problems of stored files.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  class OfServer;
  friend class OfServer;
  using TokenTo = McpAuthorization::TokenTo;
  using Key = std::pair<std::string, std::string>;  // canonical URL, and issuer or client id

  struct Live {
    StoredLogin login;
    bool stored = true;  // false: of client credentials, which are kept in memory alone
    bool renewing = false;
    std::vector<TokenTo> waiting;  // for the renewal
  };
  // A login that waits for the browser.
  struct Unfinished {
    McpServer server;
    Discovered found;
    Reach reach = Reach::public_;
    OauthClient client;
    Authorization request;
    ports::Loop::TimerId timer = 0;
  };
  struct Beginning;
  struct Ending;

  Live* find(const McpHttp& server);
  const Live* find(const McpHttp& server) const;
  void token(const McpServer& server, TokenTo then);
  void refused(const McpServer& server, const std::string& used, const HttpHead& head,
               TokenTo then);
  std::optional<Error> lacking(const McpServer& server, const HttpHead& head);
  Error login_needed(const McpServer& server, std::string why);
  bool renewable(const Live& live) const;
  void renew(const McpServer& server, Key key, TokenTo then);
  void renewed(const McpServer& server, const Key& key, Result<OauthTokens> tokens);
  void obtain(const McpServer& server, const Challenged& by, TokenTo then);
  void request_credentials(const McpServer& server, const Key& key, TokenTo then);
  void ask_tokens(const McpServer& server, const StoredLogin& login, FormFields fields,
                  std::move_only_function<void(Result<OauthTokens>)> then);
  void choose_client(std::shared_ptr<Beginning> beginning);
  void client_chosen(Beginning& beginning, Result<OauthClient> client);
  std::vector<std::string> scopes_for(const Beginning& beginning) const;
  void exchanged(Unfinished& of, Result<OauthTokens> tokens,
                 std::move_only_function<void(Result<McpServer>)> done);
  void revoke(std::shared_ptr<Ending> ending);
  void forget_unfinished(const std::string& id);
  void store(Live& live);
  void keep_secret(const StoredLogin& login);
  Error quoted(Error error) const;

  Parts parts_;
  Asker asker_;
  LoginFiles files_;
  std::map<Key, Live> live_;
  std::set<std::string> needing_;  // URLs, canonical
  std::map<std::string, Unfinished> waiting_;
  std::vector<std::string> problems_;
  std::atomic<std::size_t> unfinished_{0};
  std::size_t beginning_ = 0;  // logins for which the servers are still being asked
};

// Reads the private key of the configuration: mode 0600. Errors: invalid_params, unavailable.
Result<std::optional<SigningKey>> signing_key_of(const McpOauth& oauth);

}  // namespace agentrt::adapters
