// policy/shell/canonical.h: rewrites a shell text with every word in single quotes.
//
// Our parser and bash may disagree about a text. If every word is a literal after parsing, bash
// gets the canonical form instead, which consists of exactly the words that were judged. It
// contains no alias, keyword, assignment, brace, tilde, pattern, history event or expansion for
// bash to interpret, and only the operators that our parser found.
//
// The form supports simple commands, pipelines, lists, groups, subshells, `!`, `time`, redirections
// of descriptors and to literal files, literal here-documents, and harmless variables before a
// command. Any other text is "dynamic": it runs as it is, and correctness depends on our parser.
//
// The form behaves like the text, except where bash reports the text itself: line numbers in error
// messages, and $BASH_EXECUTION_STRING in a listing of all variables.
//
// PURE. Safe on any thread.
#pragma once

#include <optional>
#include <string>

#include "policy/shell/args.h"
#include "policy/shell/syntax.h"

namespace agentrt::policy::shell {

// nullopt: a part of the script is dynamic, or the form would exceed kTextBytesMax. Idempotent: the
// canonical form of the form is the form itself.
std::optional<std::string> canonical(const Script& script, const Names& names);

}  // namespace agentrt::policy::shell
