#include "cli/turns/piped_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "schema/utf8.h"

namespace agentrt::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kQuickMs = 200;  // most writers have begun by then; other processes are not examined

bool begins_within(int ms) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, ms) != 0;
}

// "pipe:[123]", as the links of open files name it.
std::string target_of(pid_t process, int fd) {
  std::error_code error;
  return fs::read_symlink(fmt::format("/proc/{}/fd/{}", process, fd), error).string();
}

pid_t parent_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string stat;
  std::getline(file, stat);
  const std::size_t name = stat.rfind(')');  // then the state and the parent
  pid_t parent = 0;
  if (name != stat.npos && stat.size() > name + 4)
    (void)std::from_chars(stat.data() + name + 4, stat.data() + stat.size(), parent);
  return parent;
}

std::vector<pid_t> ancestors() {
  std::vector<pid_t> out;
  for (pid_t at = ::getppid(); at > 0 && std::ranges::find(out, at) == out.end();
       at = parent_of(at))
    out.push_back(at);
  return out;
}

// Whether another process of a pipeline writes to this pipe.
bool has_producer(const std::string& pipe) {
  const std::vector<pid_t> above = ancestors();
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    pid_t process = 0;
    const auto [_, bad] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (bad != std::errc() || process == ::getpid()) continue;
    if (std::ranges::find(above, process) != above.end()) continue;
    if (target_of(process, STDOUT_FILENO) == pipe || target_of(process, STDERR_FILENO) == pipe)
      return true;
  }
  return false;
}

// How long to wait for the first byte; -1: without limit.
int patience_ms() {
  const std::string input = target_of(::getpid(), STDIN_FILENO);
  if (input.starts_with("pipe:") && has_producer(input)) return -1;
  return target_of(::getppid(), STDIN_FILENO) == input ? kPassedOnMs : kGivenMs;
}

// 0: it has begun or ended, or it is no pipe and no socket. Otherwise the time after which it was
// given up.
int silent_ms(Output& output) {
  struct stat kind{};
  if (::fstat(STDIN_FILENO, &kind) != 0) return 0;
  if (!S_ISFIFO(kind.st_mode) && !S_ISSOCK(kind.st_mode)) return 0;
  if (begins_within(kQuickMs)) return 0;
  const int limit = patience_ms();
  if (begins_within((limit < 0 ? kGivenMs : limit) - kQuickMs)) return 0;
  if (limit >= 0) return limit;
  output.hint("· waiting for standard input, which another process writes");
  (void)begins_within(-1);
  return 0;
}

}  // namespace

Result<std::optional<std::string>> piped_input(Output& output) {
  if (output.screen().in_terminal || ::fcntl(STDIN_FILENO, F_GETFD) < 0) return std::nullopt;
  if (const int silent = silent_ms(output); silent > 0) {
    output.note(
        fmt::format("standard input sent nothing for {} s and is ignored; pipe it to "
                    "agentrt run - to wait for it, or use < /dev/null",
                    silent / 1'000));
    return std::nullopt;
  }
  TRY_ASSIGN(std::string input,
             read_input(kPipedBytesMax, "; store it in a file and attach it with --file"));
  if (input.empty()) return std::nullopt;
  if (schema::valid_utf8(input) != input)
    return fail(Code::invalid_params,
                "Standard input is not UTF-8 text; store it in a file and attach it with --file, "
                "or use < /dev/null.");
  return input;
}

}  // namespace agentrt::cli
