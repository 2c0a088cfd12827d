// channels/login_codes.h: one-time codes by which a browser gets a token of its own.
//
// `agentrt open` prints a link with a code; the page trades it for a token. A code works once,
// within kLoginCodeTime, and is kept in memory only, as a hash: a restart voids it. The token is
// never wider than the one that asked for the code.
//
// Network thread only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "channels/limits.h"
#include "channels/tokens.h"

namespace agentrt::channels {

class LoginCodes {
 public:
  explicit LoginCodes(Tokens& tokens) : tokens_(tokens) {}

  struct Issued {
    std::string code;  // returned only here
    std::vector<TokenScope> scopes;
    Timestamp expires_at;
  };
  // A code for a token with `scopes`, or with those of read, submit and approve that `asker` has.
  // Errors: forbidden (a scope that the asker lacks, or admin), invalid_params (no scope),
  // limit_exceeded (kLoginCodesMax are open), unavailable.
  Result<Issued> issue(const Identity& asker, const std::optional<std::vector<TokenScope>>& scopes,
                       Instant now);

  // Trades a code for a token. Errors: unauthenticated (the code is wrong, used or expired, or the
  // token that asked for it is no longer valid), and those of Tokens::create.
  Result<Tokens::Created> redeem(std::string_view code, Instant now);

 private:
  struct Open {
    std::string hash;   // SHA-256, raw bytes
    std::string asker;  // id of the token that asked for it
    std::vector<TokenScope> scopes;
    Instant until;
  };

  Tokens& tokens_;
  std::vector<Open> open_;  // at most kLoginCodesMax
};

}  // namespace agentrt::channels
