#include "cli/chat/keys.h"

#include <algorithm>
#include <utility>

#include "schema/utf8.h"

namespace agentrt::cli {
namespace {

constexpr std::string_view kPasteBegin = "\x1b[200~";
constexpr std::string_view kPasteEnd = "\x1b[201~";
constexpr std::size_t kSequenceBytesMax = 64;

struct Named {
  std::string_view sequence;  // after Esc
  Key key;
  std::string_view text = {};
};

// The sequences of xterm, its descendants and the Linux console. The text is what the line editor
// gets where it has a command of its own.
constexpr Named kSequences[] = {
    {"[A", Key::up},
    {"OA", Key::up},
    {"[B", Key::down},
    {"OB", Key::down},
    {"[C", Key::right},
    {"OC", Key::right},
    {"[D", Key::left},
    {"OD", Key::left},
    {"[H", Key::home},
    {"OH", Key::home},
    {"[F", Key::end},
    {"OF", Key::end},
    {"[1~", Key::home},
    {"[7~", Key::home},
    {"[4~", Key::end},
    {"[8~", Key::end},
    {"[3~", Key::remove},
    {"[5~", Key::page_up},
    {"[6~", Key::page_down},
    {"[Z", Key::back_tab},
    {"[I", Key::focus_in},
    {"[O", Key::focus_out},
    {"[1;5D", Key::word_left},
    {"[1;3D", Key::word_left},
    {"b", Key::word_left},
    {"[1;5C", Key::word_right},
    {"[1;3C", Key::word_right},
    {"f", Key::word_right},
    {"[1;3A", Key::alt_up},
    {"\x1b[A", Key::alt_up},
    {"\r", Key::newline},
    {"\n", Key::newline},
    {"[13;2u", Key::newline},
    {"[13;3u", Key::newline},
    {"[27;2;13~", Key::newline},
    {"OM", Key::enter},
    {"d", Key::control,
     "\x1b"
     "d"},
    {"\x7f", Key::control, "\x17"},
    {"\b", Key::control, "\x17"},
    {"[3;5~", Key::control,
     "\x1b"
     "d"},
};

// The length of the escape sequence at the start of `bytes`, which begins with Esc; 0: incomplete.
std::size_t sequence_length(std::string_view bytes) {
  if (bytes.size() < 2) return 0;
  std::size_t at = 1;
  if (bytes[1] == '\x1b' && bytes.size() >= 3 && (bytes[2] == '[' || bytes[2] == 'O')) at = 2;
  if (bytes[1] == '\x1b' && at == 1) return 1;  // two Esc: the first stands alone
  const char kind = bytes[at];
  if (kind == 'O') return bytes.size() > at + 1 ? at + 2 : 0;
  if (kind != '[') return at + 1;
  for (std::size_t i = at + 1; i < bytes.size() && i < kSequenceBytesMax; ++i) {
    const char c = bytes[i];
    if (c >= '\x40' && c <= '\x7e' && !(c == '[' && i == at + 1)) return i + 1;
    if (c < '\x20' || c > '\x7e') return i;  // not a sequence: what follows is a press of its own
  }
  return bytes.size() < kSequenceBytesMax ? 0 : kSequenceBytesMax;
}

// The length of the UTF-8 character at the start; 0: incomplete; an invalid byte counts as 1.
std::size_t character_length(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  const std::size_t size = lead >= 0xF5   ? 1
                           : lead >= 0xF0 ? 4
                           : lead >= 0xE0 ? 3
                           : lead >= 0xC2 ? 2
                                          : 1;
  for (std::size_t i = 1; i < size; ++i) {
    if (i >= bytes.size()) return 0;
    if ((static_cast<unsigned char>(bytes[i]) & 0xC0) != 0x80) return 1;
  }
  return size;
}

KeyPress control_press(char c) {
  switch (c) {
    case '\r':
    case '\n':
      return {Key::enter};
    case '\t':
      return {Key::tab};
    case '\x7f':
    case '\b':
      return {Key::backspace};
    case '\x03':
      return {Key::interrupt};
    case '\x04':
      return {Key::leave};
    case '\x0c':
      return {Key::redraw};
    case '\x12':
      return {Key::search};
    case '\x1a':
      return {Key::suspend};
    default:
      return {Key::control, std::string(1, c)};
  }
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string out;
  const std::string valid = schema::valid_utf8(text);
  out.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    if (c == '\r') {
      if (i + 1 >= valid.size() || valid[i + 1] != '\n') out += '\n';
    } else if (c == '\n' || c == '\t' || (static_cast<unsigned char>(c) >= 0x20 && c != '\x7f')) {
      out += c;
    }
  }
  return out;
}

std::vector<KeyPress> KeyReader::feed(std::string_view bytes) {
  std::vector<KeyPress> out;
  held_ += bytes;
  while (!held_.empty() && (pasting_ ? take_paste(out) : take(out))) continue;
  return out;
}

std::vector<KeyPress> KeyReader::idle() {
  std::vector<KeyPress> out;
  if (pasting_) {
    pasted_bytes_ += held_.size();
    if (pasted_.size() + held_.size() <= kPasteBytesMax) pasted_ += held_;
    held_.clear();
    end_paste(out);
    return out;
  }
  if (held_ == "\x1b")
    out.push_back({Key::escape});
  else if (!held_.empty() && held_[0] != '\x1b')
    out.push_back({Key::text, "\xEF\xBF\xBD"});
  held_.clear();
  return out;
}

int KeyReader::waits_ms() const {
  if (pasting_) return kPastePauseMs;
  return held_.empty() ? -1 : kEscapeMs;
}

bool KeyReader::take(std::vector<KeyPress>& out) {
  const char first = held_[0];
  if (first == '\x1b') return take_escape(out);
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0x20 || byte == 0x7f) {
    if (first != '\0') out.push_back(control_press(first));
    held_.erase(0, 1);
    return true;
  }
  const std::size_t length = character_length(held_);
  if (length == 0) return false;
  out.push_back({Key::text, schema::valid_utf8(std::string_view(held_).substr(0, length))});
  held_.erase(0, length);
  return true;
}

