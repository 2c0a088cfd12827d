// channels/token_files.h: the two files that hold tokens. Only tokens.cc uses this.
//
// Every write is atomic (base/private_file.h). Errors are `unavailable` and name the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "channels/tokens.h"

namespace agentrt::channels {

// One token as stored in tokens.json.
struct TokenRecord {
  TokenId token_id;
  std::string sha256;  // of the token's text, in hexadecimal
  std::vector<TokenScope> scopes;
  std::optional<SessionId> session_id;
  std::optional<std::string> cwd;
  std::optional<std::string> name;
  Timestamp created_at;
  std::optional<Timestamp> expires_at;
  std::optional<Timestamp> revoked_at;
};
BOOST_DESCRIBE_STRUCT(TokenRecord, (),
                      (token_id, sha256, scopes, session_id, cwd, name, created_at, expires_at,
                       revoked_at))

// Reads the token in DATA/token; creates the file if it is missing. Removes other users' access to
// the file.
Result<std::string> read_or_make_first_token(const std::string& data);

Result<std::vector<TokenRecord>> read_token_records(const std::string& data);
Result<void> write_token_records(const std::string& data, const std::vector<TokenRecord>& records);

// Generates the text of a new token.
std::string random_token();

}  // namespace agentrt::channels
