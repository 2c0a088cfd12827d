// adapters/mcp/login/login_files.h: the stored logins: DATA/mcp_logins, one file per MCP server
// (by its URL) and authorization server.
//
// The folder has mode 0700, each file 0600; a file with a wider mode is refused. Files are replaced
// atomically, so after a crash a login is the old one or the new one. Blocks. One thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "adapters/mcp/login/requests.h"
#include "base/result.h"

namespace agentrt::adapters {

inline constexpr std::size_t kLoginFilesMax = 1'000;
inline constexpr std::size_t kLoginFileBytesMax = 256 * 1024;

struct StoredLogin {
  std::string server;    // canonical URL
  std::string issuer;    // the only one that gets the client's credentials
  std::string resource;  // RFC 8707
  std::string token_endpoint;
  std::optional<std::string> revocation_endpoint = {};
  OauthClient client;
  std::optional<OauthTokens> tokens = {};   // absent: a person must log in again
  std::vector<std::string> requested = {};  // the scopes of the last login
  std::vector<std::string> wanted = {};     // scopes that a call lacked: requested by the next one
  Reach reach = Reach::public_;
  Timestamp updated_at = {};

  bool operator==(const StoredLogin&) const = default;
};
BOOST_DESCRIBE_STRUCT(StoredLogin, (),
                      (server, issuer, resource, token_endpoint, revocation_endpoint, client,
                       tokens, requested, wanted, reach, updated_at))

class LoginFiles {
 public:
  explicit LoginFiles(std::string folder) : folder_(std::move(folder)) {}

  // All stored logins, and the problems of files that cannot be used.
  struct Read {
    std::vector<StoredLogin> logins;
    std::vector<std::string> problems;
  };
  Read read() const;
  // Errors: unavailable; limit_exceeded: there are kLoginFilesMax others.
  Result<void> write(const StoredLogin& login) const;
  Result<void> remove(const StoredLogin& login) const;

 private:
  std::string path_of(const StoredLogin& login) const;

  const std::string folder_;
};

}  // namespace agentrt::adapters
