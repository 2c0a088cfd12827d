// adapters/mcp/address.h: the address that a server of the older transport names for what it is
// sent. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace agentrt::adapters {

inline constexpr std::size_t kMcpAddressBytesMax = 8'192;

// `named` as seen from `url`, which is http or https. Credentials go there, so it must be of the
// same scheme, host and port; invalid_params: it is not, or is no address.
Result<std::string> address_beside(std::string_view url, std::string_view named);

}  // namespace agentrt::adapters
