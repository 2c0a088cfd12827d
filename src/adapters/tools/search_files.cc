#include "adapters/tools/search_files.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>
#include <re2/re2.h>

#include "adapters/tools/glob.h"
#include "adapters/tools/lines.h"
#include "adapters/tools/text.h"
#include "adapters/tools/walk.h"

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

constexpr std::string_view kNarrower =
    "search a subfolder, fewer files, or for a longer expression";

// The part of a line around the match, with dots where text was omitted.
std::string shown_part(std::string_view line, std::size_t from, std::size_t size) {
  if (line.size() <= kSearchShownBytesMax) return valid_utf8(line);
  const std::size_t spare = kSearchShownBytesMax - std::min(size, kSearchShownBytesMax);
  std::size_t begin = from - std::min(from, spare / 2);
  begin = std::min(begin, line.size() - kSearchShownBytesMax);
  while (begin > 0 && (static_cast<unsigned char>(line[begin]) & 0xC0) == 0x80) --begin;
  const std::string_view part = schema::utf8_prefix(line.substr(begin), kSearchShownBytesMax);
  return fmt::format("{}{}{}", begin > 0 ? "…" : "", valid_utf8(part),
                     begin + part.size() < line.size() ? "…" : "");
}

class Search {
 public:
  Search(const RE2& expression, std::uint64_t context, const policy::Redactor* redactor,
         const Until& until)
      : expression_(expression), context_(context), redactor_(redactor), until_(until) {}

  // Returns stop if the result is full or the call must end.
  Next search(const Descriptor& handle, const std::string& shown) {
    auto readable = reopen(handle, O_RDONLY | O_NONBLOCK);
    if (!readable) return skip();
    FileBytes bytes(*std::move(readable));
    LineReader lines(bytes, redactor_, kSearchLineBytesMax + 1, until_);
    const auto beginning = lines.beginning();
    if (!beginning) return skip();
    if (!kind_of_bytes(*beginning).empty()) return Next::go_on;
    ++files_;
    File file{.shown = shown, .before = {}, .told = 0, .after = 0};
    Line line;
    for (std::uint64_t number = 1;; ++number) {
      const auto there = lines.next(line);
      if (!there) return until_.over() ? out_of_time() : skip();
      if (!*there) return Next::go_on;
      bytes_ += line.text.size() + line.left_out + 1;
      if (bytes_ > kSearchBytesMax) return out_of_time();
      if (!look_at(file, number, line.text)) return Next::stop;
    }
  }

  void finish(const WalkReport& report) {
    if (matches_ == 0 && report.end == WalkEnd::all_seen && !late_)
      out_.note(fmt::format("No line matches in {} files.", files_));
    WalkReport said = report;
    if (late_) said.end = WalkEnd::time;
    note_walk(said, kNarrower, out_);
    if (cut_ > 0)
      out_.note(fmt::format("{} long line{}: only the first {} KiB were searched.", cut_,
                            cut_ == 1 ? "" : "s", kSearchLineBytesMax / 1'024));
    if (skipped_ > 0) out_.note(fmt::format("Files that cannot be read: {}.", skipped_));
  }
  std::string take() { return out_.take(); }

 private:
  struct Before {
    std::uint64_t number;
    std::string text;
  };
  // The state of the search in one file.
  struct File {
    const std::string& shown;
    std::deque<Before> before;  // candidates for context before a match
    std::uint64_t told = 0;     // number of the last line shown
    std::uint64_t after = 0;    // context lines still to show after a match
  };

  Next skip() {
    ++skipped_;
    return Next::go_on;
  }
  Next out_of_time() {
    late_ = true;
    return Next::stop;
  }

  bool tell(File& file, std::uint64_t number, char mark, const std::string& text) {
    const bool gap = context_ > 0 && !out_.empty() && number != file.told + 1;
    file.told = number;
    return out_.add(
        fmt::format("{}{}{}{}{}{}\n", gap ? "--\n" : "", file.shown, mark, number, mark, text));
  }

  // False: the result is full. An overlong line has one extra byte that is not searched, so that
  // `$` does not match where the line was cut.
  bool look_at(File& file, std::uint64_t number, std::string_view text) {
    const std::size_t end = std::min(text.size(), kSearchLineBytesMax);
    if (end < text.size()) ++cut_;
    re2::StringPiece found;
    if (!expression_.Match({text.data(), text.size()}, 0, end, RE2::UNANCHORED, &found, 1))
      return pass(file, number, text);
    if (++matches_ > kSearchMatchesMax) return false;
    for (const Before& each : file.before)
      if (!tell(file, each.number, '-', each.text)) return false;
    file.before.clear();
    file.after = context_;
    const std::size_t from = static_cast<std::size_t>(found.data() - text.data());
    return tell(file, number, ':', shown_part(text, from, found.size()));
  }
  bool pass(File& file, std::uint64_t number, std::string_view text) {
    if (context_ == 0) return true;
    std::string part = shown_part(text, 0, 0);
    if (file.after > 0) {
      --file.after;
      return tell(file, number, '-', part);
    }
    file.before.push_back({number, std::move(part)});
    if (file.before.size() > context_) file.before.pop_front();
    return true;
  }

  const RE2& expression_;
  const std::uint64_t context_;
  const policy::Redactor* redactor_;
  const Until& until_;
  BoundedText out_;
  std::size_t matches_ = 0, files_ = 0, skipped_ = 0, cut_ = 0;
  std::uint64_t bytes_ = 0;
  bool late_ = false;
};

RE2::Options options_of(const agentrt::tools::SearchFilesArgs& args) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kExpressionMemoryMax);
  options.set_never_nl(true);  // lines contain no line end
  options.set_case_sensitive(!args.ignore_case.value_or(false));
  return options;
}

