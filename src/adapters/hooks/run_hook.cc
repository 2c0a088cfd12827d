#include "adapters/hooks/run_hook.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "adapters/process/launch.h"
#include "adapters/process/launcher_report.h"
#include "adapters/process/memory_file.h"
#include "adapters/process/sandbox.h"
#include "base/descriptor.h"
#include "policy/hooks.h"

namespace agentrt::adapters {

using schema::Category;
using schema::HookOutcome;

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kAboveStandard = 10;  // clear of the launcher's fixed descriptors
constexpr std::size_t kReadBytes = 16 * 1024;

HookOutcome failed(Category category, std::string why) {
  HookOutcome outcome;
  outcome.failure = schema::Failure{category, std::move(why), false};
  return outcome;
}

struct Pipe {
  Descriptor ours, theirs;
};
Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail(Code::unavailable, fmt::format("a pipe cannot be created: {}",
                                               std::generic_category().message(errno)));
  Pipe pipe{Descriptor(ends[0]), Descriptor(::fcntl(ends[1], F_DUPFD_CLOEXEC, kAboveStandard))};
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  if (!pipe.theirs) return fail(Code::unavailable, "a pipe cannot be created");
  return pipe;
}

// One output stream of the hook, kept up to a limit.
struct PendingHook {
  Descriptor from;
  std::size_t bytes_max;
  std::string text = {};
  bool more = false;  // more was written than the limit

  // Reads all available bytes. False: end of stream.
  bool read_on() {
    char piece[kReadBytes];
    for (;;) {
      const ssize_t size = ::read(from.get(), piece, sizeof(piece));
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return size < 0 && errno == EAGAIN;
      const std::size_t room = bytes_max - text.size();
      text.append(piece, std::min(room, static_cast<std::size_t>(size)));
      more = more || static_cast<std::size_t>(size) > room;
      if (more) return true;
    }
  }
};

class HookRun {
 public:
  HookRun(const ports::HookRequest& request, Launched launched, Descriptor out, Descriptor err,
          int gone)
      : request_(request),
        launched_(std::move(launched)),
        out_{std::move(out), schema::kHookOutputBytesMax},
        err_{std::move(err), schema::kHookReasonBytesMax},
        gone_(gone),
        until_(Clock::now() + std::chrono::milliseconds(kHookSetupMaxMs)) {}

  std::optional<HookOutcome> to_end() {
    for (;;) {
      pollfd waits[] = {{launched_.control(), POLLIN, 0},
                        {out_.from.get(), POLLIN, 0},
                        {err_.from.get(), POLLIN, 0},
                        {gone_, POLLIN, 0}};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until_ - Clock::now()).count();
      if (left <= 0) return late();
      const int ready = ::poll(waits, std::size(waits), static_cast<int>(left));
      if (ready < 0 && errno != EINTR)
        return failed(Category::internal, "reading the output of the hook failed");
      if (ready <= 0) continue;
      if (waits[3].revents != 0) return std::nullopt;
      if (waits[1].revents != 0 && !out_.read_on()) out_.from = Descriptor();
      if (waits[2].revents != 0) hear_complaints();
      if (out_.more)
        return failed(Category::invalid_input,
                      fmt::format("the hook wrote more than {} bytes and was killed",
                                  schema::kHookOutputBytesMax));
      if (waits[0].revents == 0) continue;
      if (auto outcome = hear_launcher()) return outcome;
    }
  }

 private:
  // Keeps the beginning of stderr. Reads and drops the rest, so that the hook does not block.
  void hear_complaints() {
    const bool open = err_.read_on();
    if (err_.more) {
      char piece[kReadBytes];
      while (::read(err_.from.get(), piece, sizeof(piece)) > 0) {
      }
    } else if (!open) {
      err_.from = Descriptor();
    }
  }

  HookOutcome late() const {
    if (!released_)
      return failed(Category::sandbox, fmt::format("the sandbox of the hook was not ready within "
                                                   "{} s",
                                                   kHookSetupMaxMs / 1'000));
    return failed(
        Category::timeout,
        fmt::format("the hook took longer than {} ms and was killed with its child processes",
                    request_.hook.timeout_ms));
  }

  std::optional<HookOutcome> hear_launcher() {
    const auto text = launched_.report();
    if (!text || text->empty())
      return failed(Category::lost, "the launcher ended without reporting the outcome of the hook");
    const LauncherReport report = read_launcher_report(*text);
    if (report.event == "refused") return failed(Category::sandbox, refusal_of(report));
    if (report.event == "ready") {
      if (!launched_.order("go"))
        return failed(Category::lost, "the launcher ended before the hook was started");
      released_ = true;
      until_ = Clock::now() + std::chrono::milliseconds(request_.hook.timeout_ms);
    }
    if (report.event != "exited") return std::nullopt;
    // All writers have ended, so the available bytes are the complete output.
    if (out_.from) out_.read_on();
    if (err_.from) hear_complaints();
    if (out_.more)
      return failed(Category::invalid_input,
                    fmt::format("the hook wrote more than {} bytes", schema::kHookOutputBytesMax));
    return policy::hook_outcome(request_.hook, request_.input,
                                {.exit_code = report.code,
                                 .signal = report.signal,
                                 .out = std::move(out_.text),
                                 .err = std::move(err_.text)});
  }

  const ports::HookRequest& request_;
  Launched launched_;  // its destructor ends whatever still runs
  PendingHook out_, err_;
  int gone_;
  Clock::time_point until_;
  bool released_ = false;
};

launcher::Spec spec_of_hook(const ports::HookRequest& request,
                            const schema::SandboxProfile& profile) {
  launcher::Spec spec = spec_of(profile, {"/bin/bash", "-c", request.hook.command});
  spec.env.push_back(fmt::format("AGENTRT_HOOK_POINT={}", schema::name_of(request.hook.point)));
  if (request.hook.dialect == schema::HookDialect::claude)
    spec.env.push_back("CLAUDE_PROJECT_DIR=" + request.input.cwd);
  return spec;
}

Result<std::optional<HookOutcome>> run(const ports::HookRequest& request,
                                       const schema::SandboxProfile& profile, int gone) {
  const std::string text = policy::hook_input(request.input, request.hook.dialect);
  if (text.size() > schema::kHookInputBytesMax)
    return failed(
        Category::invalid_input,
        fmt::format("the input for the hook is larger than {} bytes", schema::kHookInputBytesMax));
  TRY_ASSIGN(const Descriptor input, file_in_memory("agentrt-hook", text + "\n"));
  TRY_ASSIGN(Pipe out, make_pipe());
  TRY_ASSIGN(Pipe err, make_pipe());
  TRY_ASSIGN(Launched launched,
             launch(spec_of_hook(request, profile),
                    {.in = input.get(), .out = out.theirs.get(), .err = err.theirs.get()}));
  return HookRun(request, std::move(launched), std::move(out.ours), std::move(err.ours), gone)
      .to_end();
}

}  // namespace

std::optional<HookOutcome> run_hook(const ports::HookRequest& request,
                                    const schema::SandboxProfile& profile, int gone) {
  const auto began = Clock::now();
  auto outcome = run(request, profile, gone);
  if (!outcome) outcome = failed(Category::sandbox, outcome.error().message);
  if (!*outcome) return std::nullopt;
  (*outcome)->duration_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count();
  return *std::move(outcome);
}

}  // namespace agentrt::adapters
