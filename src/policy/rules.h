// policy/rules.h: the rules people write about tools, read once and asked often.
//
//   tool                  every call of it
//   tool("text")          the call with exactly this text, byte for byte; "…" is a JSON string
//   shell(git status)     the command with exactly these words
//   shell(git log:*)      every command that begins with these words
//   read_file(./.env)     this path; file tools take paths and patterns: src/**, *.pem, ~/.ssh/
//   web_fetch(*.x.org)    every host below x.org; without *. that host alone
//   mcp__server__*        every tool of an MCP server
//   shell(…, outside)     the same command outside the sandbox as well: shell(npm publish, outside)
//
// Words are compared as bash would see them, so quotes and double spaces do not matter, and a
// prefix ends at a word: `git log` does not begin `git logs`. The quoted form is what an answer
// "always" stores: inside it nothing has a meaning but \" \\ and the other escapes of JSON.
//
// For deny and ask a rule of words reads wider: the program's folder and the order of options do
// not matter, so `rm -rf:*` finds `/bin/rm -f -r x`. For allow it reads narrowly.
//
// An allow rule lets a command leave the sandbox only if it says `outside`. A deny or ask rule that
// says so is about commands that leave alone. A last word that is really called outside is quoted.
//
// A relative path is relative to the workspace. A path without pattern means the file; with a slash
// at its end the folder and all below it; in deny and ask always both.
//
// PURE. Safe on any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "policy/shell/analysis.h"
#include "schema/policy.h"

namespace agentrt::policy {

struct Rule {
  enum class Kind { tool, text, words, prefix, path, host };
  schema::PolicyRule source;
  std::string tool;  // a name, or the beginning of names when it ends with `*`
  Kind kind = Kind::tool;
  std::vector<std::string> words;  // of words and prefix
  std::string pattern;             // the text, path or host
  bool outside = false;            // of shell: it is about leaving the sandbox too
};

struct Rules {
  std::vector<Rule> all;
};

// The first rule that cannot be read is the error, with what to write instead.
Result<Rules> compile(const std::vector<schema::PolicyRule>& rules);

// `Bash(git log:*)`, `Read(./x)` and their like in our words; nothing where there is no
// counterpart.
std::optional<std::string> rule_from_claude(std::string_view rule);

// tool("text"), as above; with `outside`, tool("text", outside).
enum class Reach { sandbox, outside };
std::string text_rule(std::string_view tool, std::string_view text, Reach reach = Reach::sandbox);

// --- what a rule says about a call ---

enum class Match { no, possible, yes };

bool is_file_tool(std::string_view tool);

// Whether the rule is about this tool. A deny or ask of one file tool also holds for those that do
// the same to a file: reading, or writing.
bool is_about(const Rule& rule, std::string_view tool);

// How many words of the part an allow rule covers; nothing when it does not fit.
std::optional<std::size_t> covered_words(const Rule& rule, const shell::Part& part);

// Whether a deny or ask rule of words finds the part; possible: a computed word may be what it
// names.
Match finds(const Rule& rule, const shell::Part& part);

struct Folders {
  std::string_view workspace;
  std::string_view home;
};

// Whether a path rule fits the normal path.
bool fits_path(const Rule& rule, std::string_view path, const Folders& folders);

}  // namespace agentrt::policy
