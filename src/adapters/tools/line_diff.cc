#include "adapters/tools/line_diff.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace agentrt::adapters::tools {
namespace {

// Splits a text into lines, including line ends. Needs four bytes per line beside the text.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      at = end == std::string_view::npos ? text.size() : end + 1;
      ends_.push_back(static_cast<std::uint32_t>(at));
    }
  }
  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return text_.substr(begin, ends_[i] - begin);
  }

 private:
  std::string_view text_;
  std::vector<std::uint32_t> ends_;
};

// Lines [a, a + removed) of the text before become lines [b, b + added) of the text after.
struct Change {
  std::size_t a = 0, removed = 0, b = 0, added = 0;
};

// Maps lines to numbers; equal lines get equal numbers.
class Numbers {
 public:
  std::vector<int> of(const Lines& lines, std::size_t from, std::size_t to) {
    std::vector<int> out;
    out.reserve(to - from);
    for (std::size_t i = from; i < to; ++i)
      out.push_back(known_.try_emplace(lines[i], static_cast<int>(known_.size())).first->second);
    return out;
  }

 private:
  std::unordered_map<std::string_view, int> known_;
};

// Myers' greedy algorithm for the shortest edit script. Keeps the furthest points of each round for
// backtracking.
class Script {
 public:
  Script(std::vector<int> a, std::vector<int> b) : a_(std::move(a)), b_(std::move(b)) {}

  // Empty: a limit was exceeded.
  std::optional<std::vector<Change>> run() {
    const int n = static_cast<int>(a_.size()), m = static_cast<int>(b_.size());
    const int most = std::min(n + m, kDiffChangesMax);
    std::vector<int> furthest(2 * static_cast<std::size_t>(most) + 3, 0);
    const auto at = [&](int k) -> int& { return furthest[static_cast<std::size_t>(k + most + 1)]; };
    for (int d = 0; d <= most; ++d) {
      for (int k = -d; k <= d; k += 2) {
        int x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
        while (x < n && x - k < m &&
               a_[static_cast<std::size_t>(x)] == b_[static_cast<std::size_t>(x - k)]) {
          ++x;
          ++steps_;
        }
        at(k) = x;
        if (x >= n && x - k >= m) {
          keep(d, at);
          return way_back(d, n, m);
        }
      }
      steps_ += static_cast<std::uint64_t>(d) + 1;
      if (steps_ > kDiffStepsMax) return std::nullopt;
      keep(d, at);
    }
    return std::nullopt;
  }

 private:
  template <class At>
  void keep(int d, const At& at) {
    std::vector<int> round;
    round.reserve(static_cast<std::size_t>(d) + 1);
    for (int k = -d; k <= d; k += 2) round.push_back(at(k));
    rounds_.push_back(std::move(round));
  }
  // The furthest point on diagonal k after round d; negative if there is none.
  int reached(int d, int k) const {
    if (d < 0 || k < -d || k > d) return -1;
    return rounds_[static_cast<std::size_t>(d)][static_cast<std::size_t>((k + d) / 2)];
  }

  std::vector<Change> way_back(int d, int x, int y) const {
    std::vector<Change> out;
    for (; d > 0; --d) {
      const int k = x - y;
      const bool down = k == -d || (k != d && reached(d - 1, k - 1) < reached(d - 1, k + 1));
      const int before_k = down ? k + 1 : k - 1;
      const int before_x = reached(d - 1, before_k);
      const int before_y = before_x - before_k;
      step(out, before_x, before_y, down);
      x = before_x;
      y = before_y;
    }
    std::ranges::reverse(out);
    return out;
  }
  // Adds one line, merged into an adjacent change.
  static void step(std::vector<Change>& out, int x, int y, bool down) {
    const Change one{static_cast<std::size_t>(x), down ? 0U : 1U, static_cast<std::size_t>(y),
                     down ? 1U : 0U};
    if (!out.empty() && out.back().a == one.a + one.removed && out.back().b == one.b + one.added) {
      Change& next = out.back();
      next = {one.a, one.removed + next.removed, one.b, one.added + next.added};
    } else {
      out.push_back(one);
    }
  }

