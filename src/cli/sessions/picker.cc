#include "cli/sessions/picker.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "cli/decisions/keyboard.h"

namespace agentrt::cli {
namespace {

constexpr std::size_t kPlainRowsMax = 20;
constexpr std::size_t kNarrowColumns = 50;  // below this only the text of a session is shown
constexpr std::size_t kPageRows = 10;       // that PageUp and PageDown move
constexpr int kTickMs = 100;                // how often the size of the terminal is checked
constexpr int kEscapeMs = 50;               // how long the rest of an escape sequence may take

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

bool contains_words(std::string_view text, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (!text.contains(words.substr(0, end))) return false;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return true;
}

std::string state_of(schema::Status status) {
  if (status == schema::Status::idle || schema::ended(status)) return "";
  return spoken_status(schema::name_of(status));
}

// The length of the key at the start of `bytes`; 0: it is incomplete.
std::size_t key_length(std::string_view bytes) {
  if (bytes.front() != '\x1b') return utf8_character(bytes, 0).size();
  if (bytes.size() == 1) return 0;
  if (bytes[1] != '[' && bytes[1] != 'O') return 1;
  for (std::size_t i = 2; i < bytes.size(); ++i)
    if (bytes[i] >= '@' && bytes[i] <= '~') return i + 1;
  return bytes.size() > 16 ? bytes.size() : 0;
}

// How many bytes the UTF-8 character that starts with `first` has.
std::size_t bytes_of_character(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

struct Size {
  std::size_t columns = 80;
  std::size_t lines = 24;
  bool operator==(const Size&) const = default;
};

Size terminal_size() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
    return {};
  return {size.ws_col, size.ws_row};
}

// While it exists, keys arrive one by one and unechoed, and the terminal shows its second screen.
class FullScreen {
 public:
  explicit FullScreen(Output& output) : output_(output) {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_iflag &= ~static_cast<tcflag_t>(ICRNL | IXON);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    changed_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) == 0;
    output_.err("\x1b[?1049h");
  }
  ~FullScreen() {
    output_.err("\x1b[?1049l");
    if (changed_) (void)::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

 private:
  Output& output_;
  termios before_{};
  bool changed_ = false;
};

std::optional<SessionId> chosen(const PickerList& list) {
  const PickerRow* row = list.selected();
  return row == nullptr ? std::nullopt : std::optional(row->session);
}

std::optional<SessionId> pick_on_screen(Output& output, Signals& signals, PickerList& list) {
  using Outcome = PickerList::Outcome;
  const FullScreen screen(output);
  const int signals_before = signals.count();
  Size drawn{0, 0};
  bool stale = true;
  Outcome outcome = Outcome::open;
  while (outcome == Outcome::open) {
    if (const Size size = terminal_size(); stale || size != drawn) {
      output.err(list.frame(size.columns, size.lines, output.screen().err_colour));
      drawn = size;
      stale = false;
    }
    std::array<pollfd, 2> waiting{{{STDIN_FILENO, POLLIN, 0}, {signals.descriptor(), POLLIN, 0}}};
    const int ready =
        ::poll(waiting.data(), waiting.size(), list.undecided() ? kEscapeMs : kTickMs);
    if (signals.count() > signals_before) return std::nullopt;
    if (ready == 0 && list.undecided()) outcome = list.press_escape();
    if (ready <= 0 || waiting[0].revents == 0) continue;
    std::array<char, 4'096> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0) return std::nullopt;
    outcome = list.press({bytes.data(), static_cast<std::size_t>(count)});
    stale = true;
  }
  return outcome == Outcome::chosen ? chosen(list) : std::nullopt;
}

std::optional<SessionId> pick_by_number(Output& output, Signals& signals, PickerList& list) {
  while (true) {
    const auto found = list.matching();
    const std::size_t shown = std::min(found.size(), kPlainRowsMax);
    std::string text = list.numbered(shown, terminal_width(output.screen().width));
    if (found.size() > shown) text += fmt::format("… and {} more\n", found.size() - shown);
    if (found.empty()) text += "No session matches.\n";
    text += "Number, words to search for, or an empty line to leave: ";
    const auto line = ask_line(output, signals, text);
    if (!line || line->empty()) return std::nullopt;
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(line->data(), line->data() + line->size(), number);
    if (error == std::errc() && end == line->data() + line->size() && number >= 1 &&
        number <= shown)
      return found[number - 1]->session;
    list.search(*line);
  }
}

}  // namespace

std::vector<PickerRow> picker_rows(std::vector<schema::SessionSummary> sessions,
                                   const std::string& folder, Timestamp now) {
  std::erase_if(sessions, [](const auto& session) { return session.archived; });
  std::ranges::sort(sessions, [&](const auto& a, const auto& b) {
    const bool here_a = a.cwd == folder, here_b = b.cwd == folder;
    if (here_a != here_b) return here_a;
    return a.updated_at != b.updated_at ? b.updated_at < a.updated_at : a.session_id > b.session_id;
  });
  std::vector<PickerRow> rows;
  for (const schema::SessionSummary& session : sessions)
    rows.push_back({.session = session.session_id,
                    .what = one_line(session.title ? *session.title : session.preview.value_or("")),
                    .when = spoken_age(session.updated_at, now),
                    .state = state_of(session.status),
                    .where = session.cwd == folder ? "" : one_line(session.cwd)});
  return rows;
}

PickerList::PickerList(std::vector<PickerRow> rows, std::string_view text)
    : rows_(std::move(rows)) {
  search(text);
}

void PickerList::search(std::string_view text) {
  search_ = schema::utf8_prefix(text, kSearchBytesMax);
  filter();
}

void PickerList::filter() {
  found_.clear();
  at_ = 0;
  const std::string words = lower(search_);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const PickerRow& row = rows_[i];
    if (contains_words(
            lower(row.what + " " + row.where + " " + row.state + " " + row.session.text()), words))
      found_.push_back(i);
  }
}

