#include "cli/chat/chat.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "cli/known_session.h"
#include "cli/views/action_view.h"
#include "schema/commands.h"
#include "schema/text_limits.h"

namespace agentrt::cli {
namespace {

using std::chrono::milliseconds;

// The path prefix in the runtime's message about an invalid answer; meaningless to the user.
constexpr std::string_view kPayloadPrefix = "payload.";

Descriptor resize_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGWINCH);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return Descriptor(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

int until_ms(std::chrono::steady_clock::time_point at) {
  const auto left =
      std::chrono::duration_cast<milliseconds>(at - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 60'000));
}

}  // namespace

Chat::Chat(Context& context, ChatStart start, Attachment attachment, Signals& signals,
           std::atomic<bool>& leaving)
    : context_(context),
      start_(std::move(start)),
      signals_(signals),
      leaving_(leaving),
      resized_(resize_signals()),
      courier_(std::move(attachment), leaving),
      watched_(signals.descriptor()),
      history_(start_.data + "/chat_history"),
      finder_(std::in_place, start_.remote ? "/nonexistent" : start_.folder.cwd),
      thread_(std::string(kMainThread)),
      conversation_(thread_, page_style()) {
  if (!start_.watches_only) watched_.add(STDIN_FILENO);
  watched_.add(courier_.descriptor());
  watched_.add(finder_->descriptor());
  watched_.add(resized_.get());
}

Chat::~Chat() = default;

int Chat::run() {
  if (!start_.plain) {
    auto editor = Editor::make();
    if (!editor) return context_.output.problem(editor.error());
    editor_ = std::move(*editor);
    terminal_.emplace();
    size_ = RawTerminal::size({context_.output.screen().width, 24});
    conversation_.set_width(size_.columns - 1);
  }
  last_key_ = Clock::now();
  reset_session();
  session_ = start_.session;
  if (session_) open_session(*session_);
  read_policy();
  draw(true);
  if (start_.plain) read_input();  // a file is never reported as readable
  while (!done_) step();
  write(canvas_.erase());
  if (!text_.empty()) write(text_ + "\r\n");
  if (prompt_shown_) write("\n");
  terminal_.reset();
  if (!signals_.asked_to_leave()) write(farewell());
  return exit_code_;
}

void Chat::step() {
  const int timeout = wait_ms();
  if (stream_) {
    auto received = stream_->next(timeout, watched_.descriptor());
    if (!received || received->what == Stream::What::ended) {
      stream_.reset();
      reconnect_at_ = Clock::now() + milliseconds(kReconnectPauseMs);
      lost_at_ = Clock::now();
      if (start_.plain && start_.attached) say("the connection was lost; reconnecting", "· ");
    } else if (received->what == Stream::What::events) {
      take_events(std::move(received->events));
    }
  } else {
    pollfd waiting{watched_.descriptor(), POLLIN, 0};
    (void)::poll(&waiting, 1, timeout);
  }
  on_signals();
  read_input();
  courier_.deliver();
  if (const auto found = finder_->take(); found && searching_files_ && found->query == mention()) {
    choices_ = found->paths;
    searching_files_ = !found->complete;
    choices_note_.clear();
    if (!found->not_searched.empty())
      choices_note_ = found->not_searched + "; a whole path can be typed";
    else if (found->complete && choices_.empty())
      choices_note_ = "no file matches";
    choice_ = std::min(choice_, choices_.empty() ? 0 : choices_.size() - 1);
    dirty_ = key_dirty_ = true;
  }
  on_timers();
  draw(false);
  if (input_ended_) leave_when_finished();
}

// The end of a pipe: every message was read, so wait for the turns that are left. At a terminal,
// the end of input means to leave.
void Chat::leave_when_finished() {
  if (context_.output.screen().in_terminal) return leave(kExitDone);
  if (busy() && !conversation_.blocked().empty()) return leave(kExitNeedsPerson);
  if (unfinished_.empty() && text_.empty() && notes_.empty()) leave(exit_code_);
}

int Chat::wait_ms() const {
  int wait = -1;
  const auto at_most = [&](int ms) { wait = wait < 0 ? ms : std::min(wait, ms); };
  if (dirty_ || key_dirty_)
    at_most(until_ms(last_frame_ + milliseconds(key_dirty_ ? kKeyFrameMs : kFrameMs)));
  if (!start_.plain && (busy() || !hint_.empty() || lost_at_)) at_most(kTickMs);
  if (lost_at_) at_most(kTickMs);
  if (reconnect_at_ && !connecting_) at_most(until_ms(*reconnect_at_));
  if (key_idle_at_) at_most(until_ms(*key_idle_at_));
  if (input_paused_) at_most(until_ms(quiet_until_));
  return wait;
}

void Chat::on_timers() {
  const Instant now = Clock::now();
  if (key_idle_at_ && now >= *key_idle_at_) {
    key_idle_at_.reset();
    for (const KeyPress& press : keys_.idle()) on_key(press);
  }
  if (reconnect_at_ && now >= *reconnect_at_ && !connecting_) connect();
  if (lost_at_ && now - *lost_at_ >= milliseconds(kGiveUpMs) &&
      !context_.output.screen().in_terminal) {
    problem({Code::unavailable, "The connection was lost and does not come back.", {}});
    return leave(kExitUnavailable);
  }
  if (lost_at_) dirty_ = true;  // the elapsed time
  if (!hint_.empty() && now >= hint_until_) {
    hint_.clear();
    dirty_ = true;
  }
  if (!start_.plain && busy() && now - last_tick_ >= milliseconds(kTickMs)) {
    last_tick_ = now;
    ++picture_;
    dirty_ = true;
  }
}

void Chat::on_signals() {
  signalfd_siginfo info{};
  bool resized = false;
  while (::read(resized_.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
    resized = true;
  if (resized && terminal_) resize();
  if (signals_.asked_to_leave()) return leave(kExitInterrupted);
  for (const int count = signals_.count(); signals_seen_ < count; ++signals_seen_)
    on_interrupt(Key::interrupt);
}

void Chat::take_events(std::vector<StreamEvent> events) {
  for (StreamEvent& event : events) {
    if (event.type == "stream.overflow") {
      stream_.reset();
      reconnect_at_ = Clock::now();
      break;
    }
    events_.push_back(std::move(event));
  }
  process_events();
}

// Up to the next diff, which is fetched first, so that it appears below its call.
void Chat::process_events() {
  const bool was_busy = busy();
  while (!events_.empty() && !awaiting_diff_) {
    const auto envelope = read_envelope(events_.front().data);
    events_.pop_front();
    if (!envelope || envelope->sequence <= seen_) continue;
    seen_ = envelope->sequence;
    if (envelope->type == schema::TurnCompleted::kType) unfinished_.erase(envelope->turn_id);
    if (envelope->type == schema::TurnFailed::kType && unfinished_.erase(envelope->turn_id) > 0)
      exit_code_ = kExitFailed;
    if (!is_shown(*envelope)) {
      conversation_.recall(*envelope);
      continue;
    }
    text_ += conversation_.take(*envelope);
    const auto ref = conversation_.take_diff();
    if (!ref) continue;
    awaiting_diff_ = true;
    courier_.read("/v1/outputs/" + url_escaped(*ref),
                  [this, generation = generation_](const Result<std::string>& diff) {
                    if (generation != generation_) return;
                    awaiting_diff_ = false;
                    if (diff) text_ += conversation_.show_diff(*diff);
                    process_events();
                  });
  }
  dirty_ = true;
  if (interrupting_ && interrupting_ != conversation_.active()) {
    interrupting_.reset();
    hint_.clear();
  }
  if (seen_ < caught_up_) return;
  if (was_busy && !busy() && conversation_.queue().empty()) notify("the turn has ended");
  see_to_question();
  if (conversation_.policy_changes() != policy_seen_) {
    policy_seen_ = conversation_.policy_changes();
    read_policy();
  }
}

// The last events of a turn that is not shown may come after the first ones of a turn that is.
bool Chat::is_shown(const Envelope& event) {
  if (!showing_)
    showing_ = event.sequence > caught_up_ ||
               (event.type == schema::TurnStarted::kType && shown_turns_.contains(event.turn_id));
  return showing_;
}

void Chat::see_to_question() {
  if (start_.watches_only) return;
  const schema::ActionSnapshot* action = conversation_.question();
  if (action == nullptr) return end_question();
  if (allows_restore(*action)) return end_question();
  if (question_ && question_->action_id == action->action_id) return;
  begin_question(*action);
}

void Chat::begin_question(const schema::ActionSnapshot& action) {
  if (editor_ && !question_) draft_ = editor_->text();
  if (editor_) editor_->set("");
  choices_.clear();
  search_.reset();
  question_ = action;
  answer_sent_ = false;
  question_drawn_ = false;
  keys_ = KeyReader();
  key_idle_at_.reset();
  std::string keys = answer_prompt(action, paper());
  print("\n" + question_text(action, paper()) + keys.substr(0, keys.rfind("  > ")));
  if (start_.plain) {
    line_.clear();
    keyboard_.emplace(context_.output.screen().in_terminal);
  }
  notify("an answer is needed");
  dirty_ = true;
}

void Chat::end_question() {
  if (!question_) return;
  question_.reset();
  answer_sent_ = false;
  if (std::exchange(input_paused_, false)) watched_.add(STDIN_FILENO);
  keyboard_.reset();
  line_.clear();
  if (editor_) editor_->set(std::exchange(draft_, {}));
  dirty_ = true;
}

void Chat::give_answer(std::string_view line) {
  if (answer_sent_) return;
  auto answer = read_answer(*question_, line);
  const auto again = [this](std::string_view why) {
    print(refusal_text(why, paper()));
    answer_sent_ = false;
    question_drawn_ = false;  // keys count again when that is on the screen
    dirty_ = true;
  };
  if (!answer) return again(answer.error().message);
  answer->idempotency_key = fresh_key();
  answer_sent_ = true;
  courier_.call("respond_action", schema::to_json(*answer),
                [this, again, asked = question_->action_id](const Result<std::string>& reply) {
                  if (reply || !question_ || question_->action_id != asked) return;
                  const Code code = reply.error().code;
                  if (code == Code::conflict || code == Code::expired) return;
                  std::string_view why = reply.error().message;
                  if (why.starts_with(kPayloadPrefix)) why.remove_prefix(kPayloadPrefix.size());
                  again(why);
                });
}

void Chat::read_policy() {
  schema::GetRules query;
  if (exists_) query.session_id = session_;
  if (!exists_ && !start_.folder.cwd.empty()) query.cwd = start_.folder.cwd;
  courier_.call("get_rules", schema::to_json(query),
                [this, generation = generation_](const Result<std::string>& reply) {
                  schema::RulesReply rules;
                  if (generation != generation_ || !reply ||
                      !schema::from_json(*reply, rules, schema::Unknown::ignore))
                    return;
                  policy_ = std::move(rules);
                  dirty_ = true;
                });
}

void Chat::leave(int code) {
  done_ = true;
  exit_code_ = code;
}

std::string Chat::farewell() const {
  if (!exists_) return {};
  const std::string id = session_->text();
  std::string text =
      paint(fmt::format("· {}: agentrt {} {}", start_.attached ? "come back with" : "continue with",
                        start_.attached ? "attach" : "chat", id),
            Paint::dim, colour()) +
      "\n";
  if (question_)
    text += paint("· a question is open: agentrt approvals lists it", Paint::dim, colour()) + "\n";
  else if (busy() && conversation_.blocked().empty())
    text += paint("· the turn keeps running", Paint::dim, colour()) + "\n";
  return text;
}

}  // namespace agentrt::cli
