// cli/chat/keys.h: turns the bytes of a terminal into key presses.
//
// Handles UTF-8, escape sequences of common terminals, bracketed paste and reports of the focus.
// Never blocks and never fails: an invalid byte becomes U+FFFD, an unknown sequence is dropped.
// Some presses are known only when nothing follows (a lone Esc); the caller calls idle() when no
// byte came for kEscapeMs. A paste is one press, at most kPasteBytesMax. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::cli {

enum class Key {
  text,     // one character
  control,  // another control character, or Esc and a letter: the line editor knows it
  enter,
  newline,  // Alt-Enter, Shift-Enter
  tab,
  back_tab,
  backspace,
  remove,  // the character under the cursor
  left,
  right,
  up,
  down,
  home,
  end,
  page_up,
  page_down,
  word_left,
  word_right,
  alt_up,
  escape,
  interrupt,  // Ctrl-C
  leave,      // Ctrl-D
  suspend,    // Ctrl-Z
  redraw,     // Ctrl-L
  search,     // Ctrl-R
  paste,
  focus_in,
  focus_out,
};

struct KeyPress {
  Key key = Key::text;
  std::string text = {};  // UTF-8: the character, the control sequence, or the pasted text
  // Of a paste, as received. More than text.size(): it was too long, and text is empty.
  std::size_t bytes = 0;

  bool operator==(const KeyPress&) const = default;
};

// How long an Esc may wait for the rest of a sequence.
inline constexpr int kEscapeMs = 40;
// How long a paste may pause before it counts as complete.
inline constexpr int kPastePauseMs = 2'000;
inline constexpr std::size_t kPasteBytesMax = std::size_t{2} << 20;

class KeyReader {
 public:
  std::vector<KeyPress> feed(std::string_view bytes);
  // No byte came for waits_ms() milliseconds.
  std::vector<KeyPress> idle();
  // How long to wait for more bytes before idle() is due; -1: nothing is incomplete.
  int waits_ms() const;

 private:
  // Takes one press from the start of held_. False: more bytes are needed.
  bool take(std::vector<KeyPress>& out);
  bool take_escape(std::vector<KeyPress>& out);
  bool take_paste(std::vector<KeyPress>& out);
  void end_paste(std::vector<KeyPress>& out);

  std::string held_;  // bytes of an incomplete press
  bool pasting_ = false;
  std::string pasted_;
  std::size_t pasted_bytes_ = 0;
};

// Text from a paste or a command as one message can contain it: valid UTF-8, line breaks as \n, and
// no control characters except tabs.
std::string clean_text(std::string_view text);

}  // namespace agentrt::cli
