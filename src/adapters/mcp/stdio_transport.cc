#include "adapters/mcp/stdio_transport.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "adapters/process/launcher_report.h"
#include "adapters/process/sandbox.h"
#include "schema/json.h"

namespace agentrt::adapters {
namespace {

constexpr int kAboveStandard = 10;  // clear of the launcher's fixed descriptors
constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::size_t kReadsMax = 16;  // in a row, before other events are served
constexpr std::size_t kComplaintBytesMax = 4 * 1024;

struct Pipe {
  Descriptor read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(Code::unavailable, fmt::format("a pipe cannot be created: {}",
                                               std::generic_category().message(errno)));
  Pipe pipe{Descriptor(::fcntl(ends[0], F_DUPFD_CLOEXEC, kAboveStandard)),
            Descriptor(::fcntl(ends[1], F_DUPFD_CLOEXEC, kAboveStandard))};
  ::close(ends[0]);
  ::close(ends[1]);
  if (!pipe.read || !pipe.write) return fail(Code::unavailable, "a pipe cannot be created");
  return pipe;
}

void set_nonblocking(const Descriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, O_NONBLOCK);
}

std::string exit_words(const LauncherReport& report) {
  if (report.signal) return fmt::format("it was killed by signal {}", *report.signal);
  return fmt::format("it ended with exit code {}", report.code.value_or(-1));
}

}  // namespace

StdioTransport::StdioTransport(IoLoop& loop, McpStdio server, TransportListener& listener,
                               StdioLimits limits)
    : loop_(loop),
      server_(std::move(server)),
      listener_(&listener),
      limits_(limits),
      lines_(limits.message_bytes_max) {}

StdioTransport::~StdioTransport() {
  unwatch_all();
  if (timer_) loop_.cancel(*timer_);
}

void StdioTransport::open() {
  stage_ = Stage::running;
  if (auto started = start(); !started) lost(started.error().message);
}

Result<void> StdioTransport::start() {
  TRY_ASSIGN(Pipe in, make_pipe());
  TRY_ASSIGN(Pipe out, make_pipe());
  TRY_ASSIGN(Pipe err, make_pipe());
  launcher::Spec spec = spec_of(server_.profile, server_.command);
  spec.apart = true;  // Ctrl-C is for the runtime, which then closes the server gracefully
  TRY_ASSIGN(Launched launched,
             launch(spec, {.in = in.read.get(), .out = out.write.get(), .err = err.write.get()}));
  launched_.emplace(std::move(launched));
  in_ = std::move(in.write);
  out_ = std::move(out.read);
  err_ = std::move(err.read);
  for (const Descriptor* each : {&in_, &out_, &err_}) set_nonblocking(*each);
  loop_.watch(launched_->control(), POLLIN, [this] { hear_launcher(); });
  loop_.watch(out_.get(), POLLIN, [this] { read_out(); });
  loop_.watch(err_.get(), POLLIN, [this] { read_err(); });
  return {};
}

void StdioTransport::unwatch_all() {
  if (launched_ && launched_->control() >= 0) loop_.unwatch(launched_->control(), POLLIN);
  if (out_) loop_.unwatch(out_.get(), POLLIN);
  if (err_) loop_.unwatch(err_.get(), POLLIN);
  if (in_) loop_.unwatch(in_.get(), POLLOUT);
  if (end_) loop_.unwatch(end_.get(), POLLIN);
}

// Reads one report per call: the connection stays readable while there are more.
void StdioTransport::hear_launcher() {
  const auto text = launched_->report();
  if (!text || text->empty()) return lost("its launcher has ended");
  const LauncherReport report = read_launcher_report(*text);
  if (report.event == "ready" && !launched_->order("go")) return lost("its launcher has ended");
  if (report.event == "refused") return lost(refusal_of(report));
  if (report.event == "execFailed")
    exit_words_ = fmt::format("{} cannot be run: {}", server_.command.front(),
                              std::strerror(static_cast<int>(report.error.value_or(0))));
  if (report.event != "exited") return;
  // All writers have ended, so the available bytes are the complete output.
  if (out_) read_out();
  if (err_) read_err();
  if (exit_words_.empty()) exit_words_ = exit_words(report);
  lost(last_words());
}

