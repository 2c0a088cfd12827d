#include "policy/shell/analysis.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "policy/shell/canonical.h"
#include "policy/shell/findings.h"
#include "policy/shell/limits.h"
#include "policy/shell/variables.h"

namespace agentrt::policy::shell {
namespace {

constexpr std::string_view kSetters =
    "read mapfile readarray getopts printf declare typeset local export readonly let wait unset";

// The shell that parses a text. Shells other than bash are assumed to follow POSIX.
enum class Dialect { bash, sh };

// Collects the parts of a text and of its nested texts.
class Analyser {
 public:
  Analysis take() {
    if (!out_.proven()) out_.canonical.reset();
    return std::move(out_);
  }

  void text(std::string_view text, std::optional<Within> within, Dialect dialect) {
    if (++depth_ > kDepthMax) return refuse("the command is nested too deeply");
    bytes_ += text.size();
    if (bytes_ > kReadBytesMax) return refuse("the nested commands are too long");
    const Script script = read(text);
    if (script.over_limit) refuse(*script.over_limit);
    for (const std::string& doubt : script.doubts) doubted(doubt);
    if (script.bash_only && dialect == Dialect::sh)
      doubted("sh parses a part of the command differently from bash");
    Names names(script, names_);
    learn_from_builtins(script, names);
    const auto outer = std::pair(std::exchange(names_, &names), std::exchange(dialect_, dialect));
    if (depth_ == 1) out_.canonical = canonical(script, names);
    for (const std::string& name : script.arithmetic_names)
      if (!names.counts(name))
        doubted("arithmetic evaluates " + name + ", whose value may run commands");
    for (const Assignment& loop : script.loops) named(loop.name, Value::unknown);
    for (const std::string& name : script.unsure_names) named(name, Value::unknown);
    for (const std::string& name : script.arithmetic_names) named(name, Value::number);
    for (const SimpleCommand& command : script.commands) simple(command, within);
    std::tie(names_, dialect_) = outer;
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

  // Checks a variable that is set without an assignment: by for, read or arithmetic.
  void named(const std::string& name, Value value) {
    if (const auto why = steers(name, value)) doubted(*why);
  }

  // Marks variables that a builtin sets: they may have any value.
  static void learn_from_builtins(const Script& script, Names& names) {
    for (const SimpleCommand& command : script.commands) {
      bool sets = false, arrays = false;
      std::vector<std::string> set;
      for (const Word& word : command.words)
        for (const std::string& value : values_of(word)) {
          if (sets) set.push_back(value.substr(0, value.find_first_of("=[+")));
          sets = sets || one_of(base_name(value), kSetters);
          arrays = arrays || one_of(base_name(value), "mapfile readarray") ||
                   (value.starts_with('-') && value.find_first_of("aA") != std::string::npos);
        }
      for (const std::string& name : set) {
        names.unsure(name);
        if (arrays) names.array(name);
      }
    }
  }

  // The words that a word becomes by brace expansion; its source text if they are unknown.
  static std::vector<std::string> values_of(const Word& word) {
    if (auto value = literal(word)) return {std::move(*value)};
    if (!word.source.contains('{')) return {word.source};
    std::vector<std::string> out;
    for (Arg& arg : args_of(word, Names(Script(), nullptr))) out.push_back(std::move(arg.text));
    return out;
  }

  void simple(const SimpleCommand& command, std::optional<Within> within) {
    for (const Redirection& redirection : command.redirections) redirected(redirection);
    Args args;
    for (const Word& word : command.words) {
      for (Arg& arg : args_of(word, *names_)) args.push_back(std::move(arg));
      if (args.size() > kWordsMax) return refuse("the command has too many words");
    }
    // Before a single `read`, IFS only says where the line is split.
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
    // sh splits unquoted values here into words, and each may set another variable.
    if (dialect_ == Dialect::sh && one_of(args[0].text, "export readonly local") &&
        !std::ranges::all_of(args, &Arg::single))
      doubted("sh splits the words of " + args[0].text);
    const std::size_t first = out_.parts.size();
    part(std::move(args), within);
    fed(command, first);
  }

  // Analyses a here-document that a shell reads as commands.
  void fed(const SimpleCommand& command, std::size_t first) {
    for (const Redirection& redirection : command.redirections) {
      if (redirection.kind != Redirection::Kind::here_text || !redirection.literal_body) continue;
      for (std::size_t i = first; i < out_.parts.size(); ++i)
        if (one_of(base_name(out_.parts[i].program().text), "bash sh dash"))
          return text(redirection.body, Within{Within::Kind::text, i, kNoWord},
                      dialect_of(base_name(out_.parts[i].program().text)));
    }
  }

  void redirected(const Redirection& redirection) {
    if (redirection.kind == Redirection::Kind::descriptor ||
        redirection.kind == Redirection::Kind::here_text)
      return;
    const std::vector<Arg> target = args_of(redirection.target, *names_);
    const std::string& source = redirection.target.source;
    const auto& pieces = redirection.target.pieces;
    appends_ = redirection.appends;
    if (target.size() == 1 && target[0].known) {
      const std::string& path = target[0].text;
      if (path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/"))
        return hazard(Hazard::Kind::runs, "a redirection opens a network connection to " + path);
      if (redirection.kind == Redirection::Kind::write && !is_stream(path))
        hazard(Hazard::Kind::writes, "a redirection writes to " + path, path);
    } else if (redirection.kind == Redirection::Kind::write) {
      const bool process = pieces.size() == 1 && pieces[0].kind == Piece::Kind::path;
      if (!process) hazard(Hazard::Kind::writes, "a redirection writes to " + source);
    } else if (may_connect(redirection.target, *names_)) {
      hazard(Hazard::Kind::runs, "a redirection may open a network connection to " + source);
    }
  }

  // Whether the path is a stream of the command itself. (/dev/fd/.. would be a folder.)
  static bool is_stream(std::string_view path) {
    if (one_of(path, "/dev/null /dev/stdout /dev/stderr /dev/stdin /dev/tty")) return true;
    constexpr std::string_view kDescriptors = "/dev/fd/";
    return path.size() > kDescriptors.size() && path.starts_with(kDescriptors) &&
           path.find_first_not_of("0123456789", kDescriptors.size()) == path.npos;
  }

  void hazard(Hazard::Kind kind, std::string reason, std::string target = {}) {
    out_.hazards.push_back({.kind = kind, .reason = std::move(reason)});
    out_.hazards.back().target = std::move(target);
    out_.hazards.back().truncates = kind == Hazard::Kind::writes && !appends_;
  }

  void part(Args given, std::optional<Within> within) {
    if (++depth_ > kDepthMax) return refuse("the command is nested too deeply");
    if (out_.parts.size() >= kCommandsMax)
      return refuse("the command has more than " + std::to_string(kCommandsMax) +
                    " simple commands");
    const std::size_t index = out_.parts.size();
    const Arg program = given[0];
    out_.parts.push_back({.args = std::move(given), .hazards = {}, .within = within});
    Findings findings;
    if (!program.known) {
      findings.runs(kNoWord, "the command name " + program.text + " is known only at run time");
    } else {
      const Args& args = out_.parts[index].args;
      find_all(base_name(program.text), args, findings);
      find_in_other_places(args, findings);
    }
    out_.parts[index].hazards = std::move(findings.hazards);
    for (std::string& doubt : findings.doubts) doubted(std::move(doubt));
    for (const Assignment& set : findings.exported) {
      if (names_->of(set.name).array && !literal(set.value))
        doubted("the value assigned to the array " + set.name + " may run commands");
      const auto why = steers(set);
      if (why && set.exported) out_.parts[index].hazards.push_back({.reason = *why});
      if (why && !set.exported) doubted(*why);
    }
    for (Findings::Inner& inner : findings.commands)
      part(std::move(inner.args), Within{Within::Kind::tail, index, inner.word});
    for (const Findings::InnerText& inner : findings.texts) {
      const std::string_view name = base_name(program.text);
      const bool evaluated = one_of(name, "eval trap");
      if (evaluated && sets_variables(inner.text)) doubted("an evaluated string sets variables");
      text(inner.text, Within{Within::Kind::text, index, inner.word},
           evaluated ? dialect_ : dialect_of(name));
    }
    --depth_;
  }

  static Dialect dialect_of(std::string_view program) {
    return program == "bash" ? Dialect::bash : Dialect::sh;
  }

  static bool sets_variables(std::string_view text) {
    const Script script = read(text);
    if (!script.loops.empty() || !script.unsure_names.empty() || !script.arithmetic_names.empty())
      return true;
    return std::ranges::any_of(script.commands, [](const SimpleCommand& command) {
      return !command.assignments.empty() ||
             std::ranges::any_of(command.words, [](const Word& word) {
               return std::ranges::any_of(values_of(word), [](const std::string& value) {
                 return one_of(base_name(value), kSetters);
               });
             });
    });
  }

  static bool moves(const Arg& arg, bool doubled) {
    return !arg.known && (doubled ? arg.many : !arg.single);
  }

  // Whether two findings have the same inner commands and texts.
  static bool runs_alike(const Findings& a, const Findings& b) {
    return std::ranges::equal(a.commands, b.commands,
                              [](const Findings::Inner& left, const Findings::Inner& right) {
                                return std::ranges::equal(left.args, right.args, {}, &Arg::text,
                                                          &Arg::text);
                              }) &&
           std::ranges::equal(a.texts, b.texts, {}, &Findings::InnerText::text,
                              &Findings::InnerText::text);
  }

  // A word that may vanish or split shifts the following words, which then may mean something else.
  // Adds the hazards of both cases.
  static void find_in_other_places(const Args& args, Findings& out) {
    for (const bool doubled : {false, true}) {
      if (std::ranges::none_of(args, [&](const Arg& arg) { return moves(arg, doubled); })) continue;
      if (args.size() > kMovedWordsMax)
        return out.runs(kNoWord, "a long command has words that may expand to nothing");
      Args moved;
      std::vector<std::size_t> origin;
      for (std::size_t i = 0; i < args.size(); ++i) {
        for (int left = !moves(args[i], doubled) ? 1 : doubled ? 2 : 0; left > 0; --left) {
          moved.push_back(args[i]);
          origin.push_back(i);
        }
      }
      Findings other;
      find_all(base_name(args[0].text), moved, other);
      for (Hazard& hazard : other.hazards) {
        if (hazard.word < origin.size()) hazard.word = origin[hazard.word];
        out.hazards.push_back(std::move(hazard));
      }
      if (!runs_alike(other, out))
        out.runs(kNoWord,
                 "what " + args[0].text + " runs depends on a word that may expand to nothing");
    }
  }

  static void find_all(std::string_view program, const Args& args, Findings& out) {
    for (const auto find : {find_in_wrappers, find_in_shells, find_in_builtins,
                            find_in_interpreters, find_in_git, find_in_editors, find_in_finders})
      if (find(program, args, out)) return;
    find_in_options(program, args, out);
  }

  Analysis out_;
  const Names* names_ = nullptr;  // of the current text
  Dialect dialect_ = Dialect::bash;
  std::size_t depth_ = 0;
  std::size_t bytes_ = 0;
  bool appends_ = false;  // of the current redirection
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
    // As the first word, these need quotes to keep their meaning.
    const bool first = &arg == &args.front();
    const bool keyword = first && (one_of(arg.text, kKeywords) || arg.text.contains('='));
    const std::string word = arg.known ? quoted(arg.text) : arg.text;
    out += arg.known && keyword && word == arg.text ? "'" + word + "'" : word;
  }
  return out;
}

Analysis analyse(std::string_view text) {
  Analyser analyser;
  analyser.text(text, std::nullopt, Dialect::bash);
  return analyser.take();
}

}  // namespace agentrt::policy::shell
