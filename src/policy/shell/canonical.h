// policy/shell/canonical.h: a shell text written down again, with every word in single quotes.
//
// Our reader and bash may disagree about a text. Where every word is a literal once the text is
// read, the disagreement is made harmless: bash is handed the canonical form, which is made of the
// very words that were judged. In it no alias, keyword, assignment, brace, tilde, pattern, history
// event or expansion is left for bash to find, and its operators are those that the reader found.
//
// The form covers simple commands, pipelines, lists, groups, subshells, `!`, `time`, redirections
// of descriptors and to literal files, literal here-documents, and harmless variables before a
// command. Everything else is dynamic: the text itself runs, and what runs depends on the grammar.
//
// The form does what the text does, except where bash speaks of the text itself: line numbers in
// its error messages, and $BASH_EXECUTION_STRING in a listing of all variables.
//
// PURE. Safe on any thread.
#pragma once

#include <optional>
#include <string>

#include "policy/shell/args.h"
#include "policy/shell/syntax.h"

namespace agentrt::policy::shell {

// Nothing when parts of the script are dynamic, or when the form would be longer than
// kTextBytesMax. The form's own form is itself.
std::optional<std::string> canonical(const Script& script, const Names& names);

}  // namespace agentrt::policy::shell