// Whether the expression can match no line, because it requires a line end inside a line.
bool fits_nothing(const RE2& expression) {
  static const int size_of_nothing = RE2("[^\\x00-\\x{10FFFF}]").ProgramSize();
  return expression.ProgramSize() <= size_of_nothing;
}

// Opens a file of the walk. It may have been replaced meanwhile, so policy is checked again.
std::optional<Descriptor> open_walked(const Grounds& grounds, const Walked& seen) {
  for (int i = 0; i < kWalkAgainMax; ++i) {
    auto handle = open_beneath(seen.folder->get(), std::string(seen.name), Links::refuse);
    if (!handle) return std::nullopt;
    struct stat about{};
    if (::fstat(handle->get(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
    const auto real = path_of(*handle);
    if (!real) continue;  // replaced meanwhile
    if (*real != seen.real_path && grounds.refusal(*real, Use::read)) return std::nullopt;
    return *std::move(handle);
  }
  return std::nullopt;
}

}  // namespace

Outcome<std::string> search_files(const Grounds& grounds, const policy::Redactor* redactor,
                                  const agentrt::tools::SearchFilesArgs& args,
                                  std::string_view excludes, const Until& until) {
  if (args.pattern.size() > kExpressionBytesMax)
    return refuse(Category::invalid_input,
                  fmt::format("The expression is longer than {} bytes.", kExpressionBytesMax));
  const RE2 expression(args.pattern, options_of(args));
  if (!expression.ok())
    return refuse(Category::invalid_input,
                  fmt::format("The expression cannot be parsed: {}.", expression.error()));
  if (fits_nothing(expression))
    return refuse(Category::invalid_input,
                  "The expression can match no line: each line is searched separately, without its "
                  "line break. Search for a part that is on one line, and use context.");
  std::optional<Glob> glob;
  if (args.files) {
    TRY_ASSIGN(glob, Glob::read(*args.files));
  }
  TRY_ASSIGN(const Opened start, grounds.open_any(args.path.value_or(".")));
  Search search(expression, std::min(args.context.value_or(0), kSearchContextMax), redactor, until);
  WalkReport report;
  if (start.is_folder()) {
    WalkLimits limits;
    if (args.ignored.value_or(false)) limits.ignored = Ignored::seen;
    limits.excludes = excludes;
    report = walk_folder(grounds, start, limits, until, [&](const Walked& seen) {
      if (seen.kind != EntryKind::file || (glob && !glob->fits(seen.path))) return Next::go_on;
      const auto handle = open_walked(grounds, seen);
      return handle ? search.search(*handle, path_words(grounds.shown(seen.real_path)))
                    : Next::go_on;
    });
  } else {
    TRY_ASSIGN(const Opened file, grounds.open_file(*args.path));
    if (search.search(file.handle, path_words(grounds.shown(file.path))) == Next::stop)
      report.end = WalkEnd::stopped;
  }
  search.finish(report);
  return search.take();
}

}  // namespace agentrt::adapters::tools
