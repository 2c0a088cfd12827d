// policy/shell/canonical_test.cc: tests which texts have a canonical form, and what it is.
// tests/fuzz/canonical_test.py compares the behaviour of text and form in bash itself.
#include "policy/shell/canonical.h"

#include <random>

#include <doctest/doctest.h>

#include "policy/shell/analysis.h"
#include "policy/shell/limits.h"

namespace agentrt::policy::shell {
namespace {

std::string form(std::string_view text) { return analyse(text).canonical.value_or("dynamic"); }

std::string shown(const Analysis& analysis) {
  std::string out;
  for (const Part& part : analysis.parts) {
    for (const Arg& arg : part.args) out += (arg.known ? "=" : "?") + arg.text + '\n';
    for (const Hazard& hazard : part.hazards) out += "! " + hazard.reason + '\n';
  }
  for (const Hazard& hazard : analysis.hazards) out += "!! " + hazard.reason + '\n';
  return out;
}

}  // namespace

TEST_CASE("every word of a literal text is in single quotes") {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"ls -la src", "'ls' '-la' 'src'"},
      {"  ls\t# a comment", "'ls'"},
      {R"(echo "a b" 'c'd \$x "it's" '')", R"('echo' 'a b' 'cd' '$x' 'it'\''s' '')"},
      {R"(printf $'a\tb' $"c")", "'printf' 'a\tb' 'c'"},
      {"l\\\ns", "'ls'"},
      {"mkdir -p src/{a,b} x{1..3}", "'mkdir' '-p' 'src/a' 'src/b' 'x1' 'x2' 'x3'"},
      {"ls {a,} {,} ''", R"('ls' 'a' '')"},  // bash drops words that become empty by braces
      // Braces close at the first } that follows a comma of their own.
      {"ls {a}b,c} x{a}{b,c} {a{b,c}", "'ls' 'a}b' 'c' 'x{a}b' 'x{a}c' '{ab' '{ac'"},
      {"ls {x,{y}k,z}r,s}", "'ls' 'xr,s}' '{y}kr,s}' 'zr,s}'"},
      {"ls {a} {} {a}b x{}y {{a},b} {,a}b,c}",
       "'ls' '{a}' '{}' '{a}b' 'x{}y' '{a}' 'b' 'b,c}' 'ab,c}'"},
      {"git log | head -5", "'git' 'log' | 'head' '-5'"},
      {"a && b || c; d & e", "'a' && 'b' || 'c' ; 'd' & 'e'"},
      {"a\nb\n\n# c\nd;\n", "'a'\n'b'\n'd'"},
      {"a |& b", "'a' |& 'b'"},
      {"! a | b", "! 'a' | 'b'"},
      {"time -p make && time ! b", "time -p 'make' && time ! 'b'"},
      {"a &", "'a' &"},
      {"(cd x && make) 2>&1 | tail", "( 'cd' 'x' && 'make' ) 2>&1 | 'tail'"},
      {"{ a; b; } >x", "{ 'a' ; 'b' ; } > 'x'"},
      {"make 2>/dev/null >out", "'make' 2> '/dev/null' > 'out'"},
      {">out 2>>err make <in", "'make' > 'out' 2>> 'err' < 'in'"},
      {"a &>x; a &>>x; a >|x; a <>x", "'a' &> 'x' ; 'a' &>> 'x' ; 'a' >| 'x' ; 'a' <> 'x'"},
      {"a >&2 2>&- 3<&0 4>&1-", "'a' >&2 2>&- 3<&0 4>&1-"},
      {"exec 3>x", "'exec' 3> 'x'"},
      {"> x", "> 'x'"},
      {"cat <<<'a b'", "'cat' <<< 'a b'"},
      {"cat <<E | wc\na\n 'b'\nE\nls", "'cat' <<< 'a\n '\\''b'\\''' | 'wc'\n'ls'"},
      {"cat <<-'E'\n\t$x\n\tE", "'cat' <<< '$x'"},
      {"LC_ALL=C sort x", "LC_ALL='C' 'sort' 'x'"},
      {"RUST_BACKTRACE=1 NO_COLOR= cargo test", "RUST_BACKTRACE='1' NO_COLOR='' 'cargo' 'test'"},
      {"[ -f a ] && echo yes", "'[' '-f' 'a' ']' && 'echo' 'yes'"},
      {"\\if 'then' \"a=b\"", "'if' 'then' 'a=b'"},
      {"./a=b c", "'./a=b' 'c'"},
      {"echo if { } ! time a=b", "'echo' 'if' '{' '}' '!' 'time' 'a=b'"},
      {"git show HEAD~1 x^", "'git' 'show' 'HEAD~1' 'x^'"},
      {"find . -name '*.c' -exec wc {} +", "'find' '.' '-name' '*.c' '-exec' 'wc' '{}' '+'"},
      {"echo é \"\n\"", "'echo' 'é' '\n'"},
      {"cd a && set -euo pipefail", "'cd' 'a' && 'set' '-euo' 'pipefail'"},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(form(text) == expected);
  }
}