const PickerRow* PickerList::selected() const {
  return found_.empty() ? nullptr : &rows_[found_[at_]];
}

std::vector<const PickerRow*> PickerList::matching() const {
  std::vector<const PickerRow*> out;
  for (const std::size_t i : found_) out.push_back(&rows_[i]);
  return out;
}

void PickerList::move(std::ptrdiff_t by) {
  if (found_.empty()) return;
  const auto last = static_cast<std::ptrdiff_t>(found_.size()) - 1;
  at_ = static_cast<std::size_t>(
      std::clamp(static_cast<std::ptrdiff_t>(at_) + by, std::ptrdiff_t{0}, last));
}

PickerList::Outcome PickerList::press(std::string_view bytes) {
  pending_ += bytes;
  while (!pending_.empty()) {
    if (pending_.size() < bytes_of_character(pending_.front())) break;
    const std::size_t length = key_length(pending_);
    if (length == 0) break;
    const Outcome outcome = press_key(std::string_view(pending_).substr(0, length));
    pending_.erase(0, length);
    if (outcome != Outcome::open) return outcome;
  }
  return Outcome::open;
}

PickerList::Outcome PickerList::press_escape() {
  const bool escape = pending_ == "\x1b";
  pending_.clear();
  return escape ? Outcome::left : Outcome::open;
}

PickerList::Outcome PickerList::press_key(std::string_view key) {
  const char last = key.back();
  if (key == "\r" || key == "\n") return found_.empty() ? Outcome::open : Outcome::chosen;
  if (key == "\x1b" || key == "\x03" || key == "\x04") return Outcome::left;
  if (key.front() == '\x1b') {
    const bool page = key == "\x1b[5~" || key == "\x1b[6~";
    if (page) move(key[2] == '5' ? -static_cast<std::ptrdiff_t>(kPageRows) : kPageRows);
    if (!page && last == 'A') move(-1);
    if (!page && last == 'B') move(1);
    return Outcome::open;
  }
  if (key == "\x10") {  // Ctrl-P
    move(-1);
  } else if (key == "\x0e") {  // Ctrl-N
    move(1);
  } else if (key == "\x15") {  // Ctrl-U
    search("");
  } else if (key == "\x7f" || key == "\b") {
    std::size_t end = search_.size();
    while (end > 0 && (static_cast<unsigned char>(search_[end - 1]) & 0xc0) == 0x80) --end;
    search(search_.substr(0, end > 0 ? end - 1 : 0));
  } else if (static_cast<unsigned char>(key.front()) >= ' ' && visible(key) == key &&
             search_.size() + key.size() <= kSearchBytesMax) {
    search(search_ + std::string(key));
  }
  return Outcome::open;
}

