// channels/tokens.h: who may do what.
//
// DATA/token holds the first token, made at first start, which may do everything; whoever can read
// the data folder owns the runtime. Further tokens are kept in DATA/tokens.json as SHA-256 hashes:
// the text of a token is told once, when it is made. A scope stands for itself alone, except that
// admin implies them all; approving is apart from submitting, so that no agent approves itself. A
// token may be bound to one session.
//
// Files are replaced whole or not at all, and a file that cannot be read stops the start: a damaged
// list must never mean "no tokens" (a revoked one would be forgotten with it).
//
// Any thread. Making and revoking write to disk before they return.
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

// What a token lets its holder do.
struct Identity {
  std::string id;  // the kernel's principal
  std::vector<TokenScope> scopes;
  std::optional<SessionId> session;   // present: this session only
  std::optional<std::string> folder;  // in which it creates that session

  bool allows(TokenScope scope) const;
  // Whether it may touch what `session` names; absent means something wider than one session.
  bool may_touch(const std::optional<SessionId>& touched) const {
    return !session || touched == session;
  }
};

// A token as others may see it.
struct TokenView {
  TokenId token_id;
  std::vector<TokenScope> scopes;
  std::optional<SessionId> session_id;
  std::optional<std::string> cwd;  // of a bound token: the folder in which it creates the session
  std::optional<std::string> name;
  std::optional<Timestamp> created_at;  // absent for the first token
  std::optional<Timestamp> revoked_at;

  bool operator==(const TokenView&) const = default;
};
BOOST_DESCRIBE_STRUCT(TokenView, (),
                      (token_id, scopes, session_id, cwd, name, created_at, revoked_at))

struct NewToken {
  std::vector<TokenScope> scopes;
  std::optional<SessionId> session_id;
  std::optional<std::string> name;
  std::optional<std::string> cwd = {};
};
BOOST_DESCRIBE_STRUCT(NewToken, (), (scopes, session_id, name, cwd))

// The id of the token in DATA/token.
inline constexpr std::string_view kFirstTokenId = "local";
// 256 random bits in hexadecimal digits.
inline constexpr std::size_t kTokenBytes = 32;
// A shorter text in DATA/token is taken for damage.
inline constexpr std::size_t kTokenTextMin = 32;

class Tokens {
 public:
  struct Created {
    TokenView view;
    std::string token;  // told once
  };

  // Reads the tokens in the folder `data`, and makes the first one where there is none. `now` is
  // the wall clock. unavailable: a file cannot be read, written or understood.
  // `redact` replaces the secrets in a text; names of tokens pass through it. It may be empty.
  using Redact = std::function<std::string(std::string)>;
  static Result<std::unique_ptr<Tokens>> open(const std::string& data,
                                              std::function<Timestamp()> now, Redact redact = {});

  // Whose token this is; nothing for an unknown or revoked one.
  std::shared_ptr<const Identity> find(std::string_view token) const;

  // invalid_params, limit_exceeded (kTokensMax in use), unavailable.
  Result<Created> create(const NewToken& wanted);
  // Revoking again changes nothing. not_found; conflict for the first token, whose file is its
  // owner's to replace; unavailable.
  Result<TokenView> revoke(std::string_view id);
  std::vector<TokenView> list() const;

  // Called with the id of each token that is revoked from now on, by whoever revokes it.
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