std::string StdioTransport::last_words() const {
  std::string_view line = complaints_;
  while (line.ends_with('\n') || line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  if (const std::size_t at = line.rfind('\n'); at != std::string_view::npos)
    line.remove_prefix(at + 1);
  if (line.empty()) return exit_words_;
  return fmt::format("{}; the end of its error output: {}", exit_words_,
                     schema::utf8_prefix(line, kMcpReasonBytesMax));
}

void StdioTransport::read_out() {
  std::string piece(kReadBytes, '\0');
  for (std::size_t reads = 0; reads < kReadsMax && out_; ++reads) {
    const ssize_t size = ::read(out_.get(), piece.data(), piece.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      loop_.unwatch(out_.get(), POLLIN);
      out_ = Descriptor();
      return;  // the launcher reports how it ended
    }
    const bool whole =
        lines_.feed(std::string_view(piece).substr(0, static_cast<std::size_t>(size)),
                    [this](std::string line) {
                      if (listener_ == nullptr) return;
                      if (line.starts_with('{') || line.starts_with('['))
                        listener_->on_message(std::move(line), std::nullopt);
                      else
                        listener_->on_garbage();
                    });
    if (!whole)
      return lost(fmt::format("it sent a line of more than {} bytes", limits_.message_bytes_max));
  }
}

void StdioTransport::read_err() {
  std::string piece(kReadBytes, '\0');
  const ssize_t size = ::read(err_.get(), piece.data(), piece.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    loop_.unwatch(err_.get(), POLLIN);
    err_ = Descriptor();
    return;
  }
  complaints_.append(piece, 0, static_cast<std::size_t>(size));
  if (complaints_.size() > kComplaintBytesMax)
    complaints_.erase(0, complaints_.size() - kComplaintBytesMax);
}

void StdioTransport::send(std::string message, std::optional<std::uint64_t>) {
  if (stage_ != Stage::running || !in_) return;
  message.push_back('\n');
  if (unsent_bytes_ + message.size() > limits_.unsent_bytes_max)
    return lost("it does not read its input");
  unsent_bytes_ += message.size();
  unsent_.push_back(std::move(message));
  if (unsent_.size() == 1) write_in();
}

void StdioTransport::write_in() {
  while (!unsent_.empty()) {
    const std::string_view rest = std::string_view(unsent_.front()).substr(sent_of_first_);
    const ssize_t size = ::write(in_.get(), rest.data(), rest.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) {
      loop_.watch(in_.get(), POLLOUT, [this] { write_in(); });
      return;
    }
    if (size < 0) return close_input();  // it stopped reading; the launcher reports how it ended
    sent_of_first_ += static_cast<std::size_t>(size);
    if (sent_of_first_ < unsent_.front().size()) continue;
    unsent_bytes_ -= unsent_.front().size();
    unsent_.pop_front();
    sent_of_first_ = 0;
  }
  loop_.unwatch(in_.get(), POLLOUT);
  if (stage_ == Stage::closing) close_input();
}

void StdioTransport::close_input() {
  if (!in_) return;
  loop_.unwatch(in_.get(), POLLOUT);
  in_ = Descriptor();
  unsent_.clear();
  unsent_bytes_ = 0;
}

// The connection is unusable: notify the listener and kill what still runs.
void StdioTransport::lost(std::string why) {
  if (stage_ == Stage::over) return;
  if (stage_ == Stage::closing) return end_it();
  stage_ = Stage::closing;
  loop_.post([this, here = std::weak_ptr(here_), why = std::move(why)]() mutable {
    if (here.expired() || listener_ == nullptr) return;
    std::exchange(listener_, nullptr)->on_closed({Code::unavailable, std::move(why), {}}, {});
  });
  end_it();
}

void StdioTransport::close(std::move_only_function<void()> closed) {
  listener_ = nullptr;
  closed_ = std::move(closed);
  if (stage_ == Stage::over || !launched_) return finish();
  if (stage_ == Stage::closing) return;  // already closing
  stage_ = Stage::closing;
  if (unsent_.empty()) close_input();  // else once the rest is written
  timer_ = loop_.after(limits_.exit_wait_ms, [this] { terminate(); });
}

void StdioTransport::terminate() {
  (void)launched_->order(fmt::format("signal {}", SIGTERM));
  timer_ = loop_.after(limits_.terminate_wait_ms, [this] {
    timer_.reset();
    end_it();
  });
}

// When our end of the connection closes, the launcher kills the process tree and exits.
void StdioTransport::end_it() {
  if (timer_) loop_.cancel(*timer_);
  timer_.reset();
  if (end_) return;
  if (!launched_) return finish();
  unwatch_all();
  close_input();
  out_ = Descriptor();
  err_ = Descriptor();
  end_ = launched_->end();
  launched_->close();
  if (!end_) return finish();
  loop_.watch(end_.get(), POLLIN, [this] { finish(); });
}

void StdioTransport::finish() {
  unwatch_all();
  stage_ = Stage::over;
  launched_.reset();
  if (!closed_) return;
  loop_.post([here = std::weak_ptr(here_), closed = std::exchange(closed_, {})]() mutable {
    if (!here.expired()) closed();
  });
}

}  // namespace agentrt::adapters
