// Generates texts in which bash evaluates a value: it is assigned to a variable in one of many
// ways, then used where bash evaluates arithmetic, a subscript, a name, a prompt or words.
#include "texts.h"

std::string Texts::evaluation() {
  std::string text;
  const std::string first = name();
  for (int left = 1 + below(2); left > 0; --left)
    text += assigned(below(3) ? first : name(), value()) + one({"; ", "\n", " && ", "; ", "; "});
  for (int left = 1 + below(2); left > 0; --left) {
    const std::string used = below(4) ? first : name();
    switch (below(3)) {
      case 0:
        text += in_arithmetic(used);
        break;
      case 1:
        text += in_builtin(used);
        break;
      default:
        text += in_words(used);
        break;
    }
    text += one({"; ", "\n", " || ", " && "});
  }
  return text + one({"a1", "a1 $v", "a2 w", "echo", "a1 \"$w\"", "env -u $v a1 x1"});
}

// Variables of the text, variables that bash evaluates, and variables named by bash's own values.
std::string Texts::name() {
  switch (below(5)) {
    case 0:
      return one({"RANDOM", "SRANDOM", "SECONDS", "OPTIND", "HISTCMD", "BASHPID", "LINENO",
                  "EPOCHSECONDS", "SHLVL", "UID", "GROUPS", "PIPESTATUS"});
    case 1:
      return one({"HOSTTYPE", "OSTYPE", "MACHTYPE", "TERM", "PATH", "_", "PWD", "REPLY", "OPTARG",
                  "BASH_CMDS", "BASH_ENV", "PS4", "IFS", "DIRSTACK", "MAPFILE", "LANG", "LC_ALL"});
    case 2:
      return one({"x86_64", "linux", "gnu", "dumb", "pc", "N", "COUNT", "C"});
    default:
      return one({"v", "v", "w", "x", "a"});
  }
}

std::string Texts::value() {
  switch (below(4)) {
    case 0:
      return one({"1", "0", "5", "07", "-1", "$((1-3))", "$#", "''", "3$((2))", "10"});
    case 1:
      return one({"x", "w", "v", "TERM", "a b", "'-exec x1 ;'", "'a -exec x1 ;'", "-exec", "sub",
                  "'PATH=0'", "PATH=0", "0", "'$(x1)'", "\\$\\(x1\\)", "'[$(x1)]'", "@"});
    case 2:
      return one({"'($(x1))'", "'([$(x1)]=1)'", "'v[0$(x1)]'", "'1+a[$(x1)]'", "'w=a[`x1`]'"});
    default:
      return one({"'a[$(x1)]'", "'b[$(x1)]'", "\"a[\\$(x1)]\"", "'a[`x1`]'", "$'a[$(x1)]'",
                  "a[\\$\\(x1\\)]", "$'\\x61[$(x1)]'", "'x[$(x1)]+1'"});
  }
}

std::string Texts::assigned(const std::string& name, const std::string& value) {
  const std::string n = name, v = value;
  switch (below(36)) {
    case 0:
      return n + "+=" + v;
    case 1:
      return "for " + n + " in " + v + "; do " + one({":", "a1", "a1 $v"}) + "; done";
    case 2:
      return one({"read ", "read -r ", "IFS= read -r ", "read -a ", "read q ", "builtin read "}) +
             n + " <<< " + v;
    case 3:
      return "printf -v " + n + " %s " + v;
    case 4:
      return one({"declare ", "declare -a ", "typeset ", "export ", "readonly ", "declare -g ",
                  "declare -i ", "declare -x ", "declare -A ", "command declare "}) +
             n + "=" + v;
    case 5:
      return "f() { local " + one({"", "-a ", "-i ", "-n "}) + n + "=" + v + "; " +
             in_arithmetic(n) + "; }; f";
    case 6:
      return "mapfile " + one({"-t ", "", "-n 1 "}) + n + " <<< " + v;
    case 7:
      return "getopts " + one({"x", "v:", "w"}) + " " + n + one({" -x", " -v", " -w"});
    case 8:
      return "select " + n + " in " + v + "; do break; done <<< 1";
    case 9:
      return "((" + n + "=" + one({"1", "w", "x", "-1", "v+1"}) + "))";
    case 10:
      return ": ${" + n + one({":=", "="}) + v + "}";
    case 11:
      return n + "=(" + v + " " + one({"", "-exec x1 ';'", "[0]=1", "sub"}) + ")";
    case 12:
      return n + "[" + one({"0", "w", "1+1"}) + "]=" + v;
    case 13:
      return "{read," + n + "} <<< " + v;
    case 14:
      return "eval " + one({"'", "\"", ""}) + n + "=" + v + one({"'", "\"", ""});
    case 15:
      return "eval 'read " + n + " <<< \"$v\"'";
    case 16:
      return "coproc " + n + " { :; }";
    case 17:
      return "set -- " + v + " " + one({"", "-exec x1 ';'", "w"});
    case 18:
      return one({"false && ", "true || ", "(", "f() { ", "! "}) + n + "=1" +
             one({"", ")", "; }", " | :", " &"});
    case 19:
      return "printf " + one({"%n ", "'%5n' ", "\"$w\" ", "'x%n' "}) + n;
    case 20:
      return n + "=" + v + " " + one({":", "eval 'a1 $((v))'", "bash -c 'a1 $((v))'", "a1"});
    case 21:
      return "trap '" + n + "=1' " + one({"EXIT", "DEBUG", "ERR"});
    case 22:
      return "a1 " + v;  // then $_ has the value
    case 23:
      return "declare -n " + n + "=" + v;
    case 24:
      return "{ " + n + "=" + v + "; }";
    case 25:
      return "wait -p " + n;
    case 26:  // an error discards the rest of the line
      return one({": $((1/0)); ", ": $((1-&2)); ", "w=$((1/0)) ", "readonly w; w=1; ", "w=${x y}; ",
                  "f() { : $[1/0]; }; f; "}) +
             n + "=" + v + one({"\n", ";\n", " #\n"});
    case 27:
      return n + "=" + v + one({"$((1/0))\n", "$((v[))\n", "$((1-&3))\n", "${v:1/0}\n"});
    default:
      return n + "=" + v;
  }
}

