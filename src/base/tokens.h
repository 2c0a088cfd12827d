// base/tokens.h: the estimate of tokens, the only one of the runtime. It is used where no provider
// has counted: for the size of a context and for the cost of a request.
#pragma once

#include <cstddef>
#include <cstdint>

namespace agentrt {

// Source code and non-English text have about three bytes per token, English prose about four. An
// estimate that is too high is harmless; one that is too low makes a provider refuse the request.
inline constexpr std::size_t kBytesPerToken = 3;

constexpr std::uint64_t estimated_tokens(std::size_t bytes) {
  return (bytes + kBytesPerToken - 1) / kBytesPerToken;
}

// The context window of a model whose configuration has no context_tokens.
inline constexpr std::uint64_t kContextTokensDefault = 64'000;

// What an image or document counts for: about 1,600 tokens, as providers count a large image.
inline constexpr std::size_t kImageCountedBytes = 1'600 * kBytesPerToken;

}  // namespace agentrt