  const std::vector<int> a_, b_;
  std::vector<std::vector<int>> rounds_;
  std::uint64_t steps_ = 0;
};

std::vector<Change> changes_of(const Lines& a, const Lines& b) {
  std::size_t begin = 0, end = 0;
  const std::size_t shorter = std::min(a.size(), b.size());
  while (begin < shorter && a[begin] == b[begin]) ++begin;
  while (end < shorter - begin && a[a.size() - 1 - end] == b[b.size() - 1 - end]) ++end;
  if (begin == a.size() && begin == b.size()) return {};
  const std::size_t a_end = a.size() - end, b_end = b.size() - end;
  std::optional<std::vector<Change>> changes;
  if (std::max(a_end, b_end) - begin <= kDiffLinesMax) {
    Numbers numbers;
    changes = Script(numbers.of(a, begin, a_end), numbers.of(b, begin, b_end)).run();
  }
  if (!changes) return {{begin, a_end - begin, begin, b_end - begin}};
  for (Change& change : *changes) {
    change.a += begin;
    change.b += begin;
  }
  return *std::move(changes);
}

void add_line(std::string& out, char mark, std::string_view line) {
  out += mark;
  out += line;
  if (!line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
}

std::string range(std::size_t from, std::size_t count) {
  const std::size_t first = count == 0 ? from : from + 1;
  return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
}

// One hunk of the changes [from, to), which lie close together.
void add_hunk(std::string& out, const Lines& a, const Lines& b, const Change* from,
              const Change* to) {
  const Change& last = to[-1];
  const std::size_t lead = std::min(from->a, kDiffContextLines);
  const std::size_t a_begin = from->a - lead, b_begin = from->b - lead;
  const std::size_t a_end = std::min(a.size(), last.a + last.removed + kDiffContextLines);
  const std::size_t b_end = std::min(b.size(), last.b + last.added + kDiffContextLines);
  out += fmt::format("@@ -{} +{} @@\n", range(a_begin, a_end - a_begin),
                     range(b_begin, b_end - b_begin));
  std::size_t at = a_begin;
  for (const Change* change = from; change != to; ++change) {
    for (; at < change->a; ++at) add_line(out, ' ', a[at]);
    for (; at < change->a + change->removed; ++at) add_line(out, '-', a[at]);
    for (std::size_t i = 0; i < change->added; ++i) add_line(out, '+', b[change->b + i]);
  }
  for (; at < a_end; ++at) add_line(out, ' ', a[at]);
}

// A file name as git writes it: quoted if it contains special characters.
std::string file_name(std::string_view side, std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  std::string quoted;
  bool plain = true;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      quoted += fmt::format("\\{:03o}", byte);
    else if (c == '"' || c == '\\')
      quoted.append({'\\', c});
    else
      quoted += c;
    plain = plain && byte >= 0x20 && byte != 0x7F && c != '"' && c != '\\';
  }
  return plain ? fmt::format("{}/{}", side, path) : fmt::format("\"{}/{}\"", side, quoted);
}

// A tab must end a name that contains a space.
std::string ended(const std::string& name) { return name.contains(' ') ? name + "\t" : name; }

}  // namespace

LineDiff line_diff(std::string_view path, std::string_view before, std::string_view after,
                   DiffOf what) {
  LineDiff out;
  const std::string left = file_name("a", path), right = file_name("b", path);
  const std::string none = "/dev/null";
  const std::string& old_name = what == DiffOf::new_file ? none : left;
  const std::string& new_name = what == DiffOf::removed_file ? none : right;
  out.text = fmt::format("diff --git {} {}\n", left, right);
  if (what == DiffOf::new_file) out.text += "new file mode 100644\n";
  if (what == DiffOf::removed_file) out.text += "deleted file mode 100644\n";
  const Lines a(before), b(after);
  if (before.contains('\0') || after.contains('\0')) {
    out.text += fmt::format("Binary files {} and {} differ\n", old_name, new_name);
    return out;
  }
  const std::vector<Change> changes = changes_of(a, b);
  if (changes.empty()) return out;
  out.text += fmt::format("--- {}\n+++ {}\n", ended(old_name), ended(new_name));
  for (const Change *from = changes.data(), *end = from + changes.size(); from != end;) {
    const Change* to = from + 1;
    while (to != end && to->a - (to[-1].a + to[-1].removed) <= 2 * kDiffContextLines) ++to;
    add_hunk(out.text, a, b, from, to);
    from = to;
  }
  for (const Change& change : changes) {
    out.added += change.added;
    out.removed += change.removed;
  }
  return out;
}

