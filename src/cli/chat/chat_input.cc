#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include "cli/chat/chat.h"
#include "cli/chat/own_command.h"
#include "cli/turns/checks.h"
#include "schema/commands.h"
#include "schema/text_limits.h"

namespace agentrt::cli {
namespace {

using std::chrono::milliseconds;

// What may precede @ in a mention of a file; otherwise it is part of a word, as in an address.
constexpr std::string_view kBeforeMention = " \n\t(\"'";

bool readable(int fd) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, 0) == 1;
}

std::size_t lines_in(std::string_view text) {
  const bool ended = text.ends_with('\n');
  return static_cast<std::size_t>(std::ranges::count(text, '\n')) + (ended ? 0 : 1);
}

std::string spoken_size(std::size_t bytes) {
  if (bytes < 1'024) return fmt::format("{} bytes", bytes);
  if (bytes < (std::size_t{1} << 20)) return fmt::format("{} KiB", bytes / 1'024);
  return fmt::format("{}.{} MiB", bytes >> 20, (bytes >> 10) % 1'024 * 10 / 1'024);
}

SessionId fresh_session_id() {
  // A turn's id is made from time and random bits; a session's differs only in its first letters.
  const std::string turn = fresh_turn_id().text();
  return SessionId("sess" + turn.substr(turn.find('_')));
}

}  // namespace

void Chat::read_input() {
  if (input_ended_ || done_ || start_.watches_only) return;
  if (!terminal_) return read_lines();
  std::array<char, 65'536> bytes{};
  // A bounded number of reads, so that a flood of keys does not keep the screen from being drawn.
  for (int i = 0; i < 16 && readable(STDIN_FILENO) && !done_; ++i) {
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return leave(kExitInterrupted);  // the terminal has gone
    for (const KeyPress& press : keys_.feed({bytes.data(), static_cast<std::size_t>(count)}))
      if (terminal_ && !done_) on_key(press);
    const int wait = keys_.waits_ms();
    key_idle_at_ = wait < 0 ? std::nullopt : std::optional(Clock::now() + milliseconds(wait));
  }
}

void Chat::on_key(const KeyPress& press) {
  if (press.key == Key::focus_in || press.key == Key::focus_out) {
    focused_ = press.key == Key::focus_in;
    return;
  }
  last_key_ = Clock::now();
  key_dirty_ = dirty_ = true;
  if (press.key == Key::interrupt) return on_interrupt(press.key);
  if (press.key == Key::suspend) return suspend();
  if (press.key == Key::leave && editor_->empty()) return leave(kExitDone);
  if (press.key == Key::redraw) {
    write(canvas_.redraw(recent(size_.rows), lay_out(frame_parts(), size_)));
    return;
  }
  // Keys from before the question was readable are not an answer.
  if (question_ && (!question_drawn_ || Clock::now() < quiet_until_)) return;
  if (search_ && on_search_key(press)) return;
  if (!question_ && !choices_.empty() && on_choice_key(press)) return;
  switch (press.key) {
    case Key::escape:
      return on_interrupt(press.key);
    case Key::leave:
      editor_->press({Key::remove});
      break;
    case Key::enter:
      on_enter();
      break;
    case Key::newline:
      if (!question_) editor_->insert("\n");
      break;
    case Key::tab:
      complete();
      break;
    case Key::up:
      on_up();
      break;
    case Key::down:
      on_down();
      break;
    case Key::alt_up:
      if (!conversation_.queue().empty()) take_queued(conversation_.queue().size());
      break;
    case Key::paste:
      on_paste(press);
      break;
    case Key::search:
      if (question_) break;
      search_ = "";
      search_at_ = history_.size();
      break;
    default:
      history_.stop();
      editor_->press(press);
  }
  update_choices();
}

// With a list of choices: the arrows mark one, Tab or Enter takes it, Esc closes the list.
bool Chat::on_choice_key(const KeyPress& press) {
  if (press.key == Key::down || press.key == Key::up) {
    const std::size_t count = choices_.size();
    choice_ = (choice_ + (press.key == Key::down ? 1 : count - 1)) % count;
    choosing_ = true;
    return true;
  }
  if (press.key == Key::escape) {
    choices_.clear();
    searching_files_ = false;
    choices_note_.clear();
    return true;
  }
  if (press.key == Key::enter && choosing_) {
    complete();
    return true;
  }
  return false;
}

bool Chat::on_search_key(const KeyPress& press) {
  const auto look = [this](std::size_t before) {
    if (const auto found = history_.find(*search_, before))
      search_at_ = *found;
    else if (before >= history_.size())
      search_at_ = history_.size();
  };
  if (press.key == Key::text) {
    *search_ += press.text;
    look(history_.size());
  } else if (press.key == Key::backspace) {
    while (!search_->empty() && (static_cast<unsigned char>(search_->back()) & 0xC0) == 0x80)
      search_->pop_back();
    if (!search_->empty()) search_->pop_back();
    look(history_.size());
  } else if (press.key == Key::search) {
    look(search_at_);
  } else {
    if (press.key != Key::escape && search_at_ < history_.size())
      editor_->set(history_.at(search_at_));
    search_.reset();
    return press.key == Key::escape || press.key == Key::enter;
  }
  return true;
}

void Chat::on_up() {
  if (editor_->move_line(-1) || question_) return;
  if (const auto text = history_.older(editor_->text())) editor_->set(*text);
}

void Chat::on_down() {
  if (editor_->move_line(1) || question_) return;
  if (const auto text = history_.newer()) editor_->set(*text);
}

void Chat::on_enter() {
  const std::string text = editor_->text();
  if (question_) {
    editor_->set("");
    return give_answer(text);
  }
  if (text.ends_with('\\') && editor_->cursor() == text.size()) {
    editor_->press({Key::backspace});
    editor_->insert("\n");
    return;
  }
  if (text.find_first_not_of(" \n\t") == text.npos) return;
  // A command behind an attached text is performed; the text waits for the next message.
  const std::size_t attached = attached_size(text);
  const std::string line = text.substr(attached);
  if (attached > 0 && (is_slash(line) || is_own(line))) {
    editor_->set(text.substr(0, attached));
    return take_line(line);
  }
  editor_->set("");
  take_line(text);
}

std::size_t Chat::attached_size(std::string_view text) const {
  std::size_t size = 0;
  for (bool found = true; found;) {
    found = false;
    for (const std::string& paste : pastes_) {
      const std::string mark = paste.substr(0, paste.find('\n')) + " ";
      if (!text.substr(size).starts_with(mark)) continue;
      size += mark.size();
      found = true;
    }
  }
  return size;
}

// A message, a command, or a command of the user.
void Chat::take_line(const std::string& line) {
  hint_.clear();
  warned_at_.reset();
  if (is_slash(line)) {
    history_.add(line);
    return perform(line);
  }
  if (is_own(line)) {
    history_.add(line);
    return run_own(line.substr(1));
  }
  send(line);
}

void Chat::on_paste(const KeyPress& press) {
  if (press.bytes > 0 && press.text.empty())
    return hint(
        fmt::format("the pasted text is not used: {}, and the limit is {}; save it in a "
                    "file and name the file",
                    spoken_size(press.bytes), spoken_size(kPasteBytesMax)));
  if (question_) {
    std::string line = press.text;
    std::ranges::replace(line, '\n', ' ');
    editor_->insert(line.substr(0, TypedLine::kBytesMax));
    return;
  }
  if (press.text.size() <= kPasteShownBytesMax && lines_in(press.text) <= kPasteShownLinesMax)
    return editor_->insert(press.text);
  editor_->insert(add_paste(press.text, "pasted"));
}

// Keeps a text and returns the mark that represents it in the message.
std::string Chat::add_paste(std::string text, std::string_view what) {
  if (pastes_.size() >= kPastesMax) {
    hint("too many pasted texts in one message; the oldest is dropped");
    pastes_.erase(pastes_.begin());
  }
  std::string mark = fmt::format("[{} #{}: {} lines, {}]", what, pastes_.size() + 1, lines_in(text),
                                 spoken_size(text.size()));
  pastes_.push_back(mark + "\n" + std::move(text));
  return mark;
}

std::string Chat::with_pastes(std::string text) const {
  for (const std::string& paste : pastes_) {
    const std::size_t end = paste.find('\n');
    const std::string mark = paste.substr(0, end);
    if (const std::size_t at = text.find(mark); at != text.npos)
      text.replace(at, mark.size(), paste, end + 1);
  }
  return text;
}

void Chat::on_interrupt(Key key) {
  if (search_) return search_.reset();
  const auto again = [this] {
    const bool yes = warned_at_ && Clock::now() - *warned_at_ < milliseconds(kAgainMs);
    warned_at_ = Clock::now();
    return yes;
  };
  if (!busy()) {
    if (key == Key::escape) return choices_.clear();
    if (editor_ && !editor_->empty()) {
      editor_->set("");
      choices_.clear();
      return hint("the text was discarded; press Ctrl-C again to leave");
    }
    if (start_.plain || again()) return leave(kExitInterrupted);
    return hint("press Ctrl-C again to leave; Ctrl-D leaves at once");
  }
  if (interrupting_ == conversation_.active()) {
    if (key == Key::interrupt) leave(kExitInterrupted);
    return;
  }
  if (own_turns_.contains(*conversation_.active()) || again()) return send_interrupt();
  hint(
      "another client submitted this turn: press Ctrl-C again within 2 s to interrupt it; Ctrl-D "
      "leaves it running");
}

void Chat::send_interrupt() {
  if (!busy()) return hint("nothing is running");
  interrupting_ = conversation_.active();
  schema::InterruptTurn params;
  params.session_id = *session_;
  params.thread_id = thread_;
  params.turn_id = interrupting_;
  params.reason = "interrupted by the user";
  params.idempotency_key = fresh_key();
  courier_.call("interrupt_turn", schema::to_json(params), [this](const Result<std::string>& done) {
    if (done) return;
    interrupting_.reset();
    problem(done.error());
  });
  hint("interrupting the turn; press Ctrl-C again to leave");
}

void Chat::suspend() {
  write(canvas_.erase());
  terminal_->leave();
  ::raise(SIGSTOP);  // until the shell continues this process
  terminal_->enter();
  size_ = RawTerminal::size(size_);
  dirty_ = true;
}

std::vector<schema::InputPart> Chat::parts_of(const std::string& text) const {
  std::vector<schema::InputPart> parts(1);
  parts[0].text = text;
  // A file that is named with @ goes with the message.
  for (std::size_t at = text.find('@'); at != text.npos; at = text.find('@', at + 1)) {
    if (at > 0 && !kBeforeMention.contains(text[at - 1])) continue;
    std::string name = text.substr(at + 1, text.find_first_of(" \n\t", at) - at - 1);
    std::error_code error;
    while (!name.empty() && !std::filesystem::exists(start_.folder.cwd + "/" + name, error) &&
           std::string_view(".,;:!?)\"'").contains(name.back()))
      name.pop_back();
    const auto path = std::filesystem::weakly_canonical(start_.folder.cwd + "/" + name, error);
    if (error || name.empty() || !std::filesystem::is_regular_file(path, error)) continue;
    if (!path.string().starts_with(start_.folder.cwd + "/")) continue;
    schema::InputPart part;
    part.type = schema::InputKind::file;
    part.path = path.string();
    if (std::ranges::find(parts, part) == parts.end()) parts.push_back(std::move(part));
  }
  return parts;
}

void Chat::send(const std::string& typed) {
  shown_rollback_.reset();
  const std::string text = with_pastes(typed);
  const auto give_back = [this, typed] {
    if (editor_ && editor_->empty() && !question_) editor_->set(typed);
  };
  if (text.size() > schema::kInputTextSizeMax) {
    give_back();
    return hint(fmt::format("the message is too long: {}, and the limit is {}",
                            spoken_size(text.size()), spoken_size(schema::kInputTextSizeMax)));
  }
  history_.add(text.size() <= History::kEntryBytesMax ? text : typed);
  if (!session_) session_ = fresh_session_id();
  schema::SubmitTurn submit;
  submit.session_id = session_;
  submit.thread_id = thread_;
  submit.turn_id = fresh_turn_id();
  submit.input = parts_of(text);
  submit.options.emplace();
  submit.options->model = start_.model;
  submit.options->mode = start_.mode;
  submit.options->sandbox = start_.sandbox;
  if (!start_.folder.cwd.empty()) submit.options->cwd = start_.folder.cwd;
  submit.options->interactive = context_.output.screen().in_terminal;
  submit.options->ask_trust = context_.output.screen().in_terminal;
  if (!start_.folders.empty() && !exists_) submit.options->additional_roots = start_.folders;
  submit.idempotency_key = fresh_key();
  own_turns_.insert(*submit.turn_id);
  unfinished_.insert(*submit.turn_id);
  courier_.add([this, generation = generation_, turn = *submit.turn_id, give_back,
                params = schema::to_json(submit),
                environment = start_.folder.environment](Attachment& attachment) -> Courier::Then {
    auto reply = Courier::persist(attachment, [&](const Client& client) -> Result<std::string> {
      TRY(send_environment(client, turn, environment));
      return client.call("submit_turn", params);
    });
    return [this, generation, turn, give_back, reply = std::move(reply)] {
      dirty_ = true;
      if (!reply) unfinished_.erase(turn);
      if (generation != generation_) return;
      if (!reply) {
        if (input_ended_) exit_code_ = exit_code_of(reply.error());
        give_back();
        return problem(reply.error());
      }
      pastes_.clear();
      if (exists_ || opening_) return;
      exists_ = true;
      connect();
    };
  });
}

void Chat::run_own(const std::string& command) {
  write(canvas_.erase());
  if (terminal_) terminal_->leave();
  write(paint("! ", Paint::yellow, colour()) + visible_line(command) + "\n");
  const std::string shell = context_.environment("SHELL").value_or("/bin/sh");
  const OwnOutput output = run_own_command(shell, command, start_.folder.cwd);
  if (!output.text.empty() && !output.text.ends_with('\n')) write("\n");
  if (terminal_) terminal_->enter();
  size_ = terminal_ ? RawTerminal::size(size_) : size_;
  if (output.exit_code != 0) print(fmt::format("· exit code {}\n", output.exit_code));
  const std::string text = clean_text(output.text);
  if (!editor_ || text.empty()) return;
  editor_->insert(add_paste(fmt::format("$ {}\n{}", command, text), "output") + " ");
  hint("the output goes with the next message; Ctrl-U removes it");
}

// Takes a queued message out of the queue, back into the input.
void Chat::take_queued(std::size_t position) {
  const auto& queue = conversation_.queue();
  if (position == 0 || position > queue.size())
    return hint(fmt::format("there is no queued message {}", position));
  const Queued queued = queue[position - 1];
  schema::RemoveQueuedTurn params;
  params.session_id = *session_;
  params.thread_id = thread_;
  params.queued_turn_id = queued.turn;
  params.idempotency_key = fresh_key();
  courier_.call("remove_queued_turn", schema::to_json(params),
                [this, text = queued.text](const Result<std::string>& done) {
                  if (!done) return problem(done.error());
                  if (!editor_) return print(visible(text) + "\n");
                  editor_->set(editor_->empty() ? text : text + "\n" + editor_->text());
                  dirty_ = true;
                });
}

// The text after @ that ends at the cursor; nullopt: there is no @.
std::optional<std::string> Chat::mention() const {
  if (!editor_ || question_) return std::nullopt;
  const std::string text = editor_->text().substr(0, editor_->cursor());
  const std::size_t at = text.find_last_of("@ \n\t");
  if (at == text.npos || text[at] != '@') return std::nullopt;
  if (at > 0 && !kBeforeMention.contains(text[at - 1])) return std::nullopt;
  return text.substr(at + 1);
}

void Chat::update_choices() {
  if (!editor_ || question_) return choices_.clear();
  const std::string text = editor_->text();
  if (const auto file = mention()) {
    if (asked_for_ == file && (searching_files_ || !choices_.empty())) return;
    asked_for_ = file;
    choice_ = 0;
    choosing_ = false;
    searching_files_ = true;
    choices_note_.clear();
    finder_->ask(*file);
    return;
  }
  asked_for_.reset();
  searching_files_ = false;
  choices_note_.clear();
  choices_.clear();
  choosing_ = false;
  choice_ = 0;
  if (!text.starts_with('/') || text.find_first_of(" \n") != text.npos) return;
  for (const SlashCommand* command : completions_of(text)) {
    if (choices_.size() >= kChoicesMax) break;
    choices_.push_back(fmt::format(
        "{:<18}  {}", fmt::format("{} {}", command->name, command->argument), command->meaning));
  }
  if (const std::size_t more = completions_of(text).size() - choices_.size(); more > 0)
    choices_note_ = fmt::format("… {} more; type on, or see /help", more);
  if (choices_.size() == 1 && completions_of(text).front()->name == text) choices_.clear();
}

void Chat::complete() {
  if (question_ || !editor_) return;
  if (const auto file = mention()) {
    if (choices_.empty()) return;
    const std::string chosen = choices_[choice_];
    const auto typed = std::ranges::count_if(
        *file, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    editor_->erase_before(static_cast<std::size_t>(typed));
    editor_->insert(chosen + (chosen.ends_with('/') ? "" : " "));
    choices_.clear();
    return update_choices();
  }
  const std::string text = editor_->text();
  if (!text.starts_with('/') || text.contains(' ')) return;
  const auto commands = completions_of(text);
  if (commands.empty()) return;
  const bool sure = choosing_ || commands.size() == 1;
  const std::string_view chosen = commands[std::min(choice_, commands.size() - 1)]->name;
  const std::string start = common_start(commands);
  if (sure)
    editor_->set(std::string(chosen) + " ");
  else
    editor_->set(start.size() > text.size() ? start : std::string(chosen) + " ");
  update_choices();
}

// Plain: one line for the question, once its keys count.
void Chat::read_answer_line() {
  if (!question_drawn_ || answer_sent_ || Clock::now() < quiet_until_) return;
  if (std::exchange(input_paused_, false)) watched_.add(STDIN_FILENO);
  const TypedLine::Typed typed = keyboard_->read();
  if (typed.outcome == TypedLine::Outcome::nothing) return;
  prompt_shown_ = false;
  dirty_ = true;
  if (typed.outcome == TypedLine::Outcome::ended)
    input_ended_ = true;
  else
    give_answer(typed.line);
}

// Plain: whole lines, as the terminal or a pipe delivers them.
void Chat::read_lines() {
  if (question_) return read_answer_line();
  std::array<char, 4'096> bytes{};
  while (!done_ && !question_ && readable(STDIN_FILENO)) {
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      input_ended_ = true;
      watched_.remove(STDIN_FILENO);
      break;
    }
    line_.append(bytes.data(), static_cast<std::size_t>(count));
    if (line_.size() > schema::kInputTextSizeMax) line_.clear();
    for (std::size_t end = line_.find('\n'); end != line_.npos; end = line_.find('\n')) {
      std::string line = clean_text(std::string_view(line_).substr(0, end));
      line_.erase(0, end + 1);
      prompt_shown_ = false;
      if (line.ends_with('\\')) {
        message_ += line.substr(0, line.size() - 1) + "\n";
        continue;
      }
      line.insert(0, std::exchange(message_, {}));
      if (line.find_first_not_of(" \t\n") != line.npos) take_line(line);
      dirty_ = true;
    }
  }
}

}  // namespace agentrt::cli
