// policy/shell/analysis.h: what a shell text would run, part by part.
//
// A part is one command with its arguments: those of the text, and those that a wrapper runs
// (`timeout 5 ls` is two parts, `sh -c '…'` is itself and the commands of its text). Each part says
// what it does beyond its program's own job: an option that writes a file or runs something is a
// hazard, bound to the word that causes it, so that a rule which names that word covers it.
//
// What stands outside of any part (redirections into files, variables that steer programs) is a
// hazard of the text. Doubts and limits come from syntax.h.
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
    writes,  // a file, beyond the program's own job
    runs,    // something that was not seen
  };
  Kind kind = Kind::runs;
  std::size_t word = kNoWord;  // that causes it; kNoWord: no rule of words covers it
  std::string reason;
  bool names_script = false;  // the word is a file that is run
  bool truncates = false;     // a file loses what it has
};

// Where a part comes from when another one runs it.
struct Within {
  enum class Kind { tail, text };  // its words are the other's last ones, or stand in one of them
  Kind kind = Kind::tail;
  std::size_t part = 0;
  std::size_t word = 0;  // of that part, where this one begins or is written
};

struct Part {
  std::vector<Arg> args;  // never empty; the first is the program
  std::vector<Hazard> hazards;
  std::optional<Within> within;

  const Arg& program() const { return args.front(); }
  std::string text() const;  // as a person would type it
};

struct Analysis {
  std::vector<Part> parts;
  std::vector<Hazard> hazards;            // of the text as a whole
  std::vector<std::string> doubts;        // why bash might run something else
  std::optional<std::string> over_limit;  // then the rest is not complete
  std::optional<std::string> canonical;   // to be run in its place (canonical.h); none: dynamic

  bool proven() const { return doubts.empty() && !over_limit; }
};

Analysis analyse(std::string_view text);

// The name of a program without its folder.
std::string_view base_name(std::string_view path);

}  // namespace agentrt::policy::shell