std::string Texts::in_arithmetic(const std::string& n) {
  const std::string e = one({"", "", "1+", "-", "0 || ", "1,", "\"", "$", "${", "a", "2#"}) + n +
                        one({"", "", "+1", " ", "?1:2", "++", "\"", "}", "$w", "=1", "[0]", "==1"});
  switch (below(20)) {
    case 0:
      return "((" + e + "))";
    case 1:
      return "for ((i=" + e + ";i<1;i++)); do a1; done";
    case 2:
      return "[[ " + e + one({" -eq ", " -lt ", " -ge ", " \\\n-ne ", " -g\\\nt "}) +
             one({"1", "w", e.c_str()}) + " ]]";
    case 3:
      return "[[ 1 " + one({"-eq ", "-le "}) + e + " ]]";
    case 4:
      return "[[ ! ( 0 -gt " + e + " ) ]]";
    case 5:
      return "a1 $[" + e + "]";
    case 6:
      return "a1 ${v:" + e + "}";
    case 7:
      return "a1 ${v:0:" + e + "}";
    case 8:
      return "a1 " + one({"${a[", "${#a[", "\"${a["}) + e + "]}" + one({"", "\""});
    case 9:
      return one({"v[", "a["}) + e + "]=" + one({"1", "(2)", "w"});
    case 10:
      return "a=([" + e + "]=1)";
    case 11:
      return "a1 {a[" + e + "]}" + one({"</dev/null", "<&0", ">&1"});
    case 12:
      return "cat <<E\n$((" + e + "))\nE\n";
    case 13:
      return one({"eval ", "bash -c ", "sh -c "}) + "'a1 $((" + e + "))'";
    case 14:
      return one({"RANDOM=", "OPTIND=", "SECONDS="}) + one({n.c_str(), "$v", "$((v))"});
    case 15:
      return "let " + one({"", "'", "w="}) + e + one({"", "'"});
    default:
      return "a1 " + one({"$((", "\"$((", "w$(("}) + e + one({"))", "))\"", "))w"});
  }
}

