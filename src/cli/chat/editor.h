// cli/chat/editor.h: the text that a person is typing, edited by libedit.
//
// libedit keeps the text, the cursor, the kill buffer and the meaning of the control keys
// (docs/decisions/0022-a-conversation-at-the-terminal.md). It reads nothing and draws nothing: it
// gets each key from press(), and its output is discarded. A terminal of its own, which only it
// sees, is the one it configures. The text is UTF-8 and may have several lines. Use from one
// thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/chat/keys.h"

namespace agentrt::cli {

class Editor {
 public:
  // Fails with unavailable if the system provides no pseudo-terminal.
  static Result<Editor> make();
  ~Editor();
  Editor(Editor&&) noexcept;
  Editor& operator=(Editor&&) noexcept;

  // Keys that edit or move within the text; others do nothing.
  void press(const KeyPress& press);
  void insert(std::string_view text);
  // Deletes this many characters before the cursor.
  void erase_before(std::size_t characters);
  // Replaces the text; the cursor is at its end.
  void set(std::string_view text);
  // Moves the cursor to the line above (-1) or below (1). False: there is none.
  bool move_line(int lines);

  std::string text() const;
  std::size_t cursor() const;  // in bytes of text()
  bool empty() const;

 private:
  struct State;
  explicit Editor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace agentrt::cli
