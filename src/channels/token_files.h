// channels/token_files.h: the two files tokens are kept in. Only tokens.cc uses this.
//
// Every write is all or nothing: a temporary file, synced, then put in place, then the folder
// synced. Errors are `unavailable` and name the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "channels/tokens.h"

namespace agentrt::channels {

// One token as tokens.json keeps it.
struct TokenRecord {
  TokenId token_id;
  std::string sha256;  // of the token's text, in hexadecimal digits
  std::vector<TokenScope> scopes;
  std::optional<SessionId> session_id;
  std::optional<std::string> cwd;
  std::optional<std::string> name;
  Timestamp created_at;
  std::optional<Timestamp> revoked_at;
};
BOOST_DESCRIBE_STRUCT(TokenRecord, (),
                      (token_id, sha256, scopes, session_id, cwd, name, created_at, revoked_at))

// The text in DATA/token, made where there is none. A file that others may read is closed to them.
Result<std::string> read_or_make_first_token(const std::string& data);

Result<std::vector<TokenRecord>> read_token_records(const std::string& data);
Result<void> write_token_records(const std::string& data, const std::vector<TokenRecord>& records);

// A new token's text.
Result<std::string> random_token();

}  // namespace agentrt::channels
