// cli/views/page.h: where a turn's answer and the notes about it are put.
//
// The answer goes to standard output and everything else to standard error. In a pipe the answer is
// as the model wrote it, and nothing else is among it: a message comes when it is whole, so that
// what was said before a request failed is not there twice. Where both are one terminal, they share
// the page: a note starts on a line of its own, a blank line stands between answer, reasoning and
// notes, and the answer is shown as Markdown where there is colour to show it with. Reasoning is
// short and dim there. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/views/call_view.h"
#include "cli/views/markdown.h"
#include "cli/views/terminal.h"

namespace agentrt::cli {

enum class To { answer, notes };

// Text for the two streams, in the order in which it is to be written.
struct TurnText {
  struct Piece {
    To to = To::answer;
    std::string text;
    bool operator==(const Piece&) const = default;
  };
  std::vector<Piece> pieces;

  void add(To to, std::string_view text);
  std::string of(To to) const;
  bool operator==(const TurnText&) const = default;
};

// Whether answer and notes appear on the same screen.
enum class Layout { together, apart };

struct PageStyle {
  Layout layout = Layout::apart;
  Colour out_colour = Colour::off;
  Colour err_colour = Colour::off;
  bool answer_on_terminal = false;  // then it is made safe to print
  std::size_t width = 80;
};

class Page {
 public:
  static constexpr std::size_t kReasoningBytesMax = 320;  // of one message, on a shared screen

  explicit Page(PageStyle style);

  // One line of its own.
  void note(std::string_view text, Paint how);
  // Lines that are ready to be printed.
  void lines(std::string_view text);
  // The next piece of the answer, or of the reasoning before it.
  void answer(std::string_view text);
  void reasoning(std::string_view text);
  // The message of the model is over; the next piece belongs to another one.
  void end_message();
  // The same for one that was broken off; in a pipe nothing of it is printed.
  void drop_message();

  // What was put since it was asked for last.
  TurnText take() { return std::exchange(text_, {}); }
  // The cursor is in the middle of a line.
  bool line_open() const { return open_ != Open::none; }
  // For lines().
  Paper paper() const;
  void set_width(std::size_t width);

 private:
  enum class Group { none, notes, reasoning, answer };
  enum class Open { none, reasoning, answer };

  bool shared() const { return style_.layout == Layout::together; }
  Markdown new_answer() const;
  void enter(Group group);
  void end_line();
  void put_answer(std::string_view text);
  void put_short_reasoning(std::string_view text);

  PageStyle style_;
  TurnText text_;
  std::string held_;  // in a pipe: the message so far, as long as the runtime lets one be
  Markdown answer_;
  Markdown reasoning_;
  Group group_ = Group::none;
  Open open_ = Open::none;
  bool message_begun_ = false;   // something of the answer was printed
  bool at_line_start_ = true;    // of the answer
  std::size_t blank_lines_ = 0;  // of the answer, printed once something follows
  std::size_t reasoning_bytes_ = 0;
  bool reasoning_cut_ = false;
};

}  // namespace agentrt::cli
