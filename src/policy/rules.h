// policy/rules.h: parses and matches the user's rules about tool calls.
//
//   tool                  every call of this tool
//   tool("text")          the call with exactly this text, byte for byte; "…" is a JSON string
//   shell(git status)     the command with exactly these words
//   shell(git log:*)      every command that begins with these words
//   read_file(./.env)     this path; file tools take paths and patterns: src/**, *.pem, ~/.ssh/
//   web_fetch(*.x.org)    every host below x.org; without *. only that host, in deny and ask rules
//                         also those below it
//   mcp__server__*        every tool of an MCP server
//   shell(…, outside)     the same command, also outside the sandbox: shell(npm publish, outside)
//
// Words are compared after bash parsing, so quotes and double spaces do not matter. A prefix ends
// at a word boundary: `git log` is not a prefix of `git logs`. The quoted form is stored for the
// answer "always"; only JSON escapes have a meaning in it.
//
// Deny and ask rules match broadly: the program's folder and the order of options do not matter, so
// `rm -rf:*` matches `/bin/rm -f -r x`. Allow rules match narrowly.
//
// An allow rule lets a command leave the sandbox only if it says `outside`. A deny or ask rule with
// `outside` applies only to commands that leave it. A command whose last word really is `outside`
// must be quoted.
//
// A relative path starts at the workspace. A path without a pattern means that file; with a
// trailing slash it means the folder and everything below; in deny and ask rules always both.
//
// rules.cc parses; rule_words.cc compares words with the commands of a shell text. permission.h and
// shell_rules.h use the result.
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
  std::string tool;  // a name; with a trailing `*` a prefix of names
  Kind kind = Kind::tool;
  std::vector<std::string> words;  // for Kind::words and Kind::prefix
  std::string pattern;             // the text, path or host
  bool outside = false;            // shell only: the rule has `outside`
};

struct Rules {
  std::vector<Rule> all;
};

// Whether rules may name tools that are only reserved (tools/registry.h): those that are stored
// may, because earlier versions accepted them. They match no call.
enum class ToolNames { existing, reserved_too };

// Fails at the first invalid rule; the error says what to write instead.
Result<Rules> compile(const std::vector<schema::PolicyRule>& rules,
                      ToolNames names = ToolNames::existing);

// Translates a Claude Code rule such as `Bash(git log:*)` or `Read(./x)`. nullopt: no counterpart.
std::optional<std::string> rule_from_claude(std::string_view rule);

// Writes the rule tool("text"), or tool("text", outside).
enum class Reach { sandbox, outside };
std::string text_rule(std::string_view tool, std::string_view text, Reach reach = Reach::sandbox);

// --- matching ---

enum class Match { no, possible, yes };

bool is_file_tool(std::string_view tool);

// Whether the rule applies to this tool. A deny or ask rule also applies to each tool that lists
// the rule's tool in Tool::also_denied_by: a deny of read_file also applies to search_files.
bool is_about(const Rule& rule, std::string_view tool);

// The number of leading words of the part that an allow rule covers. nullopt: it does not match.
std::optional<std::size_t> covered_words(const Rule& rule, const shell::Part& part);

// Whether a deny or ask rule matches the part. possible: a word that is computed at run time may
// match.
Match finds(const Rule& rule, const shell::Part& part);

struct Folders {
  std::string_view workspace;
  std::string_view home;
};

// Whether a path rule matches a normal path (paths.h).
bool fits_path(const Rule& rule, std::string_view path, const Folders& folders);

}  // namespace agentrt::policy
