// policy/shell/analysis.h: finds the commands that a shell text would run, and their hazards.
//
// A part is one command with its arguments: a simple command of the text, or a command that a
// wrapper runs. `timeout 5 ls` has two parts; `sh -c '…'` is one part, and the commands of its text
// are further parts. An option that writes a file or runs something beyond the program's own job is
// a hazard. A hazard belongs to the word that causes it, so a rule that names this word covers it.
//
// Redirections to files and variables that change how programs work are hazards of the text as a
// whole. A doubt is a reason why bash might run something else (syntax.h).
//
// PURE. Safe on any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/args.h"

namespace agentrt::policy::shell {

inline constexpr std::size_t kNoWord = static_cast<std::size_t>(-1);

struct Hazard {
  enum class Kind {
    writes,  // writes a file, beyond the program's own job
    runs,    // runs something that the analysis does not see
  };
  Kind kind = Kind::runs;
  std::size_t word = kNoWord;  // the word that causes it; kNoWord: no words rule can cover it
  std::string reason;
  bool names_script = false;  // the word is a file that is executed
  bool truncates = false;     // the old content of a file is lost
  std::string target = {};    // the file that a redirection writes, if it is known
};

// Where a part was found, if another part runs it.
struct Within {
  // The last words of the other part, or text inside one of its words.
  enum class Kind { tail, text };
  Kind kind = Kind::tail;
  std::size_t part = 0;
  std::size_t word = 0;  // index in that part where this one begins
};

struct Part {
  std::vector<Arg> args;  // not empty; the first is the program
  std::vector<Hazard> hazards;
  std::optional<Within> within;

  const Arg& program() const { return args.front(); }
  std::string text() const;  // as a person would type it
};

struct Analysis {
  std::vector<Part> parts;
  std::vector<Hazard> hazards;      // of the text as a whole
  std::vector<std::string> doubts;  // why bash might run something else
  // The exceeded limit; the other members are then incomplete.
  std::optional<std::string> over_limit;
  // Run this instead of the text (canonical.h); nullopt: dynamic.
  std::optional<std::string> canonical;

  bool proven() const { return doubts.empty() && !over_limit; }
};

Analysis analyse(std::string_view text);

// The program's name without its folder.
std::string_view base_name(std::string_view path);

}  // namespace agentrt::policy::shell
