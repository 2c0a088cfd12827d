#include "policy/shell/risk.h"

#include <algorithm>

#include "policy/shell/findings.h"
#include "policy/shell/git.h"

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kReaders =
    "ls cat head tail wc grep egrep fgrep rg ag sort uniq cut tr nl tac rev column comm join paste "
    "fold fmt expand unexpand pr od hexdump strings file stat du df which whereis type basename "
    "dirname realpath readlink pwd echo printf true false : test [ date cal uname hostname id "
    "whoami groups ps uptime free nproc arch seq expr diff cmp sdiff md5sum sha1sum sha256sum "
    "sha512sum cksum b2sum base64 jq yq tree find fd fdfind sed awk gawk mawk less more man xxd "
    "iconv locale env printenv cd pushd popd dirs sleep wait jobs break continue exit return "
    "command xargs timeout nice time tokei cloc exa eza bat batcat numfmt shuf factor getconf tty "
    "lsof pgrep nm objdump readelf size zcat xzcat bzcat zgrep unset set shift read";

constexpr std::string_view kGitReaders =
    "status log diff show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree "
    "cat-file grep reflog merge-base name-rev for-each-ref show-ref count-objects check-ignore "
    "diff-tree diff-index diff-files range-diff cherry version whatchanged verify-commit";

// Programs whose work a sandbox confines to the workspace.
constexpr std::string_view kBuilders =
    "mkdir touch cp mv ln tee make ninja cmake ctest gcc g++ cc c++ clang clang++ rustc rustfmt "
    "gofmt tsc eslint prettier jest vitest mocha black ruff mypy flake8 pytest tox javac mvn "
    "gradle ./gradlew "
    "clang-format clang-tidy";

struct Verb {
  std::string_view program;
  std::string_view words;
};
constexpr Verb kBuildVerbs[] = {
    {"cargo", "build test check clippy fmt doc bench tree metadata run"},
    {"go", "build test vet fmt list version doc env mod run"},
    {"npm", "test run t start ls list"},
    {"pnpm", "test run ls list"},
    {"yarn", "test run list"},
    {"npx", "tsc eslint prettier jest vitest mocha"},
    {"dotnet", "build test"},
    {"git", "add commit stash switch branch mv"},
    {"poetry", "run"},
    {"uv", "run"},
};

std::string_view second_word(const Part& part) {
  std::size_t at = 1;
  if (base_name(part.program().text) == "git") at = git_subcommand(part.args, GlobalOptions::all);
  return at < part.args.size() && part.args[at].known ? std::string_view(part.args[at].text) : "";
}

bool reads_only(const Part& part) {
  const std::string& program = part.program().text;
  if (one_of(program, kReaders)) return true;
  return program == "git" && one_of(second_word(part), kGitReaders);
}

bool builds(const Part& part) {
  const std::string& program = part.program().text;
  if (one_of(program, kBuilders)) return true;
  return std::ranges::any_of(kBuildVerbs, [&](const Verb& verb) {
    return program == verb.program && one_of(second_word(part), verb.words);
  });
}

// Modules of python that test, check, format or compile.
constexpr std::string_view kPythonModules =
    "pytest unittest doctest mypy black ruff flake8 pylint isort coverage compileall py_compile "
    "json.tool";

bool is_python(std::string_view program) {
  return program.substr(0, program.find_first_of("0123456789.")) == "python";
}

// python -m MODULE, one of those above: the hazard of running a module.
bool runs_known_module(const Part& part, const Hazard& hazard) {
  return is_python(part.program().text) && hazard.kind == Hazard::Kind::runs && hazard.word > 0 &&
         hazard.word < part.args.size() && part.args[hazard.word - 1].is("-m") &&
         one_of(part.args[hazard.word].text, kPythonModules);
}

// sed -i: the hazard of writing the files that it is given.
bool edits_in_place(const Part& part, const Hazard& hazard) {
  return one_of(part.program().text, "sed gsed") && hazard.kind == Hazard::Kind::writes &&
         hazard.word < part.args.size() && part.args[hazard.word].text.starts_with('-');
}

// git checkout -b creates a branch; other forms may overwrite files.
bool creates_branch(const Part& part) {
  return part.program().text == "git" && second_word(part) == "checkout" &&
         std::ranges::any_of(part.args, [](const Arg& arg) { return arg.is("-b"); });
}

bool has_letter(const Part& part, std::string_view letters) {
  return std::ranges::any_of(part.args, [&](const Arg& arg) {
    return arg.text.size() > 1 && arg.text[0] == '-' && arg.text[1] != '-' &&
           arg.text.find_first_of(letters, 1) != std::string::npos;
  });
}

bool has_word(const Part& part, std::string_view words) {
  return std::ranges::any_of(part.args, [&](const Arg& arg) {
    return one_of(std::string_view(arg.text).substr(0, arg.text.find('=')), words);
  });
}

