#include "cli/views/page.h"

#include <algorithm>
#include <utility>

#include "cli/views/layout.h"
#include "schema/json.h"

namespace agentrt::cli {

void TurnText::add(To to, std::string_view text) {
  if (text.empty()) return;
  if (pieces.empty() || pieces.back().to != to) pieces.push_back({to, {}});
  pieces.back().text += text;
}

std::string TurnText::of(To to) const {
  std::string out;
  for (const Piece& piece : pieces)
    if (piece.to == to) out += piece.text;
  return out;
}

Page::Page(PageStyle style)
    : style_(style),
      answer_(new_answer()),
      reasoning_(style.width, style.err_colour == Colour::on ? Tone::dim : Tone::source) {}

Markdown Page::new_answer() const {
  Markdown answer(style_.width, style_.out_colour == Colour::on ? Tone::plain : Tone::source);
  if (style_.tables) answer.render_tables();
  return answer;
}

void Page::set_width(std::size_t width) {
  style_.width = width;
  answer_.set_width(width);
  reasoning_.set_width(width);
}

Paper Page::paper() const { return {shared() ? style_.width : 0, style_.err_colour}; }

void Page::note(std::string_view text, Paint how) {
  std::string out;
  const std::size_t width = paper().width;
  for (const std::string& line : prose_lines(one_line(text), width > 2 ? width - 2 : 0))
    out += paint((out.empty() ? "· " : "  ") + line, how, style_.err_colour) + "\n";
  lines(out);
}

void Page::lines(std::string_view text) {
  // If the answer has its own terminal, a note does not interrupt its line.
  if (shared() || open_ == Open::reasoning) end_line();
  enter(Group::notes);
  text_.add(To::notes, text);
}

void Page::answer(std::string_view text) {
  if (text.empty()) return;
  if (!style_.answer_on_terminal) {
    if (open_ == Open::reasoning) end_line();
    held_ += text;
    return;
  }
  for (const char c : text) {
    if (c == '\r') continue;
    if (c == '\n' && at_line_start_) {
      if (message_begun_) ++blank_lines_;
      continue;
    }
    put_answer(std::string(std::exchange(blank_lines_, 0), '\n'));
    put_answer({&c, 1});
    at_line_start_ = c == '\n';
  }
}

void Page::put_answer(std::string_view text) {
  if (text.empty()) return;
  if (open_ == Open::reasoning) end_line();
  enter(Group::answer);
  message_begun_ = true;
  text_.add(To::answer, answer_.feed(text));
  open_ = text.ends_with('\n') ? Open::none : Open::answer;
}

void Page::reasoning(std::string_view text) {
  if (text.empty()) return;
  if (shared()) return put_short_reasoning(text);
  if (open_ == Open::answer) end_line();
  const std::string safe = safe_text(text);
  if (safe.empty()) return;
  text_.add(To::notes, paint(safe, Paint::dim, style_.err_colour));
  open_ = safe.ends_with('\n') ? Open::none : Open::reasoning;
}

void Page::put_short_reasoning(std::string_view text) {
  if (reasoning_cut_) return;
  if (open_ == Open::answer) end_line();
  enter(Group::reasoning);
  const std::string_view shown = schema::utf8_prefix(text, kReasoningBytesMax - reasoning_bytes_);
  std::string joined(shown);
  std::ranges::replace(joined, '\n', ' ');
  reasoning_bytes_ += shown.size();
  reasoning_cut_ = shown.size() < text.size();
  text_.add(To::notes, reasoning_.feed(joined + (reasoning_cut_ ? "…" : "")));
  open_ = Open::reasoning;
}

void Page::end_message() {
  end_line();
  if (!held_.empty() && !held_.ends_with('\n')) held_ += '\n';
  text_.add(To::answer, std::exchange(held_, {}));
  answer_ = new_answer();
  message_begun_ = false;
  at_line_start_ = true;
  blank_lines_ = 0;
  reasoning_bytes_ = 0;
  reasoning_cut_ = false;
}

void Page::drop_message() {
  held_.clear();
  end_message();
}

void Page::end_line() {
  const Open open = std::exchange(open_, Open::none);
  if (open == Open::reasoning)
    text_.add(To::notes, shared() ? reasoning_.end_line() : std::string("\n"));
  text_.add(To::answer, answer_.end_line());  // a table may be held back between lines, too
  if (open == Open::answer) at_line_start_ = true;
}

// Separates groups of different kinds by a blank line.
void Page::enter(Group group) {
  const Group before = std::exchange(group_, group);
  if (!shared() || before == group || before == Group::none) return;
  text_.add(To::notes, "\n");
}

}  // namespace agentrt::cli
