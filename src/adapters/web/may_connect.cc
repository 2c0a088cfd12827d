#include "adapters/web/may_connect.h"

#include "adapters/http/public_address.h"

namespace agentrt::adapters {

bool may_connect(const sockaddr& address) { return is_public(address); }

}  // namespace agentrt::adapters
