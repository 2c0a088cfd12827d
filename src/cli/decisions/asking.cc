#include "cli/decisions/asking.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <array>

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
  if (quiet_) {
    pollfd timer{keyboard_.timer(), POLLIN, 0};
    if (::poll(&timer, 1, 0) != 1) return std::nullopt;
    quiet_ = false;
    watched_.remove(keyboard_.timer());
    keyboard_.accept();
    watched_.add(STDIN_FILENO);
  }
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (::poll(&input, 1, 0) == 1) {
    std::array<char, 4'096> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0) {
      input_ended_ = true;
      output_.err("\n" + elsewhere_text(*action_, paper()));
      close();
      return std::nullopt;
    }
    typed_.append(bytes.data(), static_cast<std::size_t>(count));
    const std::size_t end = typed_.find('\n');
    if (end == std::string::npos) {
      if (typed_.size() > kTypedLineBytesMax) typed_.resize(kTypedLineBytesMax + 1);
      continue;
    }
    const std::string line = typed_.substr(0, end);
    typed_.clear();  // one line per question: discard input typed ahead
    Result<schema::RespondAction> answer = read_answer(*action_, line);
    if (line.size() > kTypedLineBytesMax) answer = fail(Code::too_large, "the line is too long");
    if (answer) {
      close();
      return *std::move(answer);
    }
    refuse(answer.error().message);
    watched_.remove(STDIN_FILENO);
    begin(*action_);
    return std::nullopt;
  }
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
  typed_.clear();
  quiet_ = true;
  keyboard_.open();
  watched_.add(keyboard_.timer());
}

void Asking::close() {
  action_.reset();
  watched_.remove(quiet_ ? keyboard_.timer() : STDIN_FILENO);
  keyboard_.close();
}

void Asking::refuse(std::string_view why) {
  output_.err(refusal_text(why, paper()) + answer_prompt(*action_, paper()));
}

}  // namespace agentrt::cli
