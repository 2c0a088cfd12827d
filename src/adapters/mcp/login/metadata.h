// adapters/mcp/login/metadata.h: the documents from which a client learns how to log in: those of a
// protected resource (RFC 9728) and of an authorization server (RFC 8414, OpenID Connect
// Discovery). Pure.
//
// A document comes from a server that may lie. Its URLs must be https, or http on loopback if the
// MCP server itself is on loopback. Errors are invalid_params, and their message is the rest of a
// sentence that begins with the document.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/url.h"
#include "schema/codec.h"

namespace agentrt::adapters {

inline constexpr std::size_t kMetadataBytesMax = 64 * 1024;
inline constexpr std::size_t kNamedServersMax = 16;  // authorization servers of a resource

// Where a server is. What it links to may be on the public internet or in the same place.
BOOST_DEFINE_ENUM_CLASS(Reach, public_, private_, loopback)

// Of an address, or of its numeric form; a name counts as public here.
Reach reach_of(const sockaddr& address);
Reach reach_of_text(const std::string& text);

// The MCP server of a login.
struct Place {
  Url url;
  Reach reach = Reach::public_;
};

// A URL found in a challenge or a document. `what`: "token_endpoint".
Result<Url> linked_url(std::string_view text, const Place& server, std::string_view what);

// The URL that identifies the server: without query and fragment.
std::string canonical_url(const Url& server);

// Where the metadata of the server may be, in the order of preference.
std::vector<std::string> resource_metadata_urls(const Url& server);

struct ResourceMetadata {
  std::string resource;  // has the server's origin, and a path that is a prefix of its path
  std::vector<std::string> issuers;
  std::optional<std::vector<std::string>> scopes;
};
Result<ResourceMetadata> read_resource_metadata(std::string_view text, const Url& server);

// Where the metadata of an authorization server may be, in the order of preference.
std::vector<std::string> issuer_metadata_urls(const Url& issuer);
// Where it is if the server has no metadata of its own (2025-03-26).
std::string older_metadata_url(const Url& server);

struct IssuerMetadata {
  std::string issuer;
  std::string authorization_endpoint;  // empty: none
  std::string token_endpoint;
  std::string registration_endpoint;                     // empty: none
  std::string revocation_endpoint;                       // empty: none
  std::optional<std::vector<std::string>> auth_methods;  // of the token endpoint
  std::vector<std::string> scopes;
  bool takes_document_ids = false;  // client ids that are URLs of metadata documents
  bool promises_iss = false;        // in its redirects
  bool has_s256 = false;            // for the challenge of PKCE

  // Whether the token endpoint takes clients that authenticate in this way.
  bool takes(std::string_view method) const;
};
Result<IssuerMetadata> read_issuer_metadata(std::string_view text, const Place& server);
// The issuer of the metadata must be the one that was looked up.
Result<void> check_issuer(const IssuerMetadata& metadata, std::string_view looked_up);
// The endpoints of a server without any metadata (2025-03-26).
IssuerMetadata usual_endpoints(const Url& server);

}  // namespace agentrt::adapters