namespace {

// Takes a line with its line end; empty: there is none.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
  text.remove_prefix(line.size());
  return line;
}

struct Hunk {
  std::uint64_t old_lines = 1;
  std::uint64_t new_first = 0;  // index of its first line
  std::uint64_t new_lines = 1;
};

// Parses "first" or "first,count".
bool read_range(std::string_view text, std::uint64_t& first, std::uint64_t& count) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const auto number = [](std::string_view digits, std::uint64_t& out) {
    const char* end = digits.data() + digits.size();
    return std::from_chars(digits.data(), end, out).ptr == end && !digits.empty();
  };
  return number(text.substr(0, comma), first) &&
         (comma == text.size() || number(text.substr(comma + 1), count));
}

// Parses "@@ -1,2 +1,3 @@".
std::optional<Hunk> read_hunk(std::string_view line) {
  constexpr std::string_view kOpen = "@@ -", kClose = " @@\n";
  const std::size_t plus = line.find(" +");
  if (!line.starts_with(kOpen) || !line.ends_with(kClose) || plus == line.npos) return {};
  Hunk hunk;
  std::uint64_t ignored = 0;
  const std::string_view old_range = line.substr(kOpen.size(), plus - kOpen.size());
  const std::string_view new_range = line.substr(plus + 2, line.size() - kClose.size() - plus - 2);
  if (!read_range(old_range, ignored, hunk.old_lines) ||
      !read_range(new_range, hunk.new_first, hunk.new_lines))
    return {};
  if (hunk.new_lines > 0 && hunk.new_first > 0) --hunk.new_first;
  return hunk;
}

// Undoes one hunk: `after` is at its first line. False: it does not fit.
bool undo(Hunk hunk, std::string_view& diff, std::string_view& after, std::string& before) {
  constexpr std::string_view kNoEnd = "\\ No newline at end of file\n";
  while (hunk.old_lines + hunk.new_lines > 0) {
    std::string_view line = diff.empty() ? diff : take_line(diff);
    if (line.empty()) return false;
    const char mark = line.front();
    line.remove_prefix(1);
    if (diff.starts_with(kNoEnd)) {
      diff.remove_prefix(kNoEnd.size());
      if (line.ends_with('\n')) line.remove_suffix(1);
    }
    const bool was = mark == ' ' || mark == '-', is = mark == ' ' || mark == '+';
    if ((!was && !is) || (was && hunk.old_lines == 0) || (is && hunk.new_lines == 0)) return false;
    if (is && (after.empty() || take_line(after) != line)) return false;
    if (was) before += line;
    hunk.old_lines -= was ? 1 : 0;
    hunk.new_lines -= is ? 1 : 0;
  }
  return true;
}

}  // namespace

std::optional<std::string> unpatched(std::string_view after, std::string_view diff) {
  std::string before;
  std::uint64_t at = 0;  // lines of `after` that were taken
  while (!diff.empty()) {
    const std::string_view line = take_line(diff);
    if (line.starts_with("Binary files ")) return std::nullopt;
    if (!line.starts_with("@@ ")) continue;  // the head of the diff
    const auto hunk = read_hunk(line);
    if (!hunk || hunk->new_first < at) return std::nullopt;
    for (; at < hunk->new_first; ++at) {
      if (after.empty()) return std::nullopt;
      before += take_line(after);
    }
    if (!undo(*hunk, diff, after, before)) return std::nullopt;
    at += hunk->new_lines;
  }
  before += after;
  return before;
}

}  // namespace agentrt::adapters::tools
