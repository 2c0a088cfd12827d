// cli/chat/chat.h: a conversation: follows and steers one session at a terminal.
//
// One thread reads keys and events and draws; a Courier talks to the runtime, so a slow reply never
// delays a key. With a terminal that can redraw, the input, the queue and the status line stay
// below the conversation (cli/chat/frame.h). Otherwise, or with --plain, everything is printed line
// by line, and input is read in whole lines.
//
// Approvals keep the rules of base/typed_line.h: keys that were pressed before the question
// was on the screen, or within TypedLine::kQuietMs after that, do not answer it, and an answer
// needs Enter.
#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <set>

#include "cli/chat/commands.h"
#include "cli/chat/conversation.h"
#include "cli/chat/courier.h"
#include "cli/chat/editor.h"
#include "cli/chat/file_finder.h"
#include "cli/chat/frame.h"
#include "cli/chat/history.h"
#include "cli/chat/opened_session.h"
#include "cli/chat/raw_terminal.h"
#include "cli/chat/status.h"
#include "cli/context.h"
#include "cli/decisions/asking.h"
#include "cli/decisions/keyboard.h"
#include "schema/commands/history.h"

namespace agentrt::cli {

// How the conversation begins, checked.
struct ChatStart {
  std::optional<SessionId> session;  // nullopt: a new one
  std::string data;                  // the data folder
  ChatFolder folder;                 // of the session
  std::optional<std::string> model;
  std::optional<schema::PermissionMode> mode;
  std::optional<schema::SandboxMode> sandbox;
  std::vector<std::string> folders;  // --add-dir, for a new session
  bool plain = false;
  bool attached = false;           // `agentrt attach`: the session exists
  std::optional<ThreadId> thread;  // --thread; nullopt: the one at work
  bool remote = false;             // the folder is on another machine
  bool watches_only = false;       // attached without a terminal: reads and asks nothing
};

class Chat {
 public:
  static constexpr int kFrameMs = 16;    // between two frames, for new text
  static constexpr int kKeyFrameMs = 4;  // for a key
  static constexpr int kTickMs = 120;    // between two pictures of the activity
  static constexpr int kHintMs = 4'000;
  static constexpr int kAgainMs = 2'000;  // within which Ctrl-C counts as pressed again
  static constexpr int kReconnectPauseMs = 300;
  static constexpr int kGiveUpMs = 60'000;  // without a connection, where no person can wait
  static constexpr std::size_t kRecentLinesMax = 400;        // for a redraw after a resize
  static constexpr std::size_t kTurnsReplayed = 5;           // of a session that is opened
  static constexpr std::size_t kPasteShownBytesMax = 1'000;  // longer ones are shown as a mark
  static constexpr std::size_t kPasteShownLinesMax = 8;
  static constexpr std::size_t kPastesMax = 50;  // in one message
  static constexpr std::size_t kQueueShownMax = 5;
  static constexpr std::size_t kOpenBytesMax =
      std::size_t{64} * 1024;  // of a line that does not end
  static constexpr std::size_t kChoicesMax = 8;
  static constexpr std::size_t kOutputLinesShownMax = 2'000;
  static constexpr std::size_t kDiffsShownMax = 100;  // by one /diff

  Chat(Context& context, ChatStart start, Attachment attachment, Signals& signals,
       std::atomic<bool>& leaving);
  ~Chat();
  Chat(const Chat&) = delete;
  Chat& operator=(const Chat&) = delete;

  // Until the user leaves. Returns the exit code.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  using Instant = Clock::time_point;

  // chat.cc: the loop and the question.
  void step();
  int wait_ms() const;
  void on_timers();
  void leave_when_finished();
  void on_signals();
  void take_events(std::vector<StreamEvent> events);
  void process_events();
  bool is_shown(const Envelope& event);
  void see_to_question();
  void begin_question(const schema::ActionSnapshot& action);
  void end_question();
  void give_answer(std::string_view line);
  void read_policy();
  void leave(int code);
  std::string farewell() const;

  // chat_session.cc: the session that is followed.
  void reset_session();
  void open_session(const SessionId& session);
  void begin_session(OpenedSession opened);
  void enter_folder_of(OpenedSession& opened);
  void recall(const std::shared_ptr<Recall>& recall);
  void connect();

  // chat_input.cc: keys and messages.
  void read_input();
  void on_key(const KeyPress& press);
  bool on_choice_key(const KeyPress& press);
  bool on_search_key(const KeyPress& press);
  void on_enter();
  void on_paste(const KeyPress& press);
  void on_interrupt(Key key);
  void on_up();
  void on_down();
  void suspend();
  void read_lines();
  void read_answer_line();
  void take_line(const std::string& line);
  void send(const std::string& typed);
  std::vector<schema::InputPart> parts_of(const std::string& text) const;
  void send_interrupt();
  void run_own(const std::string& command);
  std::string with_pastes(std::string text) const;
  // Bytes of the marks of attached texts with which the input begins.
  std::size_t attached_size(std::string_view text) const;
  std::string add_paste(std::string text, std::string_view what);
  void take_queued(std::size_t position);
  void complete();
  void update_choices();
  std::optional<std::string> mention() const;

  // chat_commands.cc: what begins with a slash.
  void perform(std::string_view line);
  void perform(const GivenCommand& given);
  void show_models(const std::string& name);
  void show_mode(const std::string& name);
  void show_sandbox(const std::string& name);
  void show_rules();
  void show_approvals();
  void show_sessions();
  void show_jobs();
  void compact(const std::string& instructions);
  void fork();

