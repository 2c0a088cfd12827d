#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "cli/chat/chat.h"
#include "cli/views/action_view.h"
#include "cli/views/layout.h"
#include "cli/views/turn_view.h"

namespace agentrt::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kPictures[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
constexpr std::size_t kActivityCellsMin = 12;
constexpr std::int64_t kAwayMs = 10'000;  // without a key, where the terminal reports no focus

}  // namespace

Paper Chat::paper() const {
  if (start_.plain && !context_.output.screen().out_terminal) return {0, Colour::off};
  return {start_.plain ? terminal_width(80) : size_.columns - 1, colour()};
}

PageStyle Chat::page_style() const {
  const Screen& screen = context_.output.screen();
  PageStyle style;
  style.layout = Layout::together;
  style.out_colour = screen.out_colour;
  style.err_colour = screen.out_colour;
  style.answer_on_terminal = true;
  style.width = terminal_ ? size_.columns - 1 : screen.width;
  style.tables = true;
  return style;
}

void Chat::lend_terminal() {
  write(canvas_.erase());
  if (terminal_) terminal_->leave();
}

void Chat::take_terminal_back() {
  if (terminal_) terminal_->enter();
  if (terminal_) size_ = RawTerminal::size(size_);
  signals_seen_ = signals_.count();  // Ctrl-C meant the question, not the conversation
  dirty_ = true;
}

void Chat::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(STDOUT_FILENO, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return leave(kExitInterrupted);  // the terminal has gone
    text.remove_prefix(static_cast<std::size_t>(size));
  }
}

void Chat::print(std::string_view text) {
  notes_ += text;
  dirty_ = true;
}

void Chat::say(std::string_view text, std::string_view mark, Paint mark_paint, Paint text_paint) {
  const std::size_t width = paper().width, taken = width_of(mark);
  std::string before = paint(mark, mark_paint, colour());
  for (const std::string& line : prose_lines(one_line(text), width > taken ? width - taken : 0))
    print(std::exchange(before, "  ") + paint(line, text_paint, colour()) + "\n");
}

void Chat::problem(const Error& error) {
  constexpr std::string_view kMark = "agentrt: ";
  say(error_text(error, Form::text, Colour::off).substr(kMark.size()), kMark, Paint::red);
}

void Chat::hint(std::string_view text) {
  if (start_.plain) return say(text, "· ");
  hint_ = text;
  hint_until_ = Clock::now() + milliseconds(kHintMs);
  dirty_ = key_dirty_ = true;
}

void Chat::draw(bool now) {
  if (!dirty_ && !key_dirty_ && !now) return;
  const Instant at = Clock::now();
  const auto pause = milliseconds(key_dirty_ ? kKeyFrameMs : kFrameMs);
  if (!now && !start_.plain && at - last_frame_ < pause) return;
  dirty_ = key_dirty_ = false;
  if (start_.plain) {
    draw_plain();
  } else {
    if (text_.size() - (text_.rfind('\n') + 1) > kOpenBytesMax) text_ += '\n';
    const std::size_t end = text_.rfind('\n');
    std::string above = end == text_.npos ? "" : text_.substr(0, end + 1);
    if (end != text_.npos) {
      text_.erase(0, end + 1);
      last_frame_ = at;
    }
    above += std::exchange(notes_, {});
    remember(above);
    write(canvas_.draw(above, lay_out(frame_parts(), size_)));
    if (!text_.empty()) last_frame_ = at;
  }
  if (question_ && !question_drawn_) {
    question_drawn_ = true;
    if (!start_.plain) RawTerminal::discard_typed();
    if (keyboard_) {
      keyboard_->open();
      watched_.remove(STDIN_FILENO);  // until keys count
      input_paused_ = true;
    }
    // The keyboard measures the same time by itself; it is asked when that is surely over.
    quiet_until_ = Clock::now() + milliseconds(TypedLine::kQuietMs + (keyboard_ ? kTickMs : 0));
  }
}

