// channels/tokens.h: API tokens and the permissions they grant.
//
// DATA/token holds the first token, created at first start, which has every scope: any user who can
// read the data folder controls the runtime. Further tokens are stored in DATA/tokens.json as
// SHA-256 hashes; the text of a token is returned only once, at its creation. Scopes are
// independent, except that admin implies them all. Approving is separate from submitting, so that
// an agent cannot approve its own calls. A token may be bound to one session, and may expire.
//
// Files are replaced atomically. An unreadable file prevents the start: a damaged list must not
// count as "no tokens", which would also forget revocations.
//
// Callable from any thread. Creating and revoking write to disk before they return.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "schema/command.h"

namespace agentrt::channels {

using schema::TokenScope;

// What a token permits its holder to do.
struct Identity {
  std::string id;  // the principal passed to the kernel
  std::vector<TokenScope> scopes;
  std::optional<SessionId> session;   // present: only this session
  std::optional<std::string> folder;  // where it creates that session
  std::optional<Timestamp> expires_at = {};

  bool allows(TokenScope scope) const;
};

// The public view of a token.
struct TokenView {
  TokenId token_id;
  std::vector<TokenScope> scopes;
  std::optional<SessionId> session_id;
  std::optional<std::string> cwd;  // of a bound token: the folder in which it creates the session
  std::optional<std::string> name;
  std::optional<Timestamp> created_at;  // absent for the first token
  std::optional<Timestamp> expires_at;  // absent: never
  std::optional<Timestamp> revoked_at;

  bool operator==(const TokenView&) const = default;
};
BOOST_DESCRIBE_STRUCT(TokenView, (),
                      (token_id, scopes, session_id, cwd, name, created_at, expires_at, revoked_at))

struct NewToken {
  std::vector<TokenScope> scopes;
  std::optional<SessionId> session_id;
  std::optional<std::string> name;
  std::optional<std::string> cwd = {};
  std::optional<Timestamp> expires_at = {};
};
BOOST_DESCRIBE_STRUCT(NewToken, (), (scopes, session_id, name, cwd, expires_at))

// The id of the token in DATA/token.
inline constexpr std::string_view kFirstTokenId = "local";
// 256 random bits, written in hexadecimal.
inline constexpr std::size_t kTokenBytes = 32;
// A shorter text in DATA/token is rejected as damaged.
inline constexpr std::size_t kTokenTextMin = 32;

class Tokens {
 public:
  struct Created {
    TokenView view;
    std::string token;  // returned only here
  };

  // Reads the tokens in the folder `data`, and creates the first one if it is missing. `now` is the
  // wall clock. `redact` replaces secrets in the names of tokens; it may be empty. Fails with
  // unavailable if a file cannot be read, written or parsed.
  using Redact = std::function<std::string(std::string)>;
  static Result<std::unique_ptr<Tokens>> open(const std::string& data,
                                              std::function<Timestamp()> now, Redact redact = {});

  // The identity of a token; nullptr if it is unknown, revoked or expired.
  std::shared_ptr<const Identity> find(std::string_view token) const;
  // The public view of a valid token; nothing if it is unknown, revoked or expired.
  std::optional<TokenView> find_id(std::string_view id) const;
  bool expired(const Identity& identity) const;
  Timestamp now() const { return now_(); }

  // Revoked and expired tokens make room. Fails with invalid_params, limit_exceeded (kTokensMax
  // in use) or unavailable.
  Result<Created> create(const NewToken& wanted);
  // Idempotent. Fails with not_found, with unavailable, or with conflict for the first token, which
  // is replaced by editing its file.
  Result<TokenView> revoke(std::string_view id);
  std::vector<TokenView> list() const;

  // The listener is called with the id of each token revoked from now on, on the revoking thread.
  void on_revoked(std::function<void(const std::string& id)> listener);

 private:
  struct Entry {
    TokenView view;
    std::string hash;  // SHA-256, raw bytes
    std::shared_ptr<const Identity> identity;
  };

  Tokens(std::string data, std::function<Timestamp()> now, Redact redact);
  Result<void> load();
  Result<void> store(const std::vector<Entry>& entries) const;
  static Entry entry_of(TokenView view, std::string hash);

  const std::string data_;
  const std::function<Timestamp()> now_;
  const Redact redact_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;                          // under mutex_; the first is DATA/token
  std::function<void(const std::string&)> on_revoked_;  // under mutex_
};

}  // namespace agentrt::channels
