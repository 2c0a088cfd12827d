// policy/wider_rules.h: rules that cover more than one exact call, to be offered to the person who
// is asked about the call: a prefix of a shell command (`shell(git log:*)`), the host of a URL
// (`web_fetch(example.org)`), or a tool of an MCP server.
//
// These are candidates. The caller judges the call again with each of them and offers the first
// that would let it run, so a rule that would have no effect is never offered.
//
// Pure. Safe on any thread.
#pragma once

#include <string>
#include <vector>

#include "policy/permission.h"

namespace agentrt::policy {

// Texts of more commands than this get no prefix: one rule would hardly cover them.
inline constexpr std::size_t kPrefixPartsMax = 4;
// The longest prefix, in words.
inline constexpr std::size_t kPrefixWordsMax = 4;

// The shortest prefix of each command first. Programs with subcommands begin with theirs (`git
// log`, `npm run build`). Empty for file tools, for programs that give away the machine (sudo), and
// where a word of the prefix is computed or needs quotes.
std::vector<std::string> wider_rules(const Asked& asked);

}  // namespace agentrt::policy