std::string PickerList::line_of(const PickerRow& row, std::string_view mark, std::size_t columns,
                                Colour colour) const {
  const std::size_t room = columns > width_of(mark) ? columns - width_of(mark) : 1;
  const std::string what = row.what.empty() ? row.session.text() : row.what;
  if (columns < width_of(mark) + 1) return fit(what, columns);
  if (columns < kNarrowColumns) return std::string(mark) + fit(what, room);
  constexpr std::size_t kWhenColumns = 12;
  std::string when = fit(row.when, kWhenColumns);
  when.append(kWhenColumns - width_of(when) + 1, ' ');
  const std::size_t left = room > kWhenColumns + 1 ? room - kWhenColumns - 1 : 1;
  std::string note = row.state;
  if (!row.where.empty()) note += (note.empty() ? "" : " · ") + row.where;
  note = note.empty() ? "" : "  " + fit(note, left / 2);
  return std::string(mark) + paint(when, Paint::dim, colour) + fit(what, left - width_of(note)) +
         paint(note, Paint::dim, colour);
}

std::string PickerList::frame(std::size_t columns, std::size_t lines, Colour colour) const {
  constexpr std::size_t kOtherLines = 3;
  constexpr std::string_view kLabel = "search: ";
  const std::size_t width = columns > 1 ? columns - 1 : 1;  // the last column may wrap
  const std::size_t shown = lines > kOtherLines ? lines - kOtherLines : 1;
  const std::size_t first = at_ < shown ? 0 : at_ - shown + 1;
  const auto line = [](std::string_view text) { return fmt::format("{}\x1b[K\r\n", text); };
  const std::string title =
      fit(fmt::format("Sessions  {} of {}", found_.size(), rows_.size()), width);
  std::string out = "\x1b[H" + line(paint(title, Paint::bold, colour));
  const std::string typed = fit(std::string(kLabel) + search_, width);
  out += line(typed);
  for (std::size_t i = first; i < std::min(found_.size(), first + shown); ++i) {
    const PickerRow& row = rows_[found_[i]];
    out += line(line_of(row, i == at_ ? "> " : "  ", width, i == at_ ? Colour::off : colour));
  }
  if (found_.empty()) out += line(fit("  no session matches", width));
  out += paint(fit("↑↓ choose · Enter opens · Esc leaves", width), Paint::dim, colour);
  return out + fmt::format("\x1b[K\x1b[J\x1b[2;{}H", width_of(typed) + 1);
}

std::string PickerList::numbered(std::size_t count, std::size_t columns) const {
  std::string out;
  for (std::size_t i = 0; i < std::min(count, found_.size()); ++i) {
    const std::string mark = fmt::format("{:>3}  ", i + 1);
    out += line_of(rows_[found_[i]], mark, columns > 1 ? columns - 1 : 1, Colour::off) + "\n";
  }
  return out;
}

Result<std::optional<SessionId>> pick_session(Output& output, Signals& signals,
                                              std::vector<PickerRow> rows,
                                              std::string_view search) {
  const Screen& screen = output.screen();
  if (!screen.in_terminal || !screen.err_terminal)
    return fail(Code::invalid_params,
                "Choosing a session needs a terminal; agentrt sessions lists them, and agentrt run "
                "--session ID PROMPT or agentrt run --continue PROMPT continues one.");
  if (rows.empty())
    return fail(Code::not_found, "There are no sessions yet; start one with agentrt run PROMPT.");
  PickerList list(std::move(rows), search);
  return screen.live ? pick_on_screen(output, signals, list)
                     : pick_by_number(output, signals, list);
}

}  // namespace agentrt::cli
