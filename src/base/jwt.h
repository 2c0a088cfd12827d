// base/jwt.h: signs JSON Web Tokens with a private key.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace agentrt {

enum class JwtAlgorithm { es256, rs256 };

// The name that the header of a token contains, and the algorithm of such a name.
std::string_view name_of(JwtAlgorithm algorithm);
std::optional<JwtAlgorithm> jwt_algorithm_of(std::string_view name);

// `claims`: a JSON object. `key`: a private key in PEM, on the curve P-256 for ES256, of RSA for
// RS256. Errors: invalid_params: the key is unreadable or of another kind.
Result<std::string> signed_jwt(std::string_view claims, const std::string& key,
                               JwtAlgorithm algorithm);

}  // namespace agentrt