  // chat_rollback.cc: going back to an earlier turn.
  void roll_back(const std::string& turn);
  void undo();
  void undo_from(const schema::SessionSnapshot& session);
  void show_rollback(schema::RollbackThread params);
  void do_rollback(schema::RollbackThread params);
  bool allows_restore(const schema::ActionSnapshot& action);

  void choose_session(const std::string& search);
  void continue_turn();
  void show_queue(const std::string& argument);
  void change_queue(std::string_view command, const std::string& argument);
  void rename(const std::string& title);
  void show_diff(const std::string& file);
  void show_output(const std::string& argument);
  void show_files();
  std::string no_files_text() const;
  void show_tasks();
  void show_agents();
  void show_servers();
  void show_usage();

  // chat_screen.cc: what is on the screen.
  void print(std::string_view text);  // complete lines
  // A paragraph, wrapped between words; `mark` is before its first line.
  void say(std::string_view text, std::string_view mark = "  ", Paint mark_paint = Paint::plain,
           Paint text_paint = Paint::plain);
  void problem(const Error& error);
  void hint(std::string_view text);  // shown for a while
  void draw(bool now);
  void draw_plain();
  FrameParts frame_parts() const;
  std::string activity_row() const;
  StatusFacts status_facts() const;
  std::optional<std::int64_t> cost() const;
  void resize();
  void remember(std::string_view lines);
  std::string recent(std::size_t rows) const;
  void notify(std::string_view what);
  void write(std::string_view text);
  // Between these, the terminal is as the shell left it, for another program or question.
  void lend_terminal();
  void take_terminal_back();
  PageStyle page_style() const;
  Paper paper() const;
  Colour colour() const { return context_.output.screen().out_colour; }
  std::string prompt_mark() const;

  // An idempotency key of its own for every command.
  std::string fresh_key() { return own_key("chat " + std::to_string(++keys_made_)); }
  bool busy() const { return conversation_.active().has_value(); }

  Context& context_;
  ChatStart start_;
  Signals& signals_;
  std::atomic<bool>& leaving_;
  Descriptor resized_;  // signalfd of SIGWINCH; blocks the signal before threads start
  Courier courier_;
  Watched watched_;
  std::optional<RawTerminal> terminal_;  // absent: plain
  std::optional<Editor> editor_;         // with terminal_
  KeyReader keys_;
  Canvas canvas_;
  History history_;
  std::optional<FileFinder> finder_;  // of the session's folder
  Size size_;

  // The session.
  std::optional<SessionId> session_;
  bool exists_ = false;          // the runtime knows it
  bool opening_ = false;         // it is being read
  bool recalling_ = false;       // its earlier turns are being read
  bool turns_left_out_ = false;  // it has more of them than are read
  ThreadId thread_;
  Conversation conversation_;
  std::shared_ptr<Stream> stream_;
  bool connecting_ = false;
  std::string link_problem_;  // why the stream cannot be opened, as printed
  std::optional<Instant> reconnect_at_;
  std::optional<Instant> lost_at_;  // when the connection was lost
  std::size_t keys_made_ = 0;
  std::size_t generation_ = 0;  // of the session; replies for an earlier one are dropped
  Sequence seen_ = 0;
  Sequence caught_up_ = 0;  // events up to this one are history
  bool showing_ = true;     // false: until one of these turns starts
  std::set<TurnId> shown_turns_;
  std::deque<StreamEvent> events_;
  bool awaiting_diff_ = false;
  std::set<TurnId> own_turns_;
  std::set<TurnId> unfinished_;  // of those
  std::size_t policy_seen_ = 0;
  std::optional<schema::RulesReply> policy_;

  // The rollback whose effects were shown last: the same command again performs it.
  std::optional<schema::RollbackThread> shown_rollback_;
  std::set<TurnId> restores_;            // turns that restore files as was shown
  std::set<ActionId> restores_allowed_;  // their questions, which are answered

  // The question.
  std::optional<schema::ActionSnapshot> question_;
  bool answer_sent_ = false;
  bool question_drawn_ = false;
  Instant quiet_until_;
  std::string draft_;                 // the message that was being typed
  std::optional<Keyboard> keyboard_;  // plain: while a question is open
  bool input_paused_ = false;         // plain: until keys count

  // The input.
  std::vector<std::string> pastes_;
  std::vector<std::string> choices_;  // completions
  std::size_t choice_ = 0;
  bool choosing_ = false;  // a choice was marked with the arrow keys
  bool searching_files_ = false;
  std::string choices_note_;           // about the choices
  std::optional<std::string> search_;  // Ctrl-R
  std::size_t search_at_ = 0;
  std::string line_;     // plain: typed so far
  std::string message_;  // plain: lines that ended with a backslash
  bool input_ended_ = false;
  std::optional<std::string> asked_for_;  // of the finder
  std::optional<TurnId> interrupting_;
  std::optional<Instant> warned_at_;
  int signals_seen_ = 0;
  std::optional<Instant> key_idle_at_;

  // The screen.
  std::string text_;   // not drawn yet; its last line may be open
  std::string notes_;  // complete lines to print above the open line
  std::deque<std::string> recent_;
  std::string hint_;
  Instant hint_until_;
  bool dirty_ = true;
  bool key_dirty_ = false;
  bool prompt_shown_ = false;  // plain
  bool line_open_ = false;     // plain
  Instant last_frame_;
  Instant last_tick_;
  std::size_t picture_ = 0;
  std::optional<bool> focused_;  // unknown until the terminal tells
  Instant last_key_;
  bool done_ = false;
  int exit_code_ = 0;
};

}  // namespace agentrt::cli
