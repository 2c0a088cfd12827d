#include "policy/steering.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "policy/paths.h"
#include "policy/shell/findings.h"
#include "policy/shell/git.h"

namespace agentrt::policy {
namespace {

using shell::Analysis;
using shell::Arg;
using shell::one_of;
using shell::Part;

constexpr std::array<std::string_view, 11> kSteering = {
    ".git",   ".agentrt", ".claude", ".mcp.json", "AGENTS.md",    "CLAUDE.md",
    ".envrc", ".github",  ".vscode", ".husky",    ".devcontainer"};

// Programs that write the files named by their words.
constexpr std::string_view kWriters = "touch cp mv ln tee install sed gsed";

// Whether an unknown word has more than a file name pattern: an expansion or substitution.
bool is_computed(std::string_view written) {
  constexpr auto kNone = std::string_view::npos;
  return written.find_first_of("$`") != kNone || written.find_first_of("*?[") == kNone;
}

// Whether a pattern may match a name that begins with a dot. Bash requires that the pattern has the
// dot.
bool may_meet_dot_name(std::string_view pattern) {
  return pattern.starts_with('.')
             ? pattern != "." && !pattern.starts_with("./") && !pattern.starts_with("../")
             : pattern.contains("/.");
}

// The paths that a word may name: itself, and the value of an option or of name=value.
std::vector<std::string_view> paths_in(std::string_view word) {
  std::vector<std::string_view> out{word};
  if (word.starts_with('-') && !word.starts_with("--") && word.size() > 2)
    out.push_back(word.substr(2));
  if (const std::size_t equals = word.find('='); equals != std::string_view::npos)
    out.push_back(word.substr(equals + 1));
  return out;
}

// Every folder that may be the working directory of a command in the text; nullopt: one is
// computed.
std::optional<std::vector<std::string>> folders_of(const Analysis& analysis, const Ground& ground) {
  std::vector<std::string> out{ground.cwd};
  const auto add = [&](const Arg& arg) {
    if (arg.known) out.push_back(normal_path(arg.text, ground.cwd, ground.home));
    return arg.known;
  };
  for (const Part& part : analysis.parts) {
    const bool moves = one_of(part.program().text, "cd pushd chdir");
    const bool wraps = part.program().text == "env";
    for (std::size_t i = 1; i < part.args.size(); ++i) {
      const Arg& before = part.args[i - 1];
      const bool of_option = before.is("-C") || before.is("--chdir");
      const bool joined = part.args[i].text.starts_with("--chdir=");
      if (wraps && joined)
        out.push_back(normal_path(part.args[i].text.substr(8), ground.cwd, ground.home));
      else if ((moves || (wraps && of_option)) && !add(part.args[i]))
        return std::nullopt;
    }
  }
  return out;
}

// git add and git commit only read the files that they name; git mv creates one.
bool writes_what_it_names(const Part& part) {
  if (shell::base_name(part.program().text) != "git") return true;
  const std::size_t verb = shell::git_subcommand(part.args, shell::GlobalOptions::all);
  return verb < part.args.size() && part.args[verb].is("mv");
}

std::string sentence(const Arg& word) {
  return fmt::format("{} is a file that controls other programs", word.text);
}

}  // namespace

bool is_steering_path(std::string_view path, std::string_view workspace) {
  if (is_within(path, workspace)) path.remove_prefix(workspace == "/" ? 0 : workspace.size());
  for (const std::string_view name : kSteering)
    for (std::size_t at = path.find(name); at != std::string_view::npos;
         at = path.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if (at > 0 && path[at - 1] == '/' && (end == path.size() || path[end] == '/')) return true;
    }
  return false;
}

std::optional<std::string> find_steering(const Analysis& analysis, const Part& part,
                                         const Ground& ground) {
  if (!writes_what_it_names(part)) return std::nullopt;
  const std::string& program = part.program().text;
  const bool writer = one_of(program, kWriters) || program == "git";
  const auto folders = folders_of(analysis, ground);
  if (writer && !folders) return "the folder in which " + program + " runs is computed";
  for (std::size_t i = 1; i < part.args.size(); ++i) {
    const Arg& word = part.args[i];
    if (writer && !word.known && (is_computed(word.text) || may_meet_dot_name(word.text)))
      return fmt::format("{} is computed when it runs, and may be a file that others obey",
                         word.text);
    if (program == "cp" && (word.is(".") || word.text.ends_with("/.")) && i + 1 < part.args.size())
      return "cp copies every file in " + word.text;
    if (!word.known) continue;
    for (const std::string_view path : paths_in(word.text))
      for (const std::string& folder : folders.value_or(std::vector{ground.cwd}))
        if (is_steering_path(normal_path(path, folder, ground.home), ground.workspace))
          return sentence(word);
  }
  return std::nullopt;
}

}  // namespace agentrt::policy
