#include "policy/shell/variables.h"

#include <algorithm>

#include "policy/shell/findings.h"

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kHarmless =
    "LANG LANGUAGE TZ NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLORTERM TERM COLUMNS LINES "
    "RUST_BACKTRACE RUST_LOG RUST_TEST_THREADS CI DEBUG VERBOSE NODE_ENV PYTHONUNBUFFERED "
    "PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONHASHSEED PYTHONUTF8 CARGO_TERM_COLOR "
    "CARGO_INCREMENTAL GTEST_COLOR GOOS GOARCH CGO_ENABLED SOURCE_DATE_EPOCH DEBIAN_FRONTEND "
    "GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS LOG_LEVEL CTEST_OUTPUT_ON_FAILURE PY_COLORS";

// These run their value; with these values nothing happens.
constexpr std::string_view kPagers = "PAGER GIT_PAGER MANPAGER GIT_EDITOR EDITOR VISUAL";
constexpr std::string_view kIdle = "cat true :";

constexpr std::string_view kOfBash =
    "PATH HOME IFS ENV CDPATH GLOBIGNORE EXECIGNORE FIGNORE POSIXLY_CORRECT SHELL SHELLOPTS "
    "BASHOPTS PROMPT_COMMAND PROMPT_DIRTRIM PS0 PS1 PS2 PS3 PS4 TMPDIR TMP TEMP TEXTDOMAIN "
    "TEXTDOMAINDIR TIMEFORMAT INPUTRC USER LOGNAME OLDPWD PWD TERMINFO HOSTFILE _";

constexpr std::string_view kOfPrograms =
    "PAGER EDITOR VISUAL BROWSER CC CXX LD AR CFLAGS CXXFLAGS LDFLAGS TAR_OPTIONS GREP_OPTIONS "
    "RSYNC_RSH CVS_RSH http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY "
    "GCONV_PATH LOCPATH NLSPATH HOSTALIASES RES_OPTIONS TZDIR MAKEFLAGS MAKEFILES GOFLAGS";

bool has_prefix(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {
      "LD_",     "DYLD_", "BASH_",  "BASH", "GIT_",   "LESS",    "MAN",   "NODE_",  "NPM_",
      "npm_",    "YARN_", "PYTHON", "PERL", "RUBY",   "JAVA",    "_JAVA", "CARGO_", "RUST",
      "GO",      "MAKE",  "SSH_",   "XDG_", "GLIBC_", "MALLOC_", "COMP_", "HIST",   "CMAKE_",
      "DOCKER_", "KUBE",  "AWS_",   "GPG_", "GNUPG",  "CURL_",   "WGET",  "ZSH",    "READLINE_"};
  return std::ranges::any_of(kPrefixes, [&](std::string_view p) { return name.starts_with(p); });
}

}  // namespace

std::optional<std::string> steers(const Assignment& given) {
  const std::string_view name = given.name;
  const auto value = literal(given.value);
  if (one_of(name, kPagers) && value && (one_of(*value, kIdle) || value->empty()))
    return std::nullopt;
  const bool harmless = one_of(name, kHarmless) || name.starts_with("LC_");
  // A path in one of them would load a file.
  if (harmless && (!given.exported || name == "TZ" || (value && !value->contains('/'))))
    return std::nullopt;
  if (given.exported)
    return "the variable " + given.name + " may make the command do something else";
  if (one_of(name, kOfBash) || one_of(name, kOfPrograms) || has_prefix(name))
    return "the variable " + given.name + " changes what later commands do";
  return std::nullopt;
}

std::optional<std::string> steers(const std::string& name) {
  Word value;
  value.pieces.push_back({Piece::Kind::computed, {}, Quoting::quoted});
  return steers(Assignment{.name = name, .value = std::move(value), .exported = false});
}

}  // namespace agentrt::policy::shell