// Without redrawing: text as it comes, notes on lines of their own, and a prompt when nothing runs.
void Chat::draw_plain() {
  std::string out;
  if (!text_.empty()) {
    out += std::exchange(prompt_shown_, false) ? "\n" : "";
    out += std::exchange(text_, {});
    line_open_ = !out.ends_with('\n');
  }
  if (!notes_.empty()) {
    if (std::exchange(line_open_, false)) out += "\n";
    out += std::exchange(prompt_shown_, false) ? "\n" : "";
    out += std::exchange(notes_, {});
  }
  const bool caught_up =
      !opening_ && !recalling_ && !connecting_ && (!stream_ || seen_ >= caught_up_);
  const bool ready = question_ ? !answer_sent_ : !busy() && unfinished_.empty() && caught_up;
  if (ready && !prompt_shown_ && context_.output.screen().in_terminal && !line_open_) {
    out += question_ ? "  > " : "> ";
    prompt_shown_ = true;
  }
  write(out);
}

std::string Chat::activity_row() const {
  if (!busy() || question_) return {};
  const auto doing = conversation_.doing();
  if (!doing) return {};
  const std::int64_t seconds = std::max<std::int64_t>(now_of_clock() - doing->since, 0) / 1'000;
  std::string rest = seconds < 60 ? fmt::format(" · {} s", seconds)
                                  : fmt::format(" · {} min {} s", seconds / 60, seconds % 60);
  rest += interrupting_ ? " · interrupting" : " · Esc interrupts";
  const std::size_t taken = 3 + width_of(rest);
  const std::size_t room =
      size_.columns > taken + kActivityCellsMin ? size_.columns - taken : kActivityCellsMin;
  return paint(kPictures[picture_ % std::size(kPictures)], Paint::cyan, colour()) + " " +
         paint(fit(one_line(doing->what), room) + rest, Paint::dim, colour());
}

std::string Chat::prompt_mark() const {
  if (question_) return paint("answer > ", Paint::yellow, colour());
  return paint("› ", Paint::cyan, colour());
}

FrameParts Chat::frame_parts() const {
  FrameParts parts;
  parts.open = text_;
  if (!question_) parts.running = conversation_.running();
  if (const std::string activity = activity_row(); !activity.empty())
    parts.running.push_back(activity);
  // Blank rows set it off from the conversation, and the input from both.
  if (!parts.running.empty() && parts.open.empty() && !recent_.empty() && !recent_.back().empty())
    parts.running.insert(parts.running.begin(), "");
  if (!parts.open.empty() || !parts.running.empty() || !recent_.empty())
    parts.running.emplace_back();
  const auto& queue = conversation_.queue();
  for (std::size_t i = 0; i < std::min(queue.size(), kQueueShownMax); ++i)
    parts.queue.push_back(
        paint(fmt::format("queued {} · {}", i + 1, one_line(queue[i].text)), Paint::dim, colour()));
  if (queue.size() > kQueueShownMax)
    parts.queue.push_back(
        paint(fmt::format("… {} more; /queue lists them", queue.size() - kQueueShownMax),
              Paint::dim, colour()));
  parts.mark = prompt_mark();
  parts.mark_cells = question_ ? 9 : 2;
  if (search_) {
    parts.mark = paint("search: ", Paint::yellow, colour());
    parts.mark_cells = 8;
    parts.input = *search_;
    parts.cursor = search_->size();
    parts.below.push_back(search_at_ < history_.size()
                              ? "  " + one_line(history_.at(search_at_))
                              : paint("  nothing found", Paint::dim, colour()));
  } else {
    parts.input = editor_->text();
    parts.cursor = editor_->cursor();
  }
  for (std::size_t i = 0; i < choices_.size(); ++i)
    parts.below.push_back(i == choice_
                              ? paint("▸ " + visible_line(choices_[i]), Paint::cyan, colour())
                              : "  " + visible_line(choices_[i]));
  if (searching_files_) parts.below.push_back(paint("  still searching …", Paint::dim, colour()));
  if (!choices_note_.empty())
    parts.below.push_back(paint("  " + choices_note_, Paint::dim, colour()));
  if (!hint_.empty()) parts.below.push_back(paint("· " + one_line(hint_), Paint::yellow, colour()));
  parts.status = status_text(status_facts(), size_.columns > 1 ? size_.columns - 1 : 1, colour());
  return parts;
}

