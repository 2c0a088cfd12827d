#include "cli/decisions/asking.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "cli/views/action_view.h"

namespace agentrt::cli {

Watched::Watched(int signals) : fd_(::epoll_create1(EPOLL_CLOEXEC)) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (signals >= 0) (void)::epoll_ctl(fd_, EPOLL_CTL_ADD, signals, &event);
}

Watched::~Watched() { ::close(fd_); }

void Watched::add(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  (void)::epoll_ctl(fd_, EPOLL_CTL_ADD, descriptor, &event);
}

void Watched::remove(int descriptor) { (void)::epoll_ctl(fd_, EPOLL_CTL_DEL, descriptor, nullptr); }

Asking::Asking(Output& output, Watched& watched)
    : output_(output),
      watched_(watched),
      keyboard_(output.screen().in_terminal && output.form() == Form::text) {}

Paper Asking::paper() const {
  const Screen& screen = output_.screen();
  return {screen.err_terminal ? terminal_width(screen.width) : 0, screen.err_colour};
}

void Asking::ask(schema::ActionSnapshot action) {
  output_.err("\n" + question_text(action, paper()));
  if (input_ended_) return output_.err(elsewhere_text(action, paper()));
  output_.err(answer_prompt(action, paper()));
  begin(std::move(action));
}

void Asking::ask_again(schema::ActionSnapshot action, std::string_view why) {
  action_ = std::move(action);
  refuse(why);
  begin(*action_);
}

std::optional<schema::RespondAction> Asking::read() {
  if (!action_) return std::nullopt;
  watched_.remove(keyboard_.descriptor());
  const TypedLine::Typed typed = keyboard_.read();
  if (typed.outcome == TypedLine::Outcome::nothing) {
    watched_.add(keyboard_.descriptor());
    return std::nullopt;
  }
  if (typed.outcome == TypedLine::Outcome::ended) {
    input_ended_ = true;
    output_.err("\n" + elsewhere_text(*action_, paper()));
    action_.reset();
    return std::nullopt;
  }
  Result<schema::RespondAction> answer = fail(Code::too_large, "the line is too long");
  if (typed.outcome == TypedLine::Outcome::line) answer = read_answer(*action_, typed.line);
  if (answer) {
    action_.reset();
    return *std::move(answer);
  }
  refuse(answer.error().message);
  begin(*action_);
  return std::nullopt;
}

void Asking::withdraw() {
  if (!action_) return;
  close();
  output_.err("\n");
}

// The prompt was drawn.
void Asking::begin(schema::ActionSnapshot action) {
  action_ = std::move(action);
  keyboard_.open();
  watched_.add(keyboard_.descriptor());
}

void Asking::close() {
  action_.reset();
  watched_.remove(keyboard_.descriptor());
  keyboard_.close();
}

void Asking::refuse(std::string_view why) {
  output_.err(refusal_text(why, paper()) + answer_prompt(*action_, paper()));
}

}  // namespace agentrt::cli
