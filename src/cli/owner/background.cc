#include "cli/owner/background.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "runtime/data_folder.h"
#include "schema/codec.h"

namespace agentrt::cli {
namespace {

constexpr int kPollSliceMs = 50;
constexpr std::size_t kReportBytesMax = 64 * 1024;

// What the owner writes into the pipe.
struct StartReport {
  std::optional<bool> ready;
  std::optional<std::string> code;
  std::optional<std::string> message;
  std::optional<schema::Json> details;
};
BOOST_DESCRIBE_STRUCT(StartReport, (), (ready, code, message, details))

std::string reason(int error) { return std::generic_category().message(error); }

Result<Descriptor> open_log(const std::string& data) {
  const std::string path = runtime::owner_log_path(data);
  struct stat found{};
  const bool anew = ::stat(path.c_str(), &found) == 0 && found.st_size > kOwnerLogBytesMax;
  Descriptor log(
      ::open(path.c_str(),
             O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | (anew ? O_TRUNC : 0), 0600));
  if (!log)
    return fail(Code::unavailable, fmt::format("{} cannot be written: {}.", path, reason(errno)));
  return log;
}

// In the forked child: only async-signal-safe calls, no memory is allocated.
[[noreturn]] void become_owner(int log, int pipe, char* const* argv) {
  if (::setsid() < 0) ::_exit(127);
  const pid_t owner = ::fork();  // never a session leader: it cannot get a controlling terminal
  if (owner != 0) ::_exit(owner < 0 ? 127 : 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Signals that the client ignores, for example under nohup, must still end the owner.
  for (const int each : {SIGTERM, SIGINT, SIGHUP}) (void)::signal(each, SIG_DFL);
  const int null = ::open("/dev/null", O_RDONLY);
  if (::chdir("/") != 0 || null < 0 || ::dup2(null, STDIN_FILENO) < 0 ||
      ::dup2(log, STDOUT_FILENO) < 0 || ::dup2(log, STDERR_FILENO) < 0)
    ::_exit(127);
  const bool moved =
      pipe == kReportFd ? ::fcntl(pipe, F_SETFD, 0) == 0 : ::dup2(pipe, kReportFd) == kReportFd;
  // Nothing else of the client stays open: a pipe held by the owner would never end.
  if (!moved || ::close_range(kReportFd + 1, ~0U, 0) != 0) ::_exit(127);
  ::execv("/proc/self/exe", argv);
  ::_exit(127);
}

Result<std::string> read_report(int fd, const BackgroundOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(kOwnerReadyMs);
  std::string report;
  std::array<char, 4'096> bytes{};
  while (report.size() < kReportBytesMax) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, kPollSliceMs);
    if (ready <= 0) {
      if (options.abandon && options.abandon())
        return fail(Code::unavailable, "The start was given up.");
      if (Clock::now() < deadline) continue;
      return fail(Code::unavailable,
                  fmt::format("The owner of the data folder {} does not become ready; see {}.",
                              options.data, runtime::owner_log_path(options.data)));
    }
    const ssize_t size = ::read(fd, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    report.append(bytes.data(), static_cast<std::size_t>(size));
    if (report.ends_with('\n')) break;
  }
  return report;
}

Result<void> outcome_of(const std::string& text, const std::string& data) {
  StartReport report;
  const bool read = schema::check_json(text) &&
                    schema::from_json(text, report, schema::Unknown::ignore).has_value();
  if (read && report.ready.value_or(false)) return {};
  if (!read || !report.code || !report.message)
    return fail(Code::unavailable,
                fmt::format("The owner of the data folder {} ended before it was ready; see {}.",
                            data, runtime::owner_log_path(data)));
  return std::unexpected(Error{code_of(*report.code).value_or(Code::internal), *report.message,
                               report.details ? report.details->text : ""});
}

}  // namespace

Result<void> start_background_owner(const BackgroundOptions& options) {
  TRY(runtime::make_data_folder(options.data));
  TRY_ASSIGN(const Descriptor log, open_log(options.data));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(Code::unavailable, fmt::format("No pipe can be made: {}.", reason(errno)));
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  std::vector<std::string> words{"agentrt", "own", "--data", options.data};
  if (options.config) words.insert(words.end(), {"--config", *options.config});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child < 0)
    return fail(Code::unavailable, fmt::format("No process can be started: {}.", reason(errno)));
  if (child == 0) become_owner(log.get(), writing.get(), argv.data());
  writing = Descriptor();
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  TRY_ASSIGN(const std::string report, read_report(reading.get(), options));
  return outcome_of(report, options.data);
}

void report_start(const Result<void>& outcome) {
  StartReport report;
  if (outcome) {
    report.ready = true;
  } else {
    report.code = std::string(code_name(outcome.error().code));
    report.message = outcome.error().message;
    if (!outcome.error().details.empty()) report.details = schema::Json{outcome.error().details};
  }
  const std::string text = schema::to_json(report) + "\n";
  (void)!::write(kReportFd, text.data(), text.size());  // a command that has left needs no report
  ::close(kReportFd);
}

}  // namespace agentrt::cli
