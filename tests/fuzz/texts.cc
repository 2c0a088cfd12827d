#include "texts.h"

namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '`' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string in_quotes(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::string Texts::next() {
  std::string text = below(3) == 0 ? evaluation() : below(4) == 0 ? nested() : list(3);
  while (below(4) == 0) text += one({"\n", "; ", " && ", " || ", " | ", " & "}) + list(2);
  for (int left = below(3) == 0 ? 1 + below(3) : 0; left > 0; --left) damage(text);
  return text;
}

// Mostly an allowed program, sometimes one that is not.
std::string Texts::program() {
  switch (below(12)) {
    case 0:
      return one({"x1", "x2", "s1", "s1 sub", "s1 su'b'", "\"a1\"", "a\\1", "'a'2", "$'a1'"});
    case 1:
      return one({"echo", "true", ":", "printf %s", "test", "[ a = a ] &&  a1", "set --",
                  "read v <<<", "cat", "sort"});
    case 2:
      return one({"eval", "command", "builtin", "exec", "env", "xargs", "timeout 1", "nice -n 1",
                  "bash -c", "sh -c", "trap", "find . -exec"});
    default:
      return one({"a1", "a2", "a1", "s1 sub"});
  }
}

std::string Texts::word(int depth) {
  switch (below(depth > 0 ? 22 : 9)) {
    case 0:
      return one({"w", "x1", "sub", "-n", "--", "a b", "-c", "+"});
    case 1:
      return "'" + one({"q", "a;x1", "$(x1)", "\"", "`x1`", "\\", "#", "x1 #", "}", ")"}) + "'";
    case 2:
      return "\"" + one({"d", "a;x1", "'", "\\\"", "\\$(x1)", "\\`x1\\`", "#", "\\\\", "a\\\nb"}) +
             "\"";
    case 3:
      return one(
          {"\\;", "\\\n", "\\#", "a#b", "\\'", "\\\"", "\\$", "\\\\", "\\&", "\\|", "\\ x1"});
    case 4:
      return one({"$'\\n'", "$'\\'x1'", "$'\\x41'", "$'a\\\\'", "$\"d\"", "$'\\101\\0'", "$",
                  "$'$(x1)'", "$'`x1`'", "$';x1 '", "$'} ;x1 '", "$'\"$(x1)'", "$\"}$(a1)\""});
    case 5:
      return one({"*", "?", "[a]", "{a,b}", "{x1,a}", "{1..3}", "a{,x}", "{a", "{}", "~", "a*"});
    case 6:
      return one({"$v", "\"$v\"", "${v}", "${v:-d}", "${#v}", "${v%a}", "${v/a/b}", "$#", "$?",
                  "$$x", "\"${v:-a b}\"", "$@", "\"$@\"", "${v:1:2}", "${v^^}"});
    case 7:
      return one({"$((1+2))", "$((v))", "$[1]", "$((1<2))", "$(( (1) ))", "$((v=1))"});
    case 8:
      return one({"#c", "a=b", "2", "1>&2", "é", "=", "!", "time", "if", "then", "done", "}"});
    case 9:
      return "$(" + list(depth - 1) + ")";
    case 10:
      return "\"$(" + list(depth - 1) + ")\"";
    case 11:
      return "`" + escaped(list(depth - 1)) + "`";
    case 12:
      return "\"`" + escaped(list(depth - 1)) + "`\"";
    case 13:
      return "${v:-$(" + list(depth - 1) + ")}";
    case 14:
      return "<(" + list(depth - 1) + ")";
    case 15:
      return "${v" + one({":-", "-", ":+", "+", "#", "%", "/", ":=", ":?"}) + word(depth - 1) + "}";
    case 16:
      return "\"${v" + one({":-", "-", ":+", "#", "/"}) + word(depth - 1) + "}\"";
    case 17:
      return "$((1 + " + one({"$(", "v[$("}) + list(depth - 1) + one({")", ")]"}) + "))";
    case 18:
      return quoted_list(depth);
    default:
      return word(0) + word(0);
  }
}

std::string Texts::quoted_list(int depth) { return in_quotes(list(depth - 1)); }

// A quoted command that must not run, within two to five expansions.
std::string Texts::nested() {
  std::string inner =
      one({"'$(x1)'",     "$'$(x1)'",     "$';x1 '",       "$'} ;x1 '",    "$'\\'$(x1)'",
           "$') ;x1 '",   "'`x1`'",       "';x1 '",        "'}$(x1)'",     "')$(x1)'",
           "'\"$(x1)'",   "\\$\\(x1\\)",  "\"\\$(x1)\"",   "\"'\"'$(x1)'", "\\''$(x1)'",
           "\\\"'$(x1)'", "\"}\"'$(x1)'", "$\"'\"'$(x1)'", "{a,'$(x1)'}",  "a # $(x1)\n"});
  for (int left = 2 + below(4); left > 0; --left)
    inner = one({"", "", "a", "$v", "a "}) + around(inner);
  return "a1 " + inner;
}

// An expansion that contains the word `inner`.
std::string Texts::around(const std::string& inner) {
  const std::string quote = one({"", "\""});
  switch (below(16)) {
    case 0:
      return quote + "`" + escaped("a1 " + inner) + "`" + quote;
    case 1:
    case 2:
    case 3:
      return quote + "${v" + one({":-", "-", ":+", "+", "#", "%%", "/a/", "^", "/"}) + inner + "}" +
             quote;
    case 4:
      return one({"<(", "<((", "<( (", ">("}) + "a1 " + inner + one({")", "))", ") )"});
    case 5:
      return quote + "$([[ a " + one({"=~ ", "=~ (", "== @(", "== ", "=~ a|(b"}) + inner +
             one({" ]])", ") ]])"}) + quote;
    case 6:
      return quote + "$(case a in " + inner + ") a1;; esac)" + quote;
    case 7:
      return quote + "$(case " + inner + " in *) a1 " + inner + ";; esac)" + quote;
    case 8:
      return quote + "$(cat <<" + one({"E", "'E'"}) + "\n" + inner + "\nE\n)" + quote;
    case 9:
      return quote + "$(a=(" + inner + "); a1)" + quote;
    case 10:
      return quote + "$(" + one({"eval ", "bash -c "}) + in_quotes("a1 " + inner) + ")" + quote;
    case 11:
      return quote + "$(f() { a1 " + inner + "; }; f)" + quote;
    case 12:
      return quote + "$(cat <<< " + inner + ")" + quote;
    default:
      return quote + "$(a1 " + inner + ")" + quote;
  }
}

std::string Texts::redirection(int depth) {
  return one({" >/dev/null", " 2>&1", " </dev/null", " >&2", " 2>/dev/null", " <<<", " >", " >>",
              " <&-", " &>/dev/null", " 3>&1", " >|", " <>", " {fd}>&1"}) +
         (below(2) ? "" : word(depth > 0 ? depth - 1 : 0));
}

std::string Texts::simple(int depth) {
  std::string out;
  if (below(10) == 0)
    out += one({"v=1 ", "v=a ", "LC_ALL=C ", "v='a b' ", "v=-x ", "v+=b ", "a=(x y) ", "v[0]=1 ",
                "PATH=. ", "IFS=a "});
  out += program();
  for (int left = below(4); left > 0; --left)
    out += one({" ", " ", "  ", "\t", " \\\n"}) + word(depth);
  if (below(6) == 0) out += redirection(depth);
  return out;
}

std::string Texts::here(int depth) {
  const std::string end = one({"E", "E", "'E'", "\\E", "\"E\""});
  const std::string body = one({"text", "$v", "a\\", "\\$(x1)", "'", "\"", "E ", "\tE", "x1"});
  return "cat <<" + one({"", "-", " "}) + end + one({"", "; a1", " | a1", " && a2 w"}) + "\n" +
         body + (below(3) == 0 && depth > 0 ? "$(" + list(depth - 1) + ")" : "") + "\nE\n" +
         simple(0);
}

std::string Texts::command(int depth) {
  if (depth <= 0) return simple(0);
  switch (below(24)) {
    case 0:
      return "(" + list(depth - 1) + ")";
    case 1:
      return "{ " + list(depth - 1) + "; }";
    case 2:
      return "if " + list(depth - 1) + "; then " + list(depth - 1) + "; " +
             (below(2) ? "else " + list(depth - 1) + "; " : "") + "fi";
    case 3:
      return "for v in " + word(depth - 1) + " " + word(0) + "; do " + list(depth - 1) + "; done";
    case 4:
      return one({"while false; do ", "until true; do "}) + list(depth - 1) + "; done";
    case 5:
      return "case " + word(0) + " in " + one({"(w)", "a|w)", "*)", "'x')", "esac)"}) + " " +
             list(depth - 1) + one({" ;;", ";;", " ;&", "\n;;&"}) + " esac";
    case 6:
      return "f() { " + list(depth - 1) + "; }";
    case 7:
      return "! " + command(depth - 1);
    case 8:
      return "time " + one({"", "-p ", "-- "}) + command(depth - 1);
    case 9:
      return "[[ " + word(0) + one({" == ", " = ", " =~ ", " -eq ", " != ", " < "}) +
             (below(3) ? word(depth - 1) : one({"(", "@(", "a("}) + word(depth - 1) + ")") + " ]]";
    case 10:
      return "((" + one({"1", "v", "v++", "1+1", "v=2"}) + "))";
    case 11:
      return here(depth);
    case 12:
      return "for ((v=0;v<2;v++)); do " + list(depth - 1) + "; done";
    case 13:
      return "coproc " + command(depth - 1);
    case 14:
      return simple(depth) + " | " + command(depth - 1);
    case 15:
      return "function g { " + list(depth - 1) + "; }";
    default:
      return simple(depth);
  }
}

std::string Texts::list(int depth) {
  std::string out = command(depth);
  while (below(4) == 0)
    out += one({"; ", "\n", " && ", " || ", " & ", "|", "|&", ";", " # c\n", "\n\n"}) +
           command(depth - 1);
  return out;
}

void Texts::damage(std::string& text) {
  if (text.empty()) return;
  const auto at = static_cast<std::size_t>(below(static_cast<int>(text.size())));
  switch (below(3)) {
    case 0:
      text.erase(at, 1);
      break;
    case 1:
      text.insert(at, one({"'",  "\"", "`",   "\\", "$", "(", ")", "{",  "}",   "\n",
                           ";",  "&",  "|",   "<",  ">", "#", " ", "\t", "\r",  "$(",
                           "<(", "x1", ";x1", "=",  "[", "]", "!", "*",  "<<E", "\\\n"}));
      break;
    default:
      text[at] = one({"'", "\"", "`", "\\", "$", "(", ")", "\n", ";", " ", "#"})[0];
      break;
  }
}
