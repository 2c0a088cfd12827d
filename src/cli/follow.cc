#include "cli/follow.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/decisions/asking.h"
#include "cli/views/status_line.h"
#include "schema/commands.h"
#include "schema/tools.h"

namespace agentrt::cli {
namespace {

// The path prefix in the runtime's message about an invalid answer; meaningless to the user.
constexpr std::string_view kPayloadPrefix = "payload.";

PageStyle style_of(const Screen& screen) {
  PageStyle style;
  style.layout = screen.out_terminal && screen.err_terminal ? Layout::together : Layout::apart;
  style.out_colour = screen.out_colour;
  style.err_colour = screen.err_colour;
  style.answer_on_terminal = screen.out_terminal;
  style.width = screen.width;
  return style;
}

// JSON; `more` is a further member, or empty.
std::string details_of(const FollowedTurn& turn, std::string_view status,
                       std::string_view more = {}) {
  return fmt::format(R"({{"sessionId":"{}","threadId":"{}","turnId":"{}","status":"{}"{}{}}})",
                     turn.session.text(), turn.thread.text(), turn.turn.text(), status,
                     more.empty() ? "" : ",", more);
}

Code code_of_failure(const TurnEnd& end) {
  using schema::Category;
  switch (end.category.value_or(Category::internal)) {
    case Category::invalid_input:
      return Code::invalid_params;
    case Category::denied:
      return end.provider_status == 401 ? Code::unauthenticated : Code::forbidden;
    case Category::not_found:
      return Code::not_found;
    case Category::timeout:
      return Code::timeout;
    case Category::rate_limited:
      return Code::limit_exceeded;
    case Category::cancelled:
    case Category::interrupted:
      return Code::conflict;
    case Category::unavailable:
    case Category::provider:
    case Category::sandbox:
    case Category::lost:
      return Code::unavailable;
    case Category::exit_nonzero:
    case Category::internal:
      break;
  }
  return Code::internal;
}

// Whether the runtime's reason ends with advice: "X; do Y". What a provider wrote is in parentheses
// and may contain anything.
bool has_advice(std::string_view reason) {
  int depth = 0;
  for (std::size_t i = 0; i < reason.size(); ++i) {
    if (reason[i] == '(') ++depth;
    if (reason[i] == ')') depth = std::max(depth - 1, 0);
    if (depth == 0 && reason.substr(i).starts_with("; ")) return true;
  }
  return false;
}

// The reason as the beginning of a message, with advice.
std::string advised(const TurnEnd& end) {
  using schema::Category;
  std::string reason = end.reason;
  while (reason.ends_with('.')) reason.pop_back();
  if (has_advice(reason)) return reason;
  if (end.category == Category::rate_limited)
    reason += "; try again later, or choose another model with --model";
  if (end.category == Category::provider || end.category == Category::timeout)
    reason += "; try again, or choose another model with --model";
  return reason;
}

std::string how_to_continue(const FollowedTurn& turn) {
  return fmt::format("Continue the session with: agentrt run --session {} \"PROMPT\"",
                     turn.session.text());
}

class Follower {
 public:
  Follower(Output& output, Attachment& attachment, Signals& signals, const FollowedTurn& turn,
           Sequence after, OnAsk on_ask)
      : output_(output),
        attachment_(attachment),
        signals_(signals),
        turn_(turn),
        seen_(after),
        on_ask_(on_ask),
        view_(turn.turn, turn.thread, style_of(output.screen())),
        watched_(signals.descriptor()),
        asking_(output, watched_),
        live_(output.screen().live && output.form() == Form::text) {}
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  ~Follower() { output_.err(status_.erase()); }

  Result<int> follow() {
    while (!view_.settled() && !left_) {
      TRY(connect());
      if (!stream_) continue;
      const bool over = view_.end().ending != Ending::open && !waits_for_us();
      const int patience = over ? kTailMs : live_ ? kTickMs : -1;
      TRY_ASSIGN(const auto received, stream_->next(patience, watched_.descriptor()));
      switch (received.what) {
        case Stream::What::events:
          take(received.events);
          TRY(see_to_action());
          break;
        case Stream::What::woken:
          TRY(on_signal());
          if (const auto answer = asking_.read()) TRY(give(*answer));
          break;
        case Stream::What::ended:
          stream_.reset();
          break;
        case Stream::What::quiet:
          if (over) return conclude();
          draw_status();
          break;
      }
    }
    return left_ ? leave() : conclude();
  }

