#include "policy/shell/variables.h"

#include <algorithm>

#include "policy/shell/findings.h"

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kHarmless =
    "TZ NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM TERM COLUMNS LINES "
    "RUST_BACKTRACE RUST_LOG RUST_TEST_THREADS CI DEBUG VERBOSE NODE_ENV PYTHONUNBUFFERED "
    "PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONHASHSEED PYTHONUTF8 CARGO_TERM_COLOR "
    "CARGO_INCREMENTAL GTEST_COLOR GOOS GOARCH CGO_ENABLED SOURCE_DATE_EPOCH DEBIAN_FRONTEND "
    "GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS LOG_LEVEL CTEST_OUTPUT_ON_FAILURE PY_COLORS";

// Variables whose value is run as a program, and values with which nothing happens.
constexpr std::string_view kPagers = "PAGER GIT_PAGER MANPAGER GIT_EDITOR EDITOR VISUAL";
constexpr std::string_view kIdle = "cat true :";

constexpr std::string_view kOfBash =
    "PATH HOME IFS ENV CDPATH GLOBIGNORE EXECIGNORE FIGNORE POSIXLY_CORRECT SHELL SHELLOPTS "
    "BASHOPTS PROMPT_COMMAND PROMPT_DIRTRIM PS0 PS1 PS2 PS3 PS4 TMPDIR TMP TEMP TEXTDOMAIN "
    "TEXTDOMAINDIR TIMEFORMAT INPUTRC USER LOGNAME OLDPWD PWD TERMINFO HOSTFILE _ HOSTTYPE OSTYPE "
    "MACHTYPE MAIL MAILPATH auto_resume histchars EMACS INSIDE_EMACS DIRSTACK FUNCNAME FCEDIT";

// Variables whose value bash evaluates as arithmetic, or uses as a number.
constexpr std::string_view kNumbers =
    "RANDOM SRANDOM SECONDS OPTIND OPTERR LINENO HISTCMD EPOCHSECONDS EPOCHREALTIME SHLVL TMOUT "
    "FUNCNEST CHILD_MAX MAILCHECK IGNOREEOF UID EUID PPID GROUPS PIPESTATUS BASHPID BASH_SUBSHELL";

constexpr std::string_view kOfPrograms =
    "PAGER EDITOR VISUAL BROWSER CC CXX LD AR CFLAGS CXXFLAGS LDFLAGS TAR_OPTIONS GREP_OPTIONS "
    "RSYNC_RSH CVS_RSH http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY "
    "GCONV_PATH LOCPATH NLSPATH HOSTALIASES RES_OPTIONS TZDIR MAKEFLAGS MAKEFILES GOFLAGS "
    "SSLKEYLOGFILE COMPILER_PATH LIBRARY_PATH CPATH CLASSPATH PKG_CONFIG PKG_CONFIG_PATH TERMCAP "
    "GZIP "
    "BZIP2 ZIPOPT UNZIP ZIPINFO XZ_OPT XZ_DEFAULTS PHPRC PHP_INI_SCAN_DIR";

bool has_prefix(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {
      "LD_",       "DYLD_",     "BASH_",    "BASH",      "GIT_",      "LESS",   "MAN",
      "NODE_",     "NPM_",      "npm_",     "YARN_",     "PYTHON",    "PERL",   "RUBY",
      "JAVA",      "_JAVA",     "CARGO_",   "RUST",      "GO",        "MAKE",   "SSH_",
      "XDG_",      "GLIBC_",    "MALLOC_",  "COMP_",     "HIST",      "CMAKE_", "DOCKER_",
      "KUBE",      "AWS_",      "GPG_",     "GNUPG",     "CURL_",     "WGET",   "ZSH",
      "READLINE_", "GH_",       "HELM_",    "TF_",       "PIP_",      "UV_",    "PG",
      "PSQL",      "MYSQL",     "ANSIBLE_", "GEM_",      "BUNDLE_",   "DENO_",  "BUN_",
      "RIPGREP_",  "FZF_",      "BAT_",     "CLOUDSDK_", "HG",        "SVN_",   "COMPOSE_",
      "VAGRANT_",  "TERRAFORM", "OPENSSL_", "LUA_",      "TCL",       "EMACS",  "VIM",
      "TMUX",      "SCREENRC",  "POETRY_",  "COREPACK_", "COMPOSER_", "MAVEN_", "GRADLE_",
      "SBT_",      "CCACHE_",   "DISTCC_",  "SCCACHE_",  "SYSTEMD_",  "GCC_",   "AWK",
      "PYTEST_",   "COVERAGE_", "DELTA_",   "SUDO_",     "DOTNET_",   "GTK_",   "QT_"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view p) { return name.starts_with(p); });
}

// In another encoding bash could split the rest of the text differently.
bool is_locale(std::string_view name) {
  return name == "LANG" || name == "LANGUAGE" || name.starts_with("LC_");
}

bool is_harmless_locale(std::string_view value) {
  return value.empty() || one_of(value, "C POSIX en_US en_GB") || value.ends_with(".UTF-8") ||
         value.ends_with(".utf8");
}

bool is_number(const Word& value) {
  return std::ranges::all_of(value.pieces, [](const Piece& piece) {
    return piece.kind == Piece::Kind::number ||
           (piece.kind == Piece::Kind::text &&
            piece.text.find_first_not_of("0123456789") == std::string::npos);
  });
}

}  // namespace

std::optional<std::string> steers(const Assignment& given) {
  const std::string_view name = given.name;
  const auto value = literal(given.value);
  if (one_of(name, kNumbers) && !given.exported) {
    if (is_number(given.value)) return std::nullopt;
    return "bash evaluates the value that the variable " + given.name + " gets";
  }
  if (is_locale(name)) {
    if (value && is_harmless_locale(*value)) return std::nullopt;
    return "the variable " + given.name + " changes how texts are read";
  }
  if (one_of(name, kPagers) && value && (one_of(*value, kIdle) || value->empty()))
    return std::nullopt;
  // A path in such a variable would load a file; another shell might evaluate a subscript.
  const bool harmless =
      one_of(name, kHarmless) &&
      (!given.exported || (value && value->find_first_of("[$`") == std::string::npos &&
                           (name == "TZ" || !value->contains('/'))));
  if (harmless) return std::nullopt;
  if (given.exported)
    return "the variable " + given.name + " may make the command do something else";
  if (one_of(name, kOfBash) || one_of(name, kOfPrograms) || has_prefix(name))
    return "the variable " + given.name + " changes what later commands do";
  return std::nullopt;
}

std::optional<std::string> steers(const std::string& name, Value value) {
  Word word;
  word.pieces.push_back(
      {value == Value::number ? Piece::Kind::number : Piece::Kind::computed, {}, Quoting::quoted});
  return steers(Assignment{.name = name, .value = std::move(word), .exported = false});
}

}  // namespace agentrt::policy::shell
