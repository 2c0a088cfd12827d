// policy/shell/limits.h: limits of the analysis of a shell text.
//
// A text beyond a limit is denied, unless the comment says otherwise ("asks": it needs approval).
// Nobody can judge such a text, so an approval would be meaningless. The limits also bound the work
// of the analysis.
#pragma once

#include <cstddef>

namespace agentrt::policy::shell {

inline constexpr std::size_t kTextBytesMax = 64 * 1024;
// Simple commands, including those inside wrappers.
inline constexpr std::size_t kCommandsMax = 100;
// Nesting of substitutions, groups, wrappers and texts.
inline constexpr std::size_t kDepthMax = 32;
// Words that one word may expand to; more: it counts as one unknown word.
inline constexpr std::size_t kBraceWordsMax = 256;
// Size of a word with braces; longer: it counts as one unknown word.
inline constexpr std::size_t kBraceBytesMax = 4'096;
inline constexpr std::size_t kWordsMax = 8'192;  // words per command, after brace expansion
// Words of a command with words that may vanish; more: asks.
inline constexpr std::size_t kMovedWordsMax = 512;
inline constexpr std::size_t kOptionsMax = 256;                  // options per command; more: asks
inline constexpr std::size_t kReadBytesMax = 4 * kTextBytesMax;  // total size of all nested texts
// Doubts that are kept; one is enough to ask.
inline constexpr std::size_t kDoubtsMax = 16;

}  // namespace agentrt::policy::shell