constexpr std::string_view kNoUndo = "This cannot be undone; make a copy first.";

std::optional<Destructive> destructive_git(const Part& part) {
  const std::string_view verb = second_word(part);
  const auto at = [&](std::string_view words) { return has_word(part, words); };
  if (verb == "reset" && at("--hard --merge --keep"))
    return Destructive{"Uncommitted changes are lost.",
                       "git reflog finds the commits, but not uncommitted changes; save those with "
                       "git stash first."};
  if (verb == "push" &&
      (at("--force --force-with-lease --mirror --delete --prune") || has_letter(part, "fd") ||
       std::ranges::any_of(part.args, [](const Arg& arg) {
         return arg.text.starts_with('+') || arg.text.starts_with(':');
       })))
    return Destructive{"Commits on the remote branch may be lost for everyone.",
                       "Anyone who has the old commit can push it again; note the commit id of the "
                       "remote branch first."};
  if (verb == "clean" && (has_letter(part, "f") || at("--force")))
    return Destructive{"Untracked files are deleted.",
                       "git cannot restore them; list them first with git clean -n."};
  if ((verb == "checkout" && (at("-- .") || has_letter(part, "f") || at("--force"))) ||
      (verb == "restore" && !at("--staged")))
    return Destructive{"Uncommitted changes are overwritten.", "Save them with git stash first."};
  if (verb == "branch" && (has_letter(part, "D") || at("--delete")))
    return Destructive{"A branch is deleted.", "git reflog shows the last commit of the branch."};
  if (verb == "stash" && at("drop clear"))
    return Destructive{"Stashed changes are lost.", "git fsck --lost-found may find them."};
  if (verb == "filter-branch" || verb == "filter-repo" ||
      (verb == "reflog" && at("expire delete")) || (verb == "gc" && at("--prune")))
    return Destructive{"The history of the repository is rewritten or pruned.",
                       "Only a copy of the repository helps: git clone --mirror first."};
  return std::nullopt;
}

std::optional<Destructive> destructive_sql(const Part& part) {
  if (!one_of(base_name(part.program().text),
              "psql mysql mariadb sqlite3 sqlcmd clickhouse-client"))
    return std::nullopt;
  for (const Arg& arg : part.args) {
    std::string sql = arg.text;
    std::ranges::transform(sql, sql.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c;
    });
    for (const std::string_view verb : {"DROP ", "TRUNCATE ", "DELETE FROM "})
      if (sql.contains(verb))
        return Destructive{"Data in the database is deleted.",
                           "Only an earlier dump can restore it."};
  }
  return std::nullopt;
}

std::optional<Destructive> destructive_part(const Part& part) {
  if (!part.program().known) return std::nullopt;
  const std::string_view program = base_name(part.program().text);
  if (program == "git") return destructive_git(part);
  if (program == "rm" || program == "rmdir" || program == "unlink" || program == "shred")
    return Destructive{has_letter(part, "rR") || has_word(part, "--recursive")
                           ? "Folders and everything in them are deleted."
                           : "Files are deleted.",
                       "git restore brings back tracked files; other files are lost."};
  if (program == "dd" && has_word(part, "of"))
    return Destructive{"The target file or device is overwritten.", std::string(kNoUndo)};
  if (program.starts_with("mkfs") ||
      one_of(program, "wipefs fdisk parted sgdisk mkswap blkdiscard"))
    return Destructive{"The data on a disk or partition is lost.", std::string(kNoUndo)};
  if (one_of(program, "chmod chown chgrp setfacl") &&
      (has_letter(part, "R") || has_word(part, "--recursive")))
    return Destructive{"Permissions or owners of a whole folder tree change.",
                       "The old ones are not kept; save them with getfacl -R first."};
  if (program == "truncate") return Destructive{"A file is truncated.", std::string(kNoUndo)};
  if (program == "find" && has_word(part, "-delete"))
    return Destructive{"Every file that is found is deleted.",
                       "Run the same search without -delete first to list the files."};
  if (one_of(program, "kubectl docker podman terraform helm aws gcloud") &&
      has_word(part, "delete destroy prune rm rmi uninstall down terminate-instances"))
    return Destructive{"Resources outside the workspace are deleted.", std::string(kNoUndo)};
  if (one_of(program, "shutdown reboot halt poweroff"))
    return Destructive{"The machine shuts down or restarts.", "Unsaved work is lost."};
  return destructive_sql(part);
}

// Programs controlled by a script language or a configuration, so their words do not tell
// everything.
constexpr std::string_view kSteeredByTexts = "git awk gawk mawk sed man";

// Why some effect of the text is unknown before it runs; nullopt: all is known.
std::optional<std::string> left_unknown(const Analysis& analysis) {
  if (!analysis.canonical) return "parts of it are known only at run time";
  for (const Part& part : analysis.parts) {
    const std::string& program = part.program().text;
    if (part.within && part.within->kind == Within::Kind::text)
      return "it passes a command line to another shell";
    if (!std::ranges::all_of(part.args, &Arg::known))
      return "words of " + program + " are known only at run time";
    if (one_of(program, kSteeredByTexts))
      return program + " does what a script or its configuration says";
  }
  return std::nullopt;
}