TEST_CASE("a text with parts that bash has to compute has no canonical form") {
  for (const std::string_view text :
       {// expansions, patterns, tildes
        "ls $x", "ls \"$x\"", "ls $(a)", "ls `a`", "ls *.c", "ls a?", "ls [ab]", "ls ~", "ls ~/x",
        "make A=~/x", "make P=a:~b", "echo {~,a}", "A={a,~} b", "ls $((1))", "cat <(a)",
        "ls {a,$}{HOME,b}", "echo $'\\xff'",
        // compound commands
        "if a; then b; fi", "for i in a b; do c; done", "while a; do b; done",
        "case a in a) b;; esac", "[[ a == b ]]", "((1))", "f() { a; }", "function f { a; }",
        "coproc a", "f() { a; }; f",
        // assignments that affect commands, and assignments alone
        "a=b", "a=b; ls", "PATH=. ls", "IFS=, read a", "x+=1 ls", "x[0]=1 ls", "x=(a) ls",
        "LC_ALL=$x ls", "RANDOM=1 ls", "BASH_ENV=x ls",
        // redirections that are not plain
        "ls {fd}>x", "ls >&x", "ls 123>x", "ls >$x", "ls >*", "cat <<E\n$x\nE", "cat <<E\nE",
        "cat <<<~", "ls > a{b,c}", "ls >&$x",
        // texts that bash parses differently or rejects
        "ls &&", "ls |", "; ls", "ls ; ; ls", "& ls", "()", "{ }", "{ ls }", "ls )", "a | ! b", "!",
        "time", "! && a", "ls 'a", "ls \"", "ls \\", "ls 'a\n'\\", "ls a{},x}", "set -v; ls",
        "set -k; a b=c", "shopt -s extglob; ls", "%1", "declare -a x=(a)", "", "# c", "\n",
        // characters that bash uses internally
        "echo '\x01'", "echo '\x7f'", "echo '\xff'"}) {
    CAPTURE(text);
    CHECK(form(text) == "dynamic");
  }
}

TEST_CASE("the canonical form is no longer than a text may be") {
  CHECK(form("echo " + std::string(kTextBytesMax / 2, 'a')) != "dynamic");
  CHECK(form("echo \"" + std::string(kTextBytesMax / 2, '\'') + '"') == "dynamic");
  std::string many = "true";
  for (int i = 1; i < 100; ++i) many += "; true";
  CHECK(form(many) != "dynamic");
  CHECK(form(many + "; true") == "dynamic");
}

TEST_CASE("the canonical form is judged like its text, and is its own form") {
  constexpr std::string_view kPieces[] = {
      "a",    "ls",   " ",    " ",     "'b c'", "\"d\"", "\\;", ";",   "&&",    "||",
      "|",    "&",    "\n",   "!",     "(",     ")",     "{",   "}",   "{x,y}", ">",
      "<",    "2>&1", "<<E",  "\nE\n", "#",     "=",     "~",   "$x",  "A=b",   "LC_ALL=C",
      "time", "if",   "then", "fi",    "\\\n",  "'",     "\"",  "<<<", "-n",    "'\\''"};
  std::mt19937 random(7);
  std::size_t forms = 0;
  for (int round = 0; round < 60'000; ++round) {
    std::string text = "a";
    for (auto left = random() % 9; left > 0; --left) text += kPieces[random() % std::size(kPieces)];
    CAPTURE(text);
    const Analysis analysis = analyse(text);
    if (!analysis.canonical) continue;
    ++forms;
    const Analysis again = analyse(*analysis.canonical);
    CHECK(again.canonical == analysis.canonical);
    CHECK(shown(again) == shown(analysis));
  }
  CHECK(forms > 5'000);
}

}  // namespace agentrt::policy::shell
