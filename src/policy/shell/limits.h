// policy/shell/limits.h: how much of a shell text is read before it is refused.
//
// A text beyond any of these is denied, never asked: nobody can judge it, a person least of all,
// and an approval of it would be an approval of the unread. The work of reading is bounded by them
// too.
#pragma once

#include <cstddef>

namespace agentrt::policy::shell {

inline constexpr std::size_t kTextBytesMax = 64 * 1024;
inline constexpr std::size_t kCommandsMax = 100;    // simple commands, those inside wrappers too
inline constexpr std::size_t kDepthMax = 32;        // of substitutions, groups, wrappers and texts
inline constexpr std::size_t kBraceWordsMax = 256;  // that one word may become
inline constexpr std::size_t kBraceBytesMax = 4'096;  // of a word with braces; longer: not expanded
inline constexpr std::size_t kWordsMax = 8'192;       // of one command, after brace expansion
inline constexpr std::size_t kMovedWordsMax = 512;  // of one with words that may vanish; more: asks
inline constexpr std::size_t kOptionsMax = 256;     // of one command; with more it is asked about
inline constexpr std::size_t kReadBytesMax = 4 * kTextBytesMax;  // of all texts within the text
inline constexpr std::size_t kDoubtsMax = 16;                    // kept; one is enough to ask

}  // namespace agentrt::policy::shell
