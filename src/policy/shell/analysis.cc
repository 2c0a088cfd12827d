#include "policy/shell/analysis.h"

#include <algorithm>
#include <utility>

#include "policy/shell/findings.h"
#include "policy/shell/limits.h"
#include "policy/shell/variables.h"

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kSetters =
    "read mapfile readarray getopts printf declare typeset local export readonly let wait unset";

// Collects the parts of one text and of the texts within it.
class Analyser {
 public:
  Analysis take() { return std::move(out_); }

  void text(std::string_view text, std::optional<Within> within) {
    if (++depth_ > kDepthMax) return refuse("the text is nested too deeply");
    bytes_ += text.size();
    if (bytes_ > kReadBytesMax) return refuse("the texts within the text are too long");
    const Script script = read(text);
    if (script.over_limit) refuse(*script.over_limit);
    for (const std::string& doubt : script.doubts) doubted(doubt);
    Names names(script);
    learn_from_builtins(script, names);
    for (const std::string& name : script.arithmetic_names)
      if (!names.of(name).numeric)
        doubted("arithmetic evaluates " + name + ", whose value can run commands");
    for (const Assignment& loop : script.loops) named(loop.name);
    for (const auto* set : {&script.unsure_names, &script.arithmetic_names})
      for (const std::string& name : *set) named(name);
    for (const SimpleCommand& command : script.commands) simple(command, names, within);
    --depth_;
  }

 private:
  void refuse(std::string limit) {
    if (!out_.over_limit) out_.over_limit = std::move(limit);
  }
  void doubted(std::string reason) {
    if (out_.doubts.size() < kDoubtsMax &&
        std::ranges::find(out_.doubts, reason) == out_.doubts.end())
      out_.doubts.push_back(std::move(reason));
  }

  // A variable that gets a value without an assignment: for, read, arithmetic.
  void named(const std::string& name) {
    if (const auto why = steers(name)) doubted(*why);
  }

  // Variables that a builtin sets may have any value.
  static void learn_from_builtins(const Script& script, Names& names) {
    for (const SimpleCommand& command : script.commands) {
      bool sets = false;
      for (const Word& word : command.words) {
        const auto value = literal(word);
        if (sets) names.unsure(word.source.substr(0, word.source.find_first_of("=[+")));
        if (sets && value) names.unsure(value->substr(0, value->find_first_of("=[+")));
        sets = sets || (value && one_of(base_name(*value), kSetters));
      }
    }
  }

  void simple(const SimpleCommand& command, const Names& names, std::optional<Within> within) {
    for (const Redirection& redirection : command.redirections) redirected(redirection, names);
    Args args;
    for (const Word& word : command.words) {
      for (Arg& arg : args_of(word, names)) args.push_back(std::move(arg));
      if (args.size() > kWordsMax) return refuse("a command has too many words");
    }
    // For one read alone it says where a line is split.
    const auto splits_line = [&](const Assignment& given) {
      return given.name == "IFS" && !args.empty() && args[0].is("read") && literal(given.value);
    };
    for (const Assignment& given : command.assignments)
      if (const auto why = splits_line(given) ? std::nullopt : steers(given)) {
        if (given.exported)
          hazard(Hazard::Kind::runs, *why);
        else
          doubted(*why);
      }
    if (args.empty()) return;
    const std::size_t first = out_.parts.size();
    part(std::move(args), within);
    fed(command, first);
  }

  // A shell that reads commands from a here-document: they are read too.
  void fed(const SimpleCommand& command, std::size_t first) {
    for (const Redirection& redirection : command.redirections) {
      if (redirection.kind != Redirection::Kind::here_text || !redirection.literal_body) continue;
      for (std::size_t i = first; i < out_.parts.size(); ++i)
        if (one_of(base_name(out_.parts[i].program().text), "bash sh dash"))
          return text(redirection.body, Within{Within::Kind::text, i, kNoWord});
    }
  }

