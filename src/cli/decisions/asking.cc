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

void Watched::add_input() {
  if (input_) return;
  epoll_event event{};
  event.events = EPOLLIN;
  input_ = ::epoll_ctl(fd_, EPOLL_CTL_ADD, STDIN_FILENO, &event) == 0;
}

void Watched::remove_input() {
  if (input_) (void)::epoll_ctl(fd_, EPOLL_CTL_DEL, STDIN_FILENO, nullptr);
  input_ = false;
}

void Asking::ask(schema::ActionSnapshot action) {
  const Screen& screen = output_.screen();
  output_.err("\n" + question_text(action, screen.err_colour));
  if (input_ended_) return output_.err(elsewhere_text(action, screen.err_colour));
  output_.err(answer_prompt(action, screen.err_colour));
  begin(std::move(action));
}

void Asking::ask_again(schema::ActionSnapshot action, std::string_view why) {
  begin(std::move(action));
  refuse(why);
}

std::optional<schema::RespondAction> Asking::read() {
  if (!action_) return std::nullopt;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  while (::poll(&input, 1, 0) == 1) {
    std::array<char, 4'096> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (count <= 0) {
      input_ended_ = true;
      output_.err("\n" + elsewhere_text(*action_, output_.screen().err_colour));
      close();
      return std::nullopt;
    }
    typed_.append(bytes.data(), static_cast<std::size_t>(count));
    const std::size_t end = typed_.find('\n');
    if (end == std::string::npos) {
      if (typed_.size() > kLineBytesMax) typed_.resize(kLineBytesMax + 1);
      continue;
    }
    const std::string line = typed_.substr(0, end);
    typed_.clear();  // one line per question: discard input typed ahead
    Result<schema::RespondAction> answer = read_answer(*action_, line);
    if (line.size() > kLineBytesMax) answer = fail(Code::too_large, "the line is too long");
    if (answer) {
      close();
      return *std::move(answer);
    }
    refuse(answer.error().message);
  }
  return std::nullopt;
}

void Asking::withdraw() {
  if (!action_) return;
  close();
  output_.err("\n");
}

void Asking::begin(schema::ActionSnapshot action) {
  action_ = std::move(action);
  typed_.clear();
  watched_.add_input();
}

void Asking::close() {
  action_.reset();
  watched_.remove_input();
}

void Asking::refuse(std::string_view why) {
  const Colour colour = output_.screen().err_colour;
  output_.err(refusal_text(why, colour) + answer_prompt(*action_, colour));
}

}  // namespace agentrt::cli