 private:
  // Opens stream_ unless it is open; leaves it empty if the caller should retry.
  Result<void> connect() {
    if (stream_) return {};
    if (++failures_ > kReconnectsMax)
      return fail(Code::unavailable,
                  fmt::format("The event stream keeps breaking off. The turn keeps running in the "
                              "background; see agentrt show {}",
                              turn_.session.text()));
    if (failures_ > 1) {
      signals_.wait(kReconnectPauseMs);
      TRY(on_signal());
      if (left_) return {};
    }
    auto stream = attachment_.client().follow(turn_.session, seen_);
    if (stream) {
      stream_ = std::make_unique<Stream>(std::move(*stream));
      return {};
    }
    const Code code = stream.error().code;
    if (code != Code::unavailable && code != Code::timeout && code != Code::overloaded)
      return std::unexpected(stream.error());
    return attachment_.renew();
  }

  void take(const std::vector<StreamEvent>& events) {
    for (const StreamEvent& event : events) {
      if (event.type == "stream.overflow") {
        stream_.reset();
        return;
      }
      const auto envelope = read_envelope(event.data);
      if (!envelope || envelope->sequence <= seen_) continue;
      seen_ = envelope->sequence;
      failures_ = 0;
      const TurnText text = view_.show(*envelope);
      if (output_.form() == Form::text) {
        print(text);
        show_diff();
      } else if (view_.concerns(*envelope)) {
        output_.out(event.data + "\n");
      }
    }
  }

  Answering answering(const schema::ActionSnapshot& action) const {
    return action.outside_sandbox.value_or(false) ? on_ask_.outside : on_ask_.ordinary;
  }
  bool waits_for_us() const {
    return view_.action() && answering(*view_.action()) != Answering::leave;
  }

  // Asks about the turn's open action once; withdraws the question if it is answered elsewhere.
  Result<void> see_to_action() {
    if (!view_.action()) {
      asking_.withdraw();
      asked_.reset();
      return {};
    }
    const schema::ActionSnapshot& action = *view_.action();
    const Answering how = answering(action);
    if (how == Answering::leave || asked_ == action.action_id) return {};
    if (asked_) asking_.withdraw();  // that one was answered elsewhere
    asked_ = action.action_id;
    if (how == Answering::ask) {
      output_.err(status_.erase());
      asking_.ask(action);
      return {};
    }
    return give(unattended_answer(action, how));
  }

  // The answer of an option of the command line.
  schema::RespondAction unattended_answer(const schema::ActionSnapshot& action, Answering how) {
    schema::RespondAction answer;
    answer.action_id = action.action_id;
    answer.digest = action.digest;
    const bool outside = action.outside_sandbox.value_or(false);
    const bool permission = action.action_type == schema::kPermissionAction;
    answer.reason = outside ? "agentrt run --yes-outside-sandbox" : "agentrt run --yes";
    answer.decision = permission ? "allow" : "cancel";
    if (action.action_type == schema::kTrustAction) answer.decision = "deny";
    if (how != Answering::refuse) return answer;
    answer.reason = "nobody can be asked";
    if (!permission) return answer;
    answer.decision = "deny";
    answer.reason = outside ? "nobody can be asked, and --yes does not let a command leave the "
                              "sandbox; --yes-outside-sandbox does"
                            : "nobody can be asked; --yes approves such requests";
    ++refused_;
    return answer;
  }

  // Sends the answer. If another client answered first, the stream reports it. If the answer is
  // invalid, the user can correct it.
  Result<void> give(const schema::RespondAction& answer) {
    const auto given = attachment_.client().call("respond_action", schema::to_json(answer));
    if (given) return {};
    const Code code = given.error().code;
    if (code == Code::conflict || code == Code::expired) return {};
    const bool fits = code != Code::invalid_params && code != Code::limit_exceeded;
    if (fits || !view_.action() || answering(*view_.action()) != Answering::ask)
      return std::unexpected(given.error());
    std::string_view why = given.error().message;
    if (why.starts_with(kPayloadPrefix)) why.remove_prefix(kPayloadPrefix.size());
    asking_.ask_again(*view_.action(), why);
    return {};
  }

  void print(const TurnText& text) {
    if (text.pieces.empty()) return;
    output_.err(status_.erase());
    for (const TurnText::Piece& piece : text.pieces) {
      if (piece.to == To::answer)
        output_.out(piece.text);
      else
        output_.err(piece.text);
    }
  }

  // A diff that cannot be read is omitted; the line of its call was printed before.
  void show_diff() {
    const auto ref = view_.take_diff();
    if (!ref || !live_) return;
    const auto diff = attachment_.client().ask("GET", "/v1/outputs/" + url_escaped(*ref), "");
    if (diff) print(view_.show_diff(*diff));
  }

  // Draws the status line, unless a line of text is open.
  void draw_status() {
    if (!live_) return;
    const std::size_t width = terminal_width(output_.screen().width);
    view_.set_width(width);
    const auto doing = view_.doing();
    if (!doing || view_.line_open() || asking_.open()) return;
    output_.err(status_.draw(doing->what, now_of_clock() - doing->since, width,
                             output_.screen().err_colour));
  }

