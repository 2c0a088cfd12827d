// cli/views/page.h: lays out a turn's answer and the notes about it.
//
// The answer goes to standard output, everything else to standard error. In a pipe, the answer is
// exactly the model's text; a message is written when it is complete, so that a retried request
// does not duplicate text. If both streams are the same terminal, they share the page: a note
// starts on its own line, blank lines separate answer, reasoning and notes, and the answer is
// rendered as Markdown if colour is on. Reasoning is shortened and dim there. Pure.
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

// Text for the two streams, in output order.
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
  bool answer_on_terminal = false;  // then control characters are escaped
  std::size_t width = 80;
  bool tables = false;  // tables of the answer are rendered, if colour is on
};

class Page {
 public:
  static constexpr std::size_t kReasoningBytesMax = 320;  // per message, on a shared screen

  explicit Page(PageStyle style);

  // One line of its own.
  void note(std::string_view text, Paint how);
  // Adds formatted lines.
  void lines(std::string_view text);
  // The next chunk of the answer, or of the reasoning before it.
  void answer(std::string_view text);
  void reasoning(std::string_view text);
  // Ends the open line, if any. The message may continue on the next one.
  void end_line();
  // The model's message is complete; the next chunk starts another one.
  void end_message();
  // The message was cut off; in a pipe it is discarded.
  void drop_message();

  // Returns the text added since the last call.
  TurnText take() { return std::exchange(text_, {}); }
  // Whether the cursor is in the middle of a line.
  bool line_open() const { return open_ != Open::none; }
  // The format for lines().
  Paper paper() const;
  void set_width(std::size_t width);

 private:
  enum class Group { none, notes, reasoning, answer };
  enum class Open { none, reasoning, answer };

  bool shared() const { return style_.layout == Layout::together; }
  Markdown new_answer() const;
  void enter(Group group);
  void put_answer(std::string_view text);
  void put_short_reasoning(std::string_view text);

  PageStyle style_;
  TurnText text_;
  std::string held_;  // in a pipe: the message so far; the runtime limits its size
  Markdown answer_;
  Markdown reasoning_;
  Group group_ = Group::none;
  Open open_ = Open::none;
  bool message_begun_ = false;   // part of the answer was printed
  bool at_line_start_ = true;    // of the answer
  std::size_t blank_lines_ = 0;  // of the answer; printed once text follows
  std::size_t reasoning_bytes_ = 0;
  bool reasoning_cut_ = false;
};

}  // namespace agentrt::cli
