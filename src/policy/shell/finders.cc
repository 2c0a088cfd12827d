// find and fd, which can run a command on the files they find.
#include "policy/shell/findings.h"
#include "policy/shell/limits.h"
#include "policy/shell/tools/option_table.h"

namespace agentrt::policy::shell {
namespace {

// What replaces {}. With find it usually begins with a folder from the text, so it is no option;
// otherwise it may be anything.
enum class Found { begins_with_folder, anything };
enum class Plus { is_a_word, ends };

// Adds the inner command that begins at `at`, up to `;` or the end. Returns its end; args.size() if
// there is no `;`.
std::size_t inner_command(const Args& args, std::size_t at, Plus plus, Found found, Findings& out) {
  Args made;
  std::size_t i = at;
  for (; i < args.size(); ++i) {
    const Arg& arg = args[i];
    // `+` ends the command only after {}.
    if (arg.is(";") || (plus == Plus::ends && arg.is("+") && i > at && args[i - 1].is("{}"))) break;
    made.push_back(arg);
    if (arg.text.contains('{')) {
      made.back().known = false;
      made.back().option =
          arg.text.starts_with('-') || (found == Found::anything && arg.text.starts_with('{'));
    }
  }
  if (made.empty())
    out.runs(kNoWord, "the command to run is missing");
  else
    out.commands.push_back({at, std::move(made)});
  return i;
}

constexpr std::string_view kValued =
    "-name -iname -path -ipath -wholename -regex -iregex -type -newer -mtime -mmin -size -maxdepth "
    "-mindepth -user -group -perm -printf";

void find(const Args& args, Findings& out) {
  Found found = Found::begins_with_folder;
  std::size_t words = 0;  // total words of the inner commands so far, which may overlap
  bool ended = true;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Arg& arg = args[i];
    if (!arg.known) {
      const bool value = arg.single && args[i - 1].known && one_of(args[i - 1].text, kValued);
      if (!arg.option || value) continue;
      found = Found::anything;
      const bool letters =
          arg.suffix.find_first_not_of("-abcdefghijklmnopqrstuvwxyz0") == std::string::npos;
      if (letters) out.runs(i, "a word that is known only at run time may be an action of find");
      continue;
    }
    if (ended && one_of(arg.text, "-exec -execdir -ok -okdir")) {
      ended = words < kWordsMax && inner_command(args, i + 1, Plus::ends, found, out) < args.size();
      if (!out.commands.empty()) words += out.commands.back().args.size();
      if (!ended) out.runs(kNoWord, "a command of find has no terminating ; or +");
    }
    if (arg.text == "-files0-from") found = Found::anything;
    if (arg.text == "-delete") out.writes(i, "-delete deletes the files that are found");
    if (one_of(arg.text, "-fprint -fprint0 -fprintf -fls"))
      out.writes(i, arg.text + " writes a file");
  }
}

constexpr OptionTable kFd{
    "fd", "HIusigFalpLq10hV", "dteESocTj",
    "--hidden --no-ignore --no-ignore-vcs --no-ignore-parent --no-require-git "
    "--no-global-ignore-file --unrestricted --case-sensitive --ignore-case --glob --regex "
    "--fixed-strings --and= --absolute-path --list-details --follow --full-path --print0 "
    "--max-depth= --min-depth= --exact-depth= --exclude= --prune --type= --extension= --size= "
    "--changed-within= --changed-before= --changed-after= --newer= --older= --owner= --format= "
    "--batch-size= --ignore-file= --color= --hyperlink? --ignore-contain= --threads= "
    "--max-results= --quiet --show-errors --base-directory= --path-separator= --search-path= "
    "--strip-cwd-prefix? --one-file-system --maxdepth= --no-*",
    "!-x !--exec= !-X !--exec-batch="};

void fd(const Args& args, Findings& out) {
  Args own;
  std::vector<std::size_t> words;  // index in `args` of each word of `own`
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0 && args[i].known && one_of(args[i].text, "-x -X --exec --exec-batch")) {
      i = inner_command(args, i + 1, Plus::is_a_word, Found::anything, out);
      continue;
    }
    own.push_back(args[i]);
    words.push_back(i);
  }
  Findings found;
  read_options(kFd, own, 1, found);
  for (Hazard& hazard : found.hazards) {
    if (hazard.word != kNoWord) hazard.word = words[hazard.word];
    out.hazards.push_back(std::move(hazard));
  }
}

}  // namespace

bool find_in_finders(std::string_view program, const Args& args, Findings& out) {
  if (program == "find")
    find(args, out);
  else if (program == "fd" || program == "fdfind")
    fd(args, out);
  else
    return false;
  return true;
}

}  // namespace agentrt::policy::shell
