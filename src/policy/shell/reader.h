// policy/shell/reader.h: the parser behind syntax.h; one Reader parses one text.
//
// Recursive descent over characters, because the meaning of a character in bash depends on its
// context. A backslash before a newline joins lines everywhere except in single quotes, comments
// and quoted here-documents, so peek() skips it. A nested text (`…`, trap, eval) gets its own
// Reader, which adds to the same Script.
//
// fail() ends the text at the current position, so every loop terminates. run() then continues at
// the next line or `;`, so that a deny rule still finds the commands there.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "policy/shell/limits.h"
#include "policy/shell/syntax.h"

namespace agentrt::policy::shell {

// State shared by all readers of one text.
struct Reading {
  Script script;
  std::size_t depth = 0;
  std::size_t bytes = 0;           // size of all texts read so far
  std::set<std::string> assigned;  // variables that the text has certainly set so far
  std::set<std::string> of_line;   // of these: set for the rest of their line only
};

class Reader {
 public:
  Reader(std::string_view text, Reading& reading) : text_(text), reading_(reading) {}

  void run();

  // Parses leading words and stops at anything else; finished() tells whether the text has ended.
  std::vector<Word> only_words();
  bool finished() { return at_end() && end_ == text_.size(); }

 private:
  enum class Indent { kept, tabs_stripped };

  // A here-document whose body follows the next newline.
  struct PendingHere {
    std::string delimiter;
    Quoting quoting = Quoting::none;
    Indent indent = Indent::kept;
    std::optional<std::size_t> command;  // index of the command that reads it
    std::size_t redirection = 0;         // index in that command's redirections
  };

  // characters (words.cc)
  char peek(std::size_t ahead = 0);  // '\0' at the end; no text contains it
  char take();
  bool at_end() { return peek() == '\0'; }
  bool enter();
  void leave() { --reading_.depth; }
  bool looking_at(std::string_view what);
  bool take_if(std::string_view what);
  void skip_blanks();
  void skip_blanks_and_newlines();
  void fail(std::string reason);
  void refuse(std::string limit);
  void doubt(std::string reason);
  void only_bash() { reading_.script.bash_only = true; }

  // words (words.cc)
  bool at_word();
  Word word();
  void word_piece(Word& out);
  void single_quotes(Word& out);
  void double_quotes(Word& out);
  void ansi_quotes(Word& out);
  void add_text(Word& out, char c, Quoting quoting);
  void add(Word& out, Piece::Kind kind, std::string text, Quoting quoting);
  Word regex_word();
  std::string name();

  // expansions (expansions.cc)
  void dollar(Word& out, Quoting quoting);
  void add_variable(Word& out, std::string name, Quoting quoting);
  void braced(Word& out, Quoting quoting);
  void braced_rest(const std::string& name, Quoting quoting, Word& out);
  bool braced_operation(const std::string& name, Quoting quoting);
  bool braced_word(Quoting quoting, std::string_view until);
  bool subscript(const std::string& name);
  void command_substitution();
  void backticks(Quoting quoting);
  bool arithmetic(std::string_view closing);
  void arithmetic_name();
  void evaluates(std::string name);
  void arithmetic_expansion();
  void joined_in_arithmetic();
  bool is_arithmetic(std::string_view closing);
  void expand_here_body(std::string body);

  // commands (commands.cc)
  enum class Stop { end, parenthesis, words, case_end };
  void list(Stop stop, std::string_view words = {});
  bool at_stop(Stop stop, std::string_view words);
  bool assignment_ahead();
  void assigned_by(std::size_t first, bool begins_line);
  bool separator();
  bool take_joint(std::string_view sign);
  void joint(std::string_view sign) { reading_.script.joints.push_back({sign, 0}); }
  void pipeline();
  void command();
  bool compound(const std::string& keyword);
  void simple();
  bool array_argument(const SimpleCommand& begun);
  bool function_after(const SimpleCommand& begun);
  std::optional<Assignment> assignment();
  void array_values(const std::string& name);
  void expect_keyword(std::string_view keyword);
  std::string keyword_ahead();
  // Whether a word ends before the character at this distance. <(…) and >(…) continue it.
  bool word_ends(std::size_t ahead);
  void newline();

  // redirections (redirections.cc)
  bool redirection(std::vector<Redirection>& out);
  void refuse_number(const Word& target);
  void redirect_here(std::vector<Redirection>& out, Indent indent);
  void trailing_redirections();
  void read_here_bodies();

  // compound commands (compound.cc)
  void if_clause();
  void loop(std::string_view keyword);
  void for_clause(std::string_view keyword);
  void case_clause();
  void group();
  void subshell();
  void double_brackets();
  void evaluated(const Word& part);
  void evaluated_text(const Word& part, std::size_t piece);
  void evaluated_name(const Word& part);
  void double_parentheses();
  void function_keyword();
  void function_body();
  void coproc();

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t end_ = text_.size();  // the position of a failure, once there was one
  std::vector<PendingHere> pending_;
  std::size_t substitutions_ = 0;  // open command substitutions
  std::size_t open_quotes_ = 0;    // open double quotes, including those around substitutions
  bool here_read_ = false;         // a here-document was read in the outermost open substitution
  Reading& reading_;
};

}  // namespace agentrt::policy::shell