  void redirected(const Redirection& redirection, const Names& names) {
    if (redirection.kind == Redirection::Kind::descriptor ||
        redirection.kind == Redirection::Kind::here_text)
      return;
    const std::vector<Arg> target = args_of(redirection.target, names);
    const std::string& source = redirection.target.source;
    appends_ = redirection.appends;
    if (target.size() == 1 && target[0].known) {
      const std::string& path = target[0].text;
      if (path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/"))
        return hazard(Hazard::Kind::runs, "a redirection opens a connection to " + path);
      const bool stream = one_of(path, "/dev/null /dev/stdout /dev/stderr /dev/stdin /dev/tty") ||
                          path.starts_with("/dev/fd/");
      if (redirection.kind == Redirection::Kind::write && !stream)
        hazard(Hazard::Kind::writes, "a redirection writes to " + path);
      return;
    }
    if (redirection.kind == Redirection::Kind::write) {
      const bool process = source.starts_with(">(");
      if (!process) hazard(Hazard::Kind::writes, "a redirection writes to " + source);
      return;
    }
    for (const Piece& piece : redirection.target.pieces) {
      const bool device = piece.kind == Piece::Kind::computed ||
                          (piece.kind == Piece::Kind::variable && names.of(piece.text).device);
      if (device) hazard(Hazard::Kind::runs, "a redirection reads from " + source);
    }
  }

  void hazard(Hazard::Kind kind, std::string reason) {
    out_.hazards.push_back({.kind = kind, .reason = std::move(reason)});
    out_.hazards.back().truncates = kind == Hazard::Kind::writes && !appends_;
  }

  void part(Args args, std::optional<Within> within) {
    if (++depth_ > kDepthMax) return refuse("the text is nested too deeply");
    if (out_.parts.size() >= kCommandsMax)
      return refuse("the text has more than " + std::to_string(kCommandsMax) + " simple commands");
    const std::size_t index = out_.parts.size();
    out_.parts.push_back({.args = args, .hazards = {}, .within = within});
    Findings findings;
    if (!args[0].known) {
      findings.runs(kNoWord, "the command word " + args[0].text + " is computed when it runs");
    } else {
      find_all(base_name(args[0].text), args, findings);
    }
    out_.parts[index].hazards = std::move(findings.hazards);
    for (std::string& doubt : findings.doubts) doubted(std::move(doubt));
    for (const Assignment& given : findings.exported)
      if (const auto why = steers(given)) {
        if (given.exported)
          out_.parts[index].hazards.push_back({.reason = *why});
        else
          doubted(*why);
      }
    for (Findings::Inner& inner : findings.commands)
      part(std::move(inner.args), Within{Within::Kind::tail, index, inner.word});
    for (const Findings::InnerText& inner : findings.texts) {
      if (one_of(base_name(args[0].text), "eval trap") && sets_variables(inner.text))
        doubted("a text that is evaluated sets variables");
      text(inner.text, Within{Within::Kind::text, index, inner.word});
    }
    --depth_;
  }

  static bool sets_variables(std::string_view text) {
    const Script script = read(text);
    return !script.loops.empty() || std::ranges::any_of(script.commands, [](const auto& command) {
      return !command.assignments.empty();
    });
  }

  static void find_all(std::string_view program, const Args& args, Findings& out) {
    for (const auto find : {find_in_wrappers, find_in_shells, find_in_builtins,
                            find_in_interpreters, find_in_git, find_in_editors, find_in_finders})
      if (find(program, args, out)) return;
    find_in_options(program, args, out);
  }

  Analysis out_;
  std::size_t depth_ = 0;
  std::size_t bytes_ = 0;
  bool appends_ = false;  // the redirection at hand
};

}  // namespace

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string Part::text() const {
  constexpr std::string_view kKeywords =
      "if then else elif fi for while until do done case esac select function time coproc in";
  std::string out;
  for (const Arg& arg : args) {
    if (!out.empty()) out += ' ';
    // As the first word these would mean something else without quotes.
    const bool first = &arg == &args.front();
    const bool keyword = first && (one_of(arg.text, kKeywords) || arg.text.contains('='));
    const std::string word = arg.known ? quoted(arg.text) : arg.text;
    out += arg.known && keyword && word == arg.text ? "'" + word + "'" : word;
  }
  return out;
}

Analysis analyse(std::string_view text) {
  Analyser analyser;
  analyser.text(text, std::nullopt);
  return analyser.take();
}

}  // namespace agentrt::policy::shell
