// find and fd: searches that can run a command on what they find.
#include "policy/shell/findings.h"
#include "policy/shell/limits.h"

namespace agentrt::policy::shell {
namespace {

// The words of a command up to `;` or the end. What find puts for {} begins with a folder that the
// text names, so it is no option; elsewhere anything may come.
enum class Found { begins_with_folder, anything };
enum class Plus { is_a_word, ends };

// Returns whether the end was seen.
bool inner_command(const Args& args, std::size_t at, Plus plus, Found found, Findings& out) {
  Args made;
  bool ended = false;
  for (std::size_t i = at; i < args.size() && !ended; ++i) {
    const Arg& arg = args[i];
    // `+` ends the command only behind {}.
    ended = arg.is(";") || (plus == Plus::ends && arg.is("+") && i > at && args[i - 1].is("{}"));
    if (ended) break;
    made.push_back(arg);
    if (arg.text.contains('{')) {
      made.back().known = false;
      made.back().option =
          arg.text.starts_with('-') || (found == Found::anything && arg.text.starts_with('{'));
    }
  }
  if (made.empty())
    out.runs(kNoWord, "a command is missing");
  else
    out.commands.push_back({at, std::move(made)});
  return ended;
}

constexpr std::string_view kValued =
    "-name -iname -path -ipath -wholename -regex -iregex -type -newer -mtime -mmin -size -maxdepth "
    "-mindepth -user -group -perm -printf";

void find(const Args& args, Findings& out) {
  Found found = Found::begins_with_folder;
  std::size_t words = 0;  // of the commands so far, which may overlap
  bool ended = true;
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Arg& arg = args[i];
    if (!arg.known) {
      const bool value = arg.single && args[i - 1].known && one_of(args[i - 1].text, kValued);
      if (!arg.option || value) continue;
      found = Found::anything;
      const bool letters =
          arg.suffix.find_first_not_of("-abcdefghijklmnopqrstuvwxyz0") == std::string::npos;
      if (letters) out.runs(i, "a computed word may be an action of find");
      continue;
    }
    if (ended && one_of(arg.text, "-exec -execdir -ok -okdir")) {
      ended = words < kWordsMax && inner_command(args, i + 1, Plus::ends, found, out);
      if (!out.commands.empty()) words += out.commands.back().args.size();
      if (!ended) out.runs(kNoWord, "a command of find has no end");
    }
    if (arg.text == "-files0-from") found = Found::anything;
    if (arg.text == "-delete") out.writes(i, "-delete removes what is found");
    if (one_of(arg.text, "-fprint -fprint0 -fprintf -fls"))
      out.writes(i, arg.text + " writes a file");
  }
}

void fd(const Args& args, Findings& out) {
  for (std::size_t i = 1; i < args.size(); ++i) {
    const Arg& arg = args[i];
    if (!arg.known && arg.option) out.runs(i, "a computed word may be an option of fd");
    if (!arg.known) continue;
    if (one_of(arg.text, "-x -X --exec --exec-batch"))
      return static_cast<void>(inner_command(args, i + 1, Plus::is_a_word, Found::anything, out));
    if (arg.text.starts_with("--ex") && arg.text != "--exclude" && arg.text != "--extension")
      out.runs(i, "the option " + arg.text + " of fd is not read");
    if (arg.text.size() > 2 && arg.text[0] == '-' && arg.text[1] != '-' &&
        arg.text.find_first_of("xX") != std::string::npos)
      out.runs(i, "the option " + arg.text + " of fd is not read");
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