std::string Texts::in_builtin(const std::string& n) {
  const std::string s = one({"a[", "v[", ""}) + one({"", "$", "0$"}) + n + one({"]", "]", ""});
  const std::string q = one({"", "'", "\""});
  switch (below(22)) {
    case 0:
      return one({"[ -v ", "[ ! -v ", "[ -n a -a -v "}) + q + s + q + " ]";
    case 1:
      return "test -v " + q + s + q;
    case 2:
      return "[[ -v " + q + s + q + " ]]";
    case 3:
      return "unset " + one({"", "-v ", "-- "}) + q + s + q;
    case 4:
      return "read " + one({"", "-r ", "-a ", "-p '[y]' ", "-a"}) + q + s + q + " <<< 1";
    case 5:
      return "printf " + one({"-v ", "-v", "-- -v "}) + q + s + q + " w";
    case 6:
      return "a1 & wait " + one({"-n -p ", "-p", "-np", "-p "}) + q + s + q;
    case 7:
      return one({"declare ", "typeset ", "local ", "export ", "readonly "}) + q + s + "=1" + q;
    case 8:
      return one({"declare ", "declare -a ", "local -a ", "typeset ", "readonly -a "}) + "w=" + q +
             "$" + n + q;
    case 9:
      return "jobs " + one({"-x ", "-lx ", "$w ", "-p ", ""}) + one({"x1", "a1", "$v"});
    case 10:
      return "getopts x " + q + s + q + " -x";
    case 11:
      return "mapfile -t " + q + s + q + " <<< 1";
    case 12:
      return one({"shift ",       "umask ",      "ulimit -c ", "times ",      "type ",
                  "dirs ",        "pushd ",      "popd ",      "caller ",     "disown ",
                  "bg ",          "fg ",         "help ",      "hash ",       "return ",
                  "kill -l ",     "enable ",     "shopt -s ",  "let ",        "alias ",
                  "complete -W ", "compgen -W ", "bind -x ",   "history -s ", "fc -s ",
                  "source ",      ". "}) +
             q + one({s.c_str(), "$v"}) + q;
    case 13:
      return "set -" + one({"x", "u", "a", "k", "e", "o posix", "o xtrace"});
    case 14:
      return "trap " + one({"'", "\""}) + "a1 $((" + n + "))" + one({"'", "\""}) + " EXIT";
    case 15:
      return "exec {" + s + "}</dev/null";
    case 16:
      return "case $" + n + " in *) a1;; esac";
    case 17:
      return "sh -c '" +
             one({"((x1))", "a1 $\"", "a1 &> /dev/null", "[[ x1 ]]", "a1 {x1,w}", "a1 |& a2",
                  "a1 <<< w", "function x1 { a1; }", "time a1"}) +
             "'";
    case 18:
      return "cd " + one({"0", ".", "$v"});
    default:
      return one({"test ", "[ "}) + one({"$", "\"$"}) + n + one({"", "\""}) + " " +
             one({"= w", "'a[$(x1)]'", "\"$v\"", "-eq 1", "\"$x\""}) + one({"", " ]"});
  }
}

std::string Texts::in_words(const std::string& n) {
  const std::string w = one({"$", "${", "\"$", "\"${"}) + n +
                        one({"", "}", "\"", "}\"", "[@]}", "[@]}\"", ":1}", "@P}", "@Q}", "#a}"});
  switch (below(14)) {
    case 0:
      return "find . -maxdepth 0 " + w + one({"", "-exec x1 \\;", ".c", "w", "\"-exec\" x1 \\;"});
    case 1:
      return "find . -maxdepth 0 -name " + w + one({"", ".c"}) + one({"", " -print"});
    case 2:
      return "s1 " + one({"{,}", "{,} ", "$((-1))", "$!", "''", "{su,}b", "{,''}"}) +
             one({" sub", "sub", " w"});
    case 3:
      return one({"{,}", "{a,}", "{,} a1", "$!", w.c_str()}) + one({" x1", " a1", "x1", " sub"});
    case 4:
      return "find . -maxdepth 0 " +
             one({"{,}", "\"$@\"", "\"${@:1}\"", "${v+\"$@\"}", "\"${v:-$@}\"", "$!", "$((-1))",
                  "\"${a[@]:0}\""}) +
             one({"", "-exec x1 \\;", " -exec a1 \\;", "xec x1 \\;"});
    case 5:
      return "for v in " + one({"{a,}\"-exec\"", "{-exec,w}", "*", w.c_str(), "{,-}exec"}) +
             "; do find . -maxdepth 0 $v x1 \\; ; done";
    case 6:
      return one({"cat < ", "a1 > ", "a1 >> ", "cat <> "}) +
             one({"/dev/fd/../cwd/q", "/dev/fd//0", "/dev/fd/1", "/dev/$v", "$v",
                  "/dev/stdout/../q", "/dev/{fd,}/1", "/dev/fd/1/../q", w.c_str()});
    case 7:
      return one({"env ", "timeout 1 ", "nice ", "xargs ", "command "}) + w +
             one({" a1", " x1", ""});
    case 8:
      return "a1 " +
             one({"$'\\u0061'", "$'\\x{61}'", "$'\\cA'", "$'\\c\\\\'", "$'\\U00000041'", "$'\\x'",
                  "$'a\\0b'w", "$'\\q'", "$'\\c\\''", "$'\\477'", "$'\\xg'"}) +
             one({"", "w"});
    case 9:
      return "a1 ${!" + n + one({"}", "@}", "*}", "[@]}"});
    case 10:
      return "a1 \"${" + n + one({"@P}", "@E}", "@A}", "@U}", "^^}", "//a/$v}"}) + "\"";
    default:
      return "a1 " + w + one({"", "w", " w"});
  }
}