// Programs that read from a file what they run.
constexpr std::string_view kTaskRunners =
    "make gmake ninja just npm npx pnpm yarn bun cargo go pytest tox nox ctest cmake mvn gradle "
    "rake bundle poetry uv pipenv dotnet sbt bazel meson docker tsc jest vitest";

}  // namespace

Risk judge_risk(const Analysis& analysis, Confined confined, const Ground& ground) {
  if (analysis.over_limit) return {false, *analysis.over_limit};
  if (!analysis.doubts.empty()) return {false, analysis.doubts.front()};
  if (!analysis.hazards.empty()) return {false, analysis.hazards.front().reason};
  if (analysis.parts.empty()) return {false, "it contains no command"};
  if (find_destructive(analysis)) return {false, "it contains a destructive command"};
  bool all_read = true;
  for (const Part& part : analysis.parts) {
    if (!part.program().known) return {false, part.program().text + " is known only at run time"};
    // What the sandbox keeps in the workspace is no hazard there.
    const auto confines = [&](const Hazard& hazard) {
      return confined == Confined::yes &&
             (runs_known_module(part, hazard) || edits_in_place(part, hazard));
    };
    const auto hazard = std::ranges::find_if_not(part.hazards, confines);
    if (hazard != part.hazards.end()) return {false, hazard->reason};
    const bool works = !part.hazards.empty();  // every hazard is one that the sandbox confines
    if (!works && reads_only(part)) continue;
    all_read = false;
    if (confined == Confined::no || !(works || builds(part) || creates_branch(part)))
      return {false, part.program().text + " may change files or settings"};
    if (auto steering = find_steering(analysis, part, ground)) return {false, *std::move(steering)};
  }
  // Without a sandbox, nothing would confine a misjudged command.
  if (const auto unknown = confined == Confined::no ? left_unknown(analysis) : std::nullopt)
    return {false, *unknown + ", and there is no sandbox"};
  if (all_read) return {true, "it only reads"};
  return {true, "it builds, tests or changes files, and the sandbox confines it to the workspace"};
}

std::optional<Destructive> find_destructive(const Analysis& analysis) {
  std::optional<Destructive> all;
  const auto add_to = [](std::string& text, const std::string& more) {
    if (text.find(more) == std::string::npos) text += (text.empty() ? "" : " ") + more;
  };
  const auto add = [&](const Destructive& found) {
    if (!all) all.emplace();
    add_to(all->impact, found.impact);
    add_to(all->undo, found.undo);
  };
  for (const Part& part : analysis.parts)
    if (const auto found = destructive_part(part)) add(*found);
  for (const Hazard& hazard : analysis.hazards)
    if (hazard.kind == Hazard::Kind::writes && hazard.truncates)
      add({"A file is overwritten: " + hazard.reason + ".",
           "git restore brings back tracked files; other files are lost."});
  return all;
}

std::vector<std::string> find_overwritten(const Analysis& analysis) {
  std::vector<std::string> out;
  for (const Part& part : analysis.parts)
    if (destructive_part(part) || one_of(part.program().text, "cd pushd popd chdir")) return {};
  for (const Hazard& hazard : analysis.hazards) {
    if (hazard.kind != Hazard::Kind::writes || !hazard.truncates) continue;
    if (hazard.target.empty() || hazard.target.starts_with('~')) return {};
    out.push_back(hazard.target);
  }
  return out;
}

Executed find_executed(const Analysis& analysis) {
  Executed out;
  bool moved = false;
  for (const Part& part : analysis.parts) {
    const std::string& program = part.program().text;
    if (!part.program().known) {
      out.unknown = "the command name " + program + " is known only at run time";
      continue;
    }
    if (one_of(program, "cd pushd popd chdir")) moved = true;
    if (program.contains('/')) out.files.push_back(program);
    for (const Hazard& hazard : part.hazards) {
      if (hazard.kind != Hazard::Kind::runs) continue;
      if (hazard.word != kNoWord && hazard.word < part.args.size() && hazard.names_script)
        out.files.push_back(part.args[hazard.word].text);
      else
        out.unknown = hazard.reason;
    }
    if (one_of(base_name(program), kTaskRunners))
      out.unknown = std::string(base_name(program)) +
                    " runs commands that are defined in files of the project";
  }
  for (const Hazard& hazard : analysis.hazards)
    if (hazard.kind == Hazard::Kind::runs) out.unknown = hazard.reason;
  if (moved && !out.files.empty())
    out.unknown = "the command changes the folder before it runs a file";
  if (!analysis.doubts.empty()) out.unknown = analysis.doubts.front();
  return out;
}

}  // namespace agentrt::policy::shell
