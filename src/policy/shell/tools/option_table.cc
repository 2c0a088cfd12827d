#include "policy/shell/tools/option_table.h"

#include <algorithm>
#include <utility>

#include "policy/shell/limits.h"

namespace agentrt::policy::shell {
namespace {

enum class Value { none, required, optional };

struct Entry {
  std::string_view name;
  Value value = Value::none;
  std::optional<Hazard::Kind> hazard;
  bool dash_is_harmless = false;
  bool word_is_harmless = false;
  bool any_rest = false;
};

// Removes the next entry from `rest` and parses it.
Entry next_entry(std::string_view& rest, bool hazards) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  Entry out{.name = rest.substr(0, end)};
  rest.remove_prefix(std::min(end + 1, rest.size()));
  if (hazards) out.hazard = Hazard::Kind::writes;
  if (out.name.starts_with('!')) {
    out.hazard = Hazard::Kind::runs;
    out.name.remove_prefix(1);
  }
  if (out.name.starts_with('~')) {
    out.dash_is_harmless = true;
    out.name.remove_prefix(1);
  }
  if (out.name.starts_with('^')) {
    out.word_is_harmless = true;
    out.name.remove_prefix(1);
  }
  if (out.name.ends_with('=') || out.name.ends_with('?')) {
    out.value = out.name.ends_with('=') ? Value::required : Value::optional;
    out.name.remove_suffix(1);
  }
  if (out.name.ends_with('*')) {
    out.any_rest = true;
    out.name.remove_suffix(1);
  }
  return out;
}

// "-run" for "--run".
std::string_view without_second_dash(std::string_view name) {
  if (name.starts_with("--")) name.remove_prefix(1);
  return name;
}

class OptionReader {
 public:
  OptionReader(const OptionTable& table, const Args& args, Findings& out)
      : table_(table),
        args_(args),
        out_(out),
        words_(table.style == OptionStyle::words ||
               table.style == OptionStyle::words_before_operand) {}

  OptionReading read(std::size_t first) {
    const bool ends_early = table_.style == OptionStyle::before_operand ||
                            table_.style == OptionStyle::words_before_operand;
    for (at_ = first; at_ < args_.size(); ++at_) {
      const Arg& arg = args_[at_];
      if (counts_processors(arg)) continue;
      const bool operand = arg.known && (arg.text.size() < 2 || arg.text[0] != '-');
      if (!arg.known) computed(arg);
      if (ends_early && (operand || !arg.known)) break;
      if (arg.is("--") && !after_unknown_) {
        ++at_;
        break;
      }
      after_unknown_ = false;
      if (arg.known && !operand && ++options_ > kOptionsMax) {
        out_.runs(kNoWord, args_[0].text + " has too many options to analyse");
        reading_.certain = false;
        break;
      }
      if (operand || !arg.known)
        reading_.operands.push_back(at_);
      else if (words_ || arg.text.starts_with("--"))
        long_option(arg);
      else
        bundle(arg);
    }
    for (; at_ < args_.size(); ++at_) {
      if (!args_[at_].single) reading_.certain = false;
      reading_.operands.push_back(at_);
    }
    return std::move(reading_);
  }

 private:
  // -j$(nproc): the value is always a number.
  static bool counts_processors(const Arg& arg) {
    std::string_view written = arg.text;
    if (arg.known) return false;
    if (written.starts_with("-j")) written.remove_prefix(2);
    return one_of(written, "$(nproc) \"$(nproc)\" `nproc`");
  }

  // Handles a computed word: an operand, or an option if it may begin with a dash.
  void computed(const Arg& arg) {
    if (!arg.single || arg.option) reading_.certain = false;
    if (!arg.option) return;
    for (std::string_view rest = table_.hazards; !rest.empty();) {
      const Entry entry = next_entry(rest, true);
      if (!could_be(arg, entry)) continue;
      const bool runs = *entry.hazard == Hazard::Kind::runs;
      hazard(*entry.hazard, "the word " + arg.text +
                                " is known only at run time and may be an option with which " +
                                args_[0].text + (runs ? " runs" : " writes") + " something");
      return;
    }
  }

  // Whole-word options consist of letters only, so a pattern such as *.c cannot be one.
  bool could_be(const Arg& arg, const Entry& entry) const {
    if (!words_ || arg.suffix.empty()) return true;
    return entry.any_rest || entry.name.ends_with(arg.suffix) || arg.text.contains('=');
  }

  void hazard(Hazard::Kind kind, std::string reason) {
    out_.hazards.push_back({.kind = kind, .word = at_, .reason = std::move(reason)});
  }
  void unknown(std::string_view option) {
    hazard(Hazard::Kind::runs,
           "the option " + std::string(option) + " of " + args_[0].text + " is not known");
    after_unknown_ = reading_.unknown = true;
    reading_.certain = false;
  }

