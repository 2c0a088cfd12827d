#include "cli/chat/editor.h"

#include <fcntl.h>
#include <histedit.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <utility>

#include "base/descriptor.h"
#include "cli/views/terminal.h"

namespace agentrt::cli {
namespace {

// wchar_t is a code point here; the conversion does not depend on a locale.
std::wstring widened(std::string_view text) {
  std::wstring out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = utf8_character(text, at);
    at += character.size();
    const auto lead = static_cast<unsigned char>(character[0]);
    if (character.size() == 1) {
      out += lead < 0x80 ? static_cast<wchar_t>(lead) : L'\xFFFD';
      continue;
    }
    auto code = static_cast<wchar_t>(lead & (0xFFU >> (character.size() + 1)));
    for (const char c : character.substr(1))
      code = static_cast<wchar_t>(code << 6 | (static_cast<unsigned char>(c) & 0x3F));
    out += code;
  }
  return out;
}

void add_narrowed(std::string& out, std::uint32_t code) {
  const auto add = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add(0x80 | (code >> 6 & 0x3F));
  } else {
    add(0xF0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3F));
    add(0x80 | (code >> 6 & 0x3F));
  }
  add(0x80 | (code & 0x3F));
}

std::string narrowed(const wchar_t* begin, const wchar_t* end) {
  std::string out;
  for (const wchar_t wide : std::wstring_view(begin, end))
    add_narrowed(out, static_cast<char32_t>(wide));
  return out;
}

wchar_t* no_prompt(EditLine*) {
  static wchar_t empty[] = L"";
  return empty;
}

// What libedit calls the key in its emacs map.
std::string_view sequence_of(const KeyPress& press) {
  switch (press.key) {
    case Key::text:
    case Key::control:
      return press.text;
    case Key::backspace:
      return "\x7f";
    case Key::remove:
      return "\x1b[3~";
    case Key::left:
      return "\x02";
    case Key::right:
      return "\x06";
    case Key::home:
      return "\x01";
    case Key::end:
      return "\x05";
    case Key::word_left:
      return "\x1b"
             "b";
    case Key::word_right:
      return "\x1b"
             "f";
    default:
      return {};
  }
}

}  // namespace

struct Editor::State {
  EditLine* line = nullptr;
  std::FILE* in = nullptr;
  std::FILE* nowhere = nullptr;
  Descriptor master, slave;
  std::deque<wchar_t> keys;  // not read yet by libedit

  ~State() {
    if (line != nullptr) ::el_end(line);
    if (in != nullptr) std::fclose(in);
    if (nowhere != nullptr) std::fclose(nowhere);
  }

  static int next_key(EditLine* line, wchar_t* key) {
    State* state = nullptr;
    ::el_wget(line, EL_CLIENTDATA, &state);
    if (state == nullptr || state->keys.empty()) return 0;
    *key = state->keys.front();
    state->keys.pop_front();
    return 1;
  }

  bool open() {
    master = Descriptor(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!master || ::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0) return false;
    char name[64] = {};
    if (::ptsname_r(master.get(), name, sizeof(name)) != 0) return false;
    slave = Descriptor(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!slave) return false;
    in = std::fopen(name, "re");
    nowhere = std::fopen("/dev/null", "we");
    if (in == nullptr || nowhere == nullptr) return false;
    line =
        ::el_init_fd("agentrt", in, nowhere, nowhere, slave.get(), slave.get(), ::fileno(nowhere));
    return line != nullptr;
  }

  void configure() {
    ::el_wset(line, EL_CLIENTDATA, this);
    ::el_wset(line, EL_PROMPT, no_prompt);
    ::el_wset(line, EL_EDITOR, L"emacs");
    ::el_wset(line, EL_SIGNAL, 0);
    ::el_wset(line, EL_GETCFN, next_key);
    // In its table, characters from 128 to 255 are Esc and a letter unless the locale has them.
    for (wchar_t c = 0x80; c <= 0xFF; ++c) {
      const wchar_t key[] = {c, 0};
      ::el_wset(line, EL_BIND, key, L"ed-insert", nullptr);
    }
    ::el_wset(line, EL_BIND, L"\x1f", L"vi-undo", nullptr);
    begin();
  }

  void begin() { ::el_wset(line, EL_UNBUFFERED, 1); }

  void type(std::wstring_view text) {
    keys.insert(keys.end(), text.begin(), text.end());
    // One command per call. A call that reads nothing would not end.
    for (std::size_t left = keys.size(); left > 0 && !keys.empty(); --left) {
      int count = 0;
      (void)::el_wgets(line, &count);
    }
    keys.clear();
  }

  const LineInfoW& info() const { return *::el_wline(line); }
};

Editor::Editor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Editor::~Editor() = default;
Editor::Editor(Editor&&) noexcept = default;
Editor& Editor::operator=(Editor&&) noexcept = default;

Result<Editor> Editor::make() {
  auto state = std::make_unique<State>();
  if (!state->open())
    return fail(Code::unavailable,
                "The line editor cannot start, because the system provides no pseudo-terminal; use "
                "agentrt chat --plain.");
  state->configure();
  return Editor(std::move(state));
}

void Editor::press(const KeyPress& press) {
  const std::string_view sequence = sequence_of(press);
  // Control keys that would end the line or run a macro of libedit are not for the text.
  if (!sequence.empty()) state_->type(widened(sequence));
}

void Editor::insert(std::string_view text) {
  if (!text.empty()) (void)::el_winsertstr(state_->line, widened(text).c_str());
}

void Editor::erase_before(std::size_t characters) {
  ::el_deletestr(state_->line, static_cast<int>(characters));
}

void Editor::set(std::string_view text) {
  ::el_wset(state_->line, EL_UNBUFFERED, 0);
  state_->begin();
  insert(text);
}

bool Editor::move_line(int lines) {
  const LineInfoW& info = state_->info();
  const std::wstring text(info.buffer, info.lastchar);
  const auto at = static_cast<std::size_t>(info.cursor - info.buffer);
  const auto start_of = [&](std::size_t from) {
    const std::size_t found = from == 0 ? text.npos : text.rfind(L'\n', from - 1);
    return found == text.npos ? 0 : found + 1;
  };
  const std::size_t start = start_of(at);
  const std::size_t column = at - start;
  std::size_t target = 0;
  if (lines < 0) {
    if (start == 0) return false;
    target = start_of(start - 1);
  } else {
    const std::size_t end = text.find(L'\n', at);
    if (end == text.npos) return false;
    target = end + 1;
  }
  const std::size_t end = std::min(text.find(L'\n', target), text.size());
  target = std::min(target + column, end);
  ::el_cursor(state_->line, static_cast<int>(target) - static_cast<int>(at));
  return true;
}

std::string Editor::text() const {
  const LineInfoW& info = state_->info();
  return narrowed(info.buffer, info.lastchar);
}

std::size_t Editor::cursor() const {
  const LineInfoW& info = state_->info();
  return narrowed(info.buffer, info.cursor).size();
}

bool Editor::empty() const {
  const LineInfoW& info = state_->info();
  return info.buffer == info.lastchar;
}

}  // namespace agentrt::cli