StatusFacts Chat::status_facts() const {
  StatusFacts facts;
  facts.model = conversation_.model_name();
  const auto used = start_.folder.config.models.find(facts.model);
  const bool script =
      used != start_.folder.config.models.end() && used->second.provider == "script";
  if (!conversation_.model().empty() && conversation_.model() != facts.model && !script)
    facts.model += " (" + conversation_.model() + ")";
  if (start_.model && conversation_.model_name() != *start_.model) facts.model = *start_.model;
  if (facts.model.empty())
    facts.model = start_.folder.config.routing.default_name.value_or(
        start_.folder.config.models.size() == 1 ? start_.folder.config.models.begin()->first : "");
  // A script is known by its path; its name is enough here.
  facts.model = short_model_name(facts.model);
  if (start_.mode)
    facts.mode = schema::name_of(*start_.mode);
  else if (policy_)
    facts.mode = schema::name_of(policy_->mode);
  if (start_.sandbox)
    facts.sandbox = schema::name_of(*start_.sandbox);
  else if (policy_)
    facts.sandbox = schema::name_of(policy_->sandbox);
  if (conversation_.context_tokens() > 0) facts.context_tokens = conversation_.context_tokens();
  if (used != start_.folder.config.models.end()) facts.context_max = used->second.context_tokens;
  for (const auto& [_, tokens] : conversation_.tokens()) {
    facts.input_tokens += tokens.input;
    facts.output_tokens += tokens.output;
  }
  if (facts.input_tokens + facts.output_tokens > 0) facts.cost_micros = cost();
  facts.queued = conversation_.queue().size();
  if (question_)
    facts.waiting = answer_sent_ ? "sending the answer" : "waits for your answer";
  else if (!conversation_.blocked().empty())
    facts.waiting = "blocked: /continue";
  if (exists_ && !stream_) facts.link = recalling_ ? "reading earlier turns" : "connecting";
  if (exists_ && !stream_ && lost_at_)
    facts.link = fmt::format(
        "reconnecting {} s",
        std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - *lost_at_).count());
  return facts;
}

// Only if the configuration has a price for every model that was used.
std::optional<std::int64_t> Chat::cost() const {
  std::int64_t sum = 0;
  if (conversation_.tokens().empty()) return std::nullopt;
  for (const auto& [name, tokens] : conversation_.tokens()) {
    const auto found = std::ranges::find_if(start_.folder.config.models, [&](const auto& each) {
      return each.first == name || each.second.model == name;
    });
    if (found == start_.folder.config.models.end() || !found->second.cost_per_mtok)
      return std::nullopt;
    const config::Price& price = *found->second.cost_per_mtok;
    sum += (static_cast<std::int64_t>(tokens.input) * price.input_micros +
            static_cast<std::int64_t>(tokens.output) * price.output_micros) /
           1'000'000;
  }
  return sum;
}

void Chat::resize() {
  const Size size = RawTerminal::size(size_);
  if (size == size_) return;
  size_ = size;
  conversation_.set_width(size.columns > 1 ? size.columns - 1 : 1);
  const Frame frame = lay_out(frame_parts(), size_);
  const std::size_t left = size_.rows > frame.rows.size() ? size_.rows - frame.rows.size() : 0;
  write(canvas_.redraw(recent(left), frame));
}

void Chat::remember(std::string_view lines) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1);
    recent_.emplace_back(lines.substr(0, end));
    lines.remove_prefix(end + 1);
  }
  while (recent_.size() > kRecentLinesMax) recent_.pop_front();
}

// The newest lines that fill at most this many rows, folded as the terminal folds them.
std::string Chat::recent(std::size_t rows) const {
  std::vector<std::string> shown;  // newest first
  for (auto line = recent_.rbegin(); line != recent_.rend() && shown.size() < rows; ++line) {
    std::vector<std::string> folded = fold(*line, size_.columns);
    for (auto row = folded.rbegin(); row != folded.rend() && shown.size() < rows; ++row)
      shown.push_back(std::move(*row));
  }
  std::string out;
  for (auto row = shown.rbegin(); row != shown.rend(); ++row) out += *row + "\n";
  return out;
}

// A bell, or also a notification of the desktop, if the user looks elsewhere. Terminals without
// reports of the focus: if no key was pressed for a while.
void Chat::notify(std::string_view what) {
  if (start_.plain) return;
  const bool away = focused_ ? !*focused_ : Clock::now() - last_key_ > milliseconds(kAwayMs);
  if (away) write(notification(start_.folder.config.notify, what));
}

}  // namespace agentrt::cli