  // The user leaves. The turn keeps running, or keeps waiting, without this client.
  int leave() {
    if (output_.form() == Form::text)
      print(view_.note(fmt::format("detached from the turn; come back with agentrt run --session "
                                   "{0}, or watch it with agentrt events {0} --follow",
                                   turn_.session.text()),
                       Paint::yellow));
    return kExitInterrupted;
  }

  Result<void> on_signal() {
    const int count = signals_.count();
    if (count > 1 || signals_.asked_to_leave()) left_ = true;
    if (count == 0 || left_ || interrupted_) return {};
    interrupted_ = true;
    asking_.withdraw();
    if (output_.form() == Form::text)
      print(view_.note("interrupting the turn; press Ctrl-C again to leave without waiting",
                       Paint::yellow));
    schema::InterruptTurn params;
    params.session_id = turn_.session;
    params.thread_id = turn_.thread;
    params.turn_id = turn_.turn;
    params.reason = "interrupted by the user with Ctrl-C";
    const auto done = attachment_.client().call("interrupt_turn", schema::to_json(params));
    left_ = signals_.count() > 1 || signals_.asked_to_leave();  // do not wait for the reply
    if (!done && !left_) return std::unexpected(done.error());
    return {};
  }

  Result<int> conclude() {
    output_.err(status_.erase());
    const TurnEnd& end = view_.end();
    switch (end.ending) {
      case Ending::open:
      case Ending::completed:
        if (view_.unanswered() + refused_ == 0) return kExitDone;
        output_.problem(unapproved_error(turn_, view_.unanswered() + refused_));
        return kExitNeedsPerson;
      case Ending::cancelled:
        if (!interrupted_)
          output_.problem(
              {Code::conflict,
               fmt::format("The turn was cancelled: {}. {}", end.reason, how_to_continue(turn_)),
               details_of(turn_, "cancelled")});
        else if (output_.form() == Form::text)
          print(view_.note(fmt::format("interrupted · session {}", turn_.session.text())));
        return interrupted_ ? kExitInterrupted : kExitFailed;
      case Ending::failed:
        output_.problem(failed_error(turn_, end));
        return kExitFailed;
      case Ending::blocked:
        output_.problem(blocked_error(turn_, end));
        return end.needs_person ? kExitNeedsPerson : kExitFailed;
    }
    return kExitFailed;
  }

  Output& output_;
  Attachment& attachment_;
  Signals& signals_;
  FollowedTurn turn_;
  Sequence seen_;
  OnAsk on_ask_;
  TurnView view_;
  Watched watched_;
  Asking asking_;
  StatusLine status_;
  bool live_;  // the status line is drawn
  std::optional<ActionId> asked_;
  std::size_t refused_ = 0;  // requests that no option approves
  std::unique_ptr<Stream> stream_;
  int failures_ = 0;
  bool interrupted_ = false;
  bool left_ = false;
};

}  // namespace

Result<int> follow_turn(Output& output, Attachment& attachment, Signals& signals,
                        const FollowedTurn& turn, Sequence after, OnAsk on_ask) {
  return Follower(output, attachment, signals, turn, after, on_ask).follow();
}

Error failed_error(const FollowedTurn& turn, const TurnEnd& end) {
  std::string more;
  if (end.category) more = fmt::format(R"("category":"{}")", schema::name_of(*end.category));
  if (end.provider_status)
    more += fmt::format(R"({}"providerStatus":{})", more.empty() ? "" : ",", *end.provider_status);
  return {code_of_failure(end),
          fmt::format("The turn failed: {}. {}", advised(end), how_to_continue(turn)),
          details_of(turn, "failed", more)};
}

Error unapproved_error(const FollowedTurn& turn, std::size_t calls) {
  return {Code::conflict,
          fmt::format("{} of the tool calls needed approval and were not made; run agentrt at a "
                      "terminal, with --yes (and --yes-outside-sandbox for commands that leave "
                      "the sandbox), or with --allow and a rule for them.",
                      calls),
          details_of(turn, "completed", fmt::format(R"("unapproved":{})", calls))};
}

Error blocked_error(const FollowedTurn& turn, const TurnEnd& end) {
  if (end.phase == "action")
    return Error{Code::conflict,
                 fmt::format("The turn is waiting: {}; agentrt approvals lists the request, "
                             "agentrt approve or deny answers it.",
                             end.reason),
                 details_of(turn, "waiting")};
  const std::string resume =
      fmt::format("agentrt run --session {} --thread {}", turn.session.text(), turn.thread.text());
  // The runtime ends such a reason with its own advice, which is for other clients.
  const std::string reason = end.reason.substr(0, end.reason.rfind("; "));
  std::string advice = "resume it with: ";
  if (end.phase == "no_model")
    advice = "a new PROMPT replaces it; when a model is available, resume it with: ";
  return Error{Code::conflict, fmt::format("The turn is waiting: {}; {}{}", reason, advice, resume),
               details_of(turn, "blocked")};
}

}  // namespace agentrt::cli