  // The entry of a full or abbreviated name. If several match, a hazard wins.
  std::optional<Entry> find_long(std::string_view given) const {
    if (words_) given = without_second_dash(given);
    std::optional<Entry> prefix, rest_of, any;
    bool ambiguous = false;
    for (std::string_view list : {table_.hazards, table_.longs, table_.also})
      for (const bool hazards = list.data() == table_.hazards.data(); !list.empty();) {
        const Entry entry = next_entry(list, hazards);
        const std::string_view name = words_ ? without_second_dash(entry.name) : entry.name;
        if (name == given && !entry.any_rest) return entry;
        if (name.empty() && entry.any_rest) any = entry;
        if (entry.any_rest && !name.empty() && given.starts_with(name) && !rest_of) rest_of = entry;
        if (words_ || given.size() < 3 || !name.starts_with(given)) continue;
        ambiguous = ambiguous || (prefix && prefix->value != entry.value);
        if (!prefix) prefix = entry;
      }
    if (rest_of && rest_of->hazard) return rest_of;
    if (prefix && (!ambiguous || prefix->hazard)) return prefix;
    return rest_of ? rest_of : any;
  }

  void long_option(const Arg& arg) {
    const std::string_view text = arg.text;
    const std::size_t equals = text.find('=');
    const auto entry = find_long(text.substr(0, equals));
    if (!entry) {
      if (!one_of(text, "--help --version -h -help")) unknown(text.substr(0, equals));
      return;
    }
    if (entry->any_rest && !entry->hazard) after_unknown_ = equals == text.npos;
    OptionUse use{.word = at_, .name = entry->name};
    std::size_t taken = 0;
    if (equals != text.npos) {
      use.value_word = at_;
      use.value = known_arg(std::string(text.substr(equals + 1)));
    } else if (entry->value == Value::required) {
      take_next(use, taken);
      // Not every program takes the value of a long option from the next word. So if that word
      // looks like an option, it is also judged as one.
      if (!entry->hazard && use.value.known && use.value.option && use.value.text.size() > 1) {
        taken = 0;
        after_unknown_ = true;
      }
    }
    seen(*entry, std::move(use));
    at_ += taken;
  }

  // Takes the next word as the value; `taken` counts the value words of this option word.
  void take_next(OptionUse& use, std::size_t& taken) {
    const std::size_t next = at_ + taken + 1;
    if (next >= args_.size()) return;
    use.value_word = next;
    use.value = args_[next];
    if (!use.value.single) reading_.certain = false;
    // A word that may become several words is also judged on its own.
    if (use.value.known || use.value.single || !use.value.option) ++taken;
  }

  void seen(const Entry& entry, OptionUse use) {
    const bool has_value = use.value.known && use.value_word != kNoWord;
    const bool discarded = has_value && entry.hazard == Hazard::Kind::writes &&
                           (one_of(use.value.text, "/dev/null /dev/stdout /dev/stderr") ||
                            (entry.dash_is_harmless && use.value.text == "-"));
    const bool word = has_value && entry.word_is_harmless && !use.value.text.empty() &&
                      use.value.text.find_first_of("./\\") == std::string::npos;
    if (entry.hazard && !discarded && !word)
      hazard(*entry.hazard,
             args_[use.word].text + " makes " + args_[0].text + " run programs or write files");
    reading_.uses.push_back(std::move(use));
  }

  // The entry of a short option: its value, and whether it is a hazard.
  std::optional<Entry> find_letter(char letter) const {
    std::optional<Entry> out;
    for (std::string_view rest = table_.hazards; !rest.empty();) {
      const Entry entry = next_entry(rest, true);
      if (entry.name.size() == 2 && entry.name[0] == '-' && entry.name[1] == letter) out = entry;
    }
    const std::size_t valued = letter == '?' ? table_.valued.npos : table_.valued.find(letter);
    const bool listed = valued != table_.valued.npos || table_.flags.contains(letter);
    if (!out && (listed || table_.flags.contains('*'))) out.emplace();
    if (out && valued != table_.valued.npos)
      out->value =
          table_.valued.substr(valued + 1).starts_with('?') ? Value::optional : Value::required;
    return out;
  }

  void bundle(const Arg& arg) {
    const std::string_view text = arg.text;
    std::size_t taken = 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
      const auto entry = find_letter(text[i]);
      if (!entry) return unknown("-" + std::string(1, text[i]));
      OptionUse use{.word = at_, .letter = text[i]};
      const bool attached = entry->value == Value::optional ||
                            (entry->value == Value::required && i + 1 < text.size());
      if (attached && table_.style != OptionStyle::separate) {
        use.value_word = at_;
        use.value = known_arg(std::string(text.substr(i + 1)));
        return seen(*entry, std::move(use));
      }
      if (entry->value == Value::required) take_next(use, taken);
      seen(*entry, std::move(use));
    }
    at_ += taken;
  }

  const OptionTable& table_;
  const Args& args_;
  Findings& out_;
  bool words_;  // options are whole words
  OptionReading reading_;
  std::size_t at_ = 0;
  std::size_t options_ = 0;
  // The previous option is unknown and may take this word as its value.
  bool after_unknown_ = false;
};

}  // namespace

const OptionUse* OptionReading::find(char letter, std::string_view name) const {
  const auto found =
      std::ranges::find_if(uses, [&](const OptionUse& use) { return use.is(letter, name); });
  return found == uses.end() ? nullptr : &*found;
}

OptionReading read_options(const OptionTable& table, const Args& args, std::size_t first,
                           Findings& out) {
  return OptionReader(table, args, out).read(first);
}

const OptionTable* table_of(std::span<const OptionTable> tables, std::string_view name) {
  const auto found = std::ranges::find_if(
      tables, [&](const OptionTable& table) { return one_of(name, table.names); });
  return found == tables.end() ? nullptr : &*found;
}

}  // namespace agentrt::policy::shell
