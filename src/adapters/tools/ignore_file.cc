#include "adapters/tools/ignore_file.h"

#include <algorithm>
#include <array>

#include <re2/re2.h>

namespace agentrt::adapters::tools {
namespace {

constexpr std::int64_t kExpressionsMemoryMax = 8 << 20;

RE2::Options options() {
  RE2::Options out;
  out.set_encoding(RE2::Options::EncodingLatin1);  // names are bytes
  out.set_log_errors(false);
  out.set_dot_nl(true);
  out.set_max_mem(kExpressionsMemoryMax);
  return out;
}

// Removes trailing blanks, unless a backslash escapes them.
std::string_view trimmed(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (line.ends_with(' ') && !line.ends_with("\\ ")) line.remove_suffix(1);
  return line;
}

std::string quoted(char c) { return RE2::QuoteMeta(std::string(1, c)); }

// A named class such as [:alpha:] at this bracket; empty: the bracket is literal.
std::string_view named_class_at(std::string_view pattern, std::size_t at) {
  if (!pattern.substr(at).starts_with("[:")) return {};
  const std::size_t end = pattern.find(']', at + 2);
  if (end == std::string_view::npos || end < at + 3 || pattern[end - 1] != ':') return {};
  return pattern.substr(at, end + 1 - at);
}

bool is_named_class(std::string_view written) {
  constexpr std::array<std::string_view, 12> kNames = {"alnum", "alpha", "blank", "cntrl",
                                                       "digit", "graph", "lower", "print",
                                                       "punct", "space", "upper", "xdigit"};
  return std::ranges::find(kNames, written.substr(2, written.size() - 4)) != kNames.end();
}

// Translates a class such as [a-z] or [!a-z]. An unclosed class matches nothing, as in git: RE2
// rejects it.
std::string class_at(std::string_view pattern, std::size_t& at) {
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  std::string out = negated ? "[^/" : "[";
  bool may_range = false;  // a dash here denotes a range
  for (const std::size_t first = i; i < pattern.size(); ++i) {
    if (pattern[i] == ']' && i > first) {
      at = i;
      return out + "]";
    }
    if (const std::string_view named = named_class_at(pattern, i); !named.empty()) {
      if (!is_named_class(named)) {
        i = pattern.size();
        break;
      }
      out += named;
      i += named.size() - 1;
      may_range = false;
      continue;
    }
    const bool range = pattern[i] == '-' && may_range;
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    out += range ? "-" : quoted(pattern[i]);
    may_range = true;
  }
  at = i;
  return "[";
}

// `**` as a whole name matches across folders; elsewhere it is like `*`.
std::string stars_at(std::string_view pattern, std::size_t& at) {
  const std::size_t begin = at;
  while (at + 1 < pattern.size() && pattern[at + 1] == '*') ++at;
  const bool opens = begin == 0 || pattern[begin - 1] == '/';
  if (at == begin || !opens) return "[^/]*";
  if (at + 1 == pattern.size()) return ".+";
  if (pattern[at + 1] != '/') return "[^/]*";
  ++at;
  return "(?:.*/)?";
}

std::string expression_of(std::string_view pattern) {
  const bool of_this_folder = pattern.contains('/');
  if (pattern.starts_with('/')) pattern.remove_prefix(1);
  std::string out = of_this_folder ? "^" : "^(?:.*/)?";
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '*') {
      out += stars_at(pattern, i);
    } else if (c == '?') {
      out += "[^/]";
    } else if (c == '[') {
      out += class_at(pattern, i);
    } else {
      if (c == '\\' && i + 1 < pattern.size()) ++i;
      out += quoted(pattern[i]);
    }
  }
  return out + "$";
}

}  // namespace

IgnoreFile::IgnoreFile(std::string_view text)
    : expressions_(std::make_unique<RE2::Set>(options(), RE2::UNANCHORED)) {
  text = text.substr(0, kIgnoreFileBytesMax);
  for (std::size_t read = 0; !text.empty() && read < kIgnoreLinesMax; ++read) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add(trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (lines_.empty() || !expressions_->Compile()) expressions_.reset();
}

void IgnoreFile::add(std::string_view line) {
  if (line.empty() || line.starts_with('#')) return;
  Line what;
  what.takes_back = line.starts_with('!');
  if (what.takes_back) line.remove_prefix(1);
  what.folders_only = line.ends_with('/');
  if (what.folders_only) line.remove_suffix(1);
  if (line.empty() || expressions_->Add(expression_of(line), nullptr) < 0) return;
  lines_.push_back(what);
}

std::optional<bool> IgnoreFile::leaves_out(std::string_view path, Kind kind) const {
  std::vector<int> fit;
  if (!expressions_ || !expressions_->Match({path.data(), path.size()}, &fit)) return std::nullopt;
  std::ranges::sort(fit, std::ranges::greater());
  for (const int index : fit) {
    const Line& line = lines_[static_cast<std::size_t>(index)];
    if (!line.folders_only || kind == Kind::folder) return !line.takes_back;
  }
  return std::nullopt;
}

}  // namespace agentrt::adapters::tools
