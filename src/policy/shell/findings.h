// policy/shell/findings.h: knowledge about programs: the hazards and inner commands of one command.
//
// Each family of programs has a source file that inspects a command's arguments and adds hazards,
// and the commands or shell texts that the program would run. A program in no family has no
// findings, so a rule that allows it allows whatever it does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/analysis.h"

namespace agentrt::policy::shell {

struct Findings {
  struct Inner {
    std::size_t word = 0;  // index of the word where it begins
    std::vector<Arg> args;
  };
  struct InnerText {
    std::size_t word = 0;
    std::string text;
  };
  std::vector<Hazard> hazards;
  std::vector<Inner> commands;
  std::vector<InnerText> texts;
  std::vector<Assignment> exported;  // env A=b: variables of the inner command
  std::vector<std::string> doubts;   // about the whole text

  void runs(std::size_t word, std::string reason) {
    hazards.push_back({.kind = Hazard::Kind::runs, .word = word, .reason = std::move(reason)});
  }
  void runs_script(std::size_t word, std::string reason) {
    runs(word, std::move(reason));
    hazards.back().names_script = true;
  }
  void writes(std::size_t word, std::string reason) {
    hazards.push_back({.kind = Hazard::Kind::writes, .word = word, .reason = std::move(reason)});
  }
};

using Args = std::vector<Arg>;

// Each adds its findings to `out`. Returns whether the program belongs to its family.
bool find_in_wrappers(std::string_view program, const Args& args, Findings& out);
bool find_in_shells(std::string_view program, const Args& args, Findings& out);
bool find_in_builtins(std::string_view program, const Args& args, Findings& out);
bool find_in_interpreters(std::string_view program, const Args& args, Findings& out);
bool find_in_git(std::string_view program, const Args& args, Findings& out);
bool find_in_editors(std::string_view program, const Args& args, Findings& out);  // sed, awk
bool find_in_finders(std::string_view program, const Args& args, Findings& out);  // find, fd
bool find_in_options(std::string_view program, const Args& args, Findings& out);

bool one_of(std::string_view name, std::string_view space_separated);

}  // namespace agentrt::policy::shell
