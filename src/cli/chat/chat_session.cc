#include <algorithm>

#include <fmt/format.h>

#include "cli/chat/chat.h"
#include "cli/decisions/folder_mode.h"
#include "cli/known_session.h"

namespace agentrt::cli {
namespace {

using std::chrono::milliseconds;

// The turns that have started, newest first.
std::vector<schema::TurnSnapshot> turns_of(const schema::SessionSnapshot& session) {
  std::vector<schema::TurnSnapshot> turns;
  for (const schema::Json& row : session.history) {
    schema::TurnSnapshot turn;
    if (!schema::from_json(row.text, turn, schema::Unknown::ignore)) continue;
    if (turn.status != schema::Status::queued) turns.push_back(std::move(turn));
  }
  return turns;
}

ThreadId thread_of(const schema::SessionSnapshot& session,
                   const std::vector<schema::TurnSnapshot>& turns) {
  KnownSession known;
  for (const schema::ThreadSnapshot& thread : session.threads)
    known.threads.push_back({thread.thread_id, thread.active_turn_id});
  if (!turns.empty()) known.history.push_back({turns.front().thread_id, {}});
  for (const schema::SubagentSnapshot& each : session.subagents)
    known.subagents.push_back({each.thread_id});
  return thread_at_work(known);
}

}  // namespace

// Begins a conversation that the runtime does not know yet; its first message creates the session.
void Chat::reset_session() {
  ++generation_;
  session_.reset();
  exists_ = opening_ = recalling_ = turns_left_out_ = false;
  thread_ = ThreadId(std::string(kMainThread));
  conversation_ = Conversation(thread_, page_style());
  stream_.reset();
  reconnect_at_.reset();
  seen_ = caught_up_ = 0;
  showing_ = true;
  shown_turns_.clear();
  events_.clear();
  awaiting_diff_ = false;
  end_question();
  unfinished_.clear();
  interrupting_.reset();
  shown_rollback_.reset();
  restores_.clear();
  restores_allowed_.clear();
  policy_seen_ = 0;
}

// Until the session and its folder are read, the conversation stays where it is.
void Chat::open_session(const SessionId& session) {
  opening_ = true;
  courier_.add([this, session, generation = generation_, folder = start_.folder,
                model = start_.model](Attachment& attachment) -> Courier::Then {
    auto opened = Courier::persist(attachment, [&](const Client&) {
      return read_session(context_, attachment, session, folder, model);
    });
    return [this, generation, opened = std::move(opened)] {
      if (generation != generation_) return;
      opening_ = false;
      if (opened) return begin_session(*opened);
      problem(opened.error());
      if (!exists_) reset_session();
    };
  });
}

// Shows the newest turns, and follows the session from there.
void Chat::begin_session(OpenedSession opened) {
  const schema::SessionSnapshot& session = opened.session;
  if (session_ != session.session_id) reset_session();
  session_ = session.session_id;
  exists_ = true;
  if (opened.folder) enter_folder_of(opened);
  caught_up_ = session.as_of_sequence;
  turns_left_out_ = session.history_cursor.has_value();
  std::vector<schema::TurnSnapshot> turns = turns_of(session);
  const Sequence oldest = turns.empty() ? 1 : turns.back().first_sequence;
  thread_ = start_.thread ? *start_.thread : thread_of(session, turns);
  conversation_ = Conversation(thread_, page_style());
  std::erase_if(turns, [&](const auto& turn) { return turn.thread_id != thread_; });
  const std::size_t replayed = std::min(turns.size(), kTurnsReplayed);
  for (std::size_t i = 0; i < replayed; ++i) shown_turns_.insert(turns[i].turn_id);
  showing_ = replayed == 0;
  seen_ = replayed > 0 ? turns[replayed - 1].first_sequence - 1 : 0;
  std::string title = "session " + session.session_id.text();
  if (session.title) title += " · " + *session.title;
  if (session.cwd != context_.cwd) title += " · in " + session.cwd;
  if (turns.size() > replayed)
    title +=
        fmt::format(" · {}{} earlier turns: agentrt show {} --transcript", turns.size() - replayed,
                    turns_left_out_ ? "+" : "", session.session_id.text());
  say(title, "· ", Paint::dim, Paint::dim);
  print("\n");
  recall(
      std::make_shared<Recall>(*session_, turns_left_out_ ? oldest - 1 : 0, seen_, conversation_));
  read_policy();
}

// Turns use what they would use if the conversation had been started there.
void Chat::enter_folder_of(OpenedSession& opened) {
  const ChatFolder left = std::exchange(start_.folder, *std::move(opened.folder));
  const std::string& cwd = start_.folder.cwd;
  for (const std::string& warning : start_.folder.config.warnings)
    if (std::ranges::find(left.config.warnings, warning) == left.config.warnings.end())
      say(warning, "agentrt: ", Paint::yellow);
  if (opened.model_missing)
    say(fmt::format("the model {} cannot be used there; /model lists the others",
                    *std::exchange(start_.model, std::nullopt)),
        "· ");
  watched_.remove(finder_->descriptor());
  finder_.emplace(start_.remote ? "/nonexistent" : cwd);
  watched_.add(finder_->descriptor());
  choices_.clear();
  asked_for_.reset();
  lend_terminal();
  context_.output.note(other_folder(opened.session.session_id.text(), cwd, left.cwd));
  std::optional<schema::PermissionMode> mode;
  if (opened.lacks_mode && context_.output.screen().in_terminal && !start_.mode)
    mode = choose_folder_mode(context_.output, signals_, cwd);
  take_terminal_back();
  if (!mode) return;
  courier_.add([this, cwd, mode](Attachment& attachment) -> Courier::Then {
    const auto kept = Courier::persist(
        attachment, [&](const Client& client) { return set_folder_mode(client, cwd, *mode); });
    return [this, mode, kept] {
      if (!kept) return problem(kept.error());
      say(kept_mode_text(*mode), "· ");
      read_policy();
    };
  });
}

// Page by page, so that other requests can come between.
void Chat::recall(const std::shared_ptr<Recall>& recall) {
  recalling_ = true;
  courier_.add([this, recall, generation = generation_](Attachment& attachment) -> Courier::Then {
    const auto more = Courier::persist(
        attachment, [&](const Client& client) { return read_on(client, *recall); });
    return [this, recall, generation, more] {
      if (generation != generation_) return;
      if (more.value_or(false)) return this->recall(recall);
      if (!more) problem(more.error());
      turns_left_out_ = turns_left_out_ || !more;
      recalling_ = false;
      conversation_ = std::move(recall->conversation);
      conversation_.set_width(page_style().width);
      connect();
    };
  });
}

void Chat::connect() {
  if (!session_ || !exists_ || connecting_ || recalling_) return;
  connecting_ = true;
  reconnect_at_.reset();
  courier_.follow(
      *session_, seen_, [this, generation = generation_](Result<std::shared_ptr<Stream>> stream) {
        connecting_ = false;
        if (generation != generation_) return connect();
        dirty_ = true;
        if (stream) {
          stream_ = *stream;
          lost_at_.reset();
          return;
        }
        if (!lost_at_) lost_at_ = Clock::now();
        const Code code = stream.error().code;
        const bool later =
            code == Code::unavailable || code == Code::timeout || code == Code::overloaded;
        if (!later) problem(stream.error());
        reconnect_at_ = Clock::now() + milliseconds(kReconnectPauseMs * 5);
      });
}

}  // namespace agentrt::cli