bool KeyReader::take_escape(std::vector<KeyPress>& out) {
  if (held_.starts_with(kPasteBegin)) {
    held_.erase(0, kPasteBegin.size());
    pasting_ = true;
    return !held_.empty();
  }
  const std::size_t length = sequence_length(held_);
  if (length == 0) return false;
  const std::string sequence = held_.substr(1, length - 1);
  held_.erase(0, length);
  if (length == 1) {
    out.push_back({Key::escape});
    return true;
  }
  const auto* found = std::ranges::find(kSequences, sequence, &Named::sequence);
  if (found != std::end(kSequences))
    out.push_back({found->key, std::string(found->text)});
  else if (sequence.size() == 1 && static_cast<unsigned char>(sequence[0]) >= 0x80)
    held_.insert(0, sequence);  // Esc, then the first byte of a character
  return true;
}

bool KeyReader::take_paste(std::vector<KeyPress>& out) {
  const std::size_t end = held_.find(kPasteEnd);
  // Keep what may be the beginning of the end mark.
  std::size_t ready = end;
  if (end == std::string::npos)
    ready = held_.size() > kPasteEnd.size() ? held_.size() - kPasteEnd.size() : 0;
  pasted_bytes_ += ready;
  if (pasted_.size() + ready <= kPasteBytesMax && pasted_bytes_ <= kPasteBytesMax)
    pasted_.append(held_, 0, ready);
  held_.erase(0, ready);
  if (end == std::string::npos) return false;
  held_.erase(0, kPasteEnd.size());
  end_paste(out);
  return true;
}

void KeyReader::end_paste(std::vector<KeyPress>& out) {
  pasting_ = false;
  const std::size_t bytes = std::exchange(pasted_bytes_, 0);
  std::string text = std::exchange(pasted_, {});
  out.push_back({Key::paste, bytes > kPasteBytesMax ? std::string() : clean_text(text), bytes});
}

}  // namespace agentrt::cli
