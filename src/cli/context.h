// cli/context.h: the context of every command: arguments, environment, output; and shared helpers.
#pragma once

#include <functional>
#include <string>

#include "cli/arguments.h"
#include "cli/attach.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "config/config.h"

namespace agentrt::cli {

struct Context {
  Arguments arguments;
  config::Environment environment;
  std::string cwd;  // of the process, absolute
  Output output;

  Form form() const { return arguments.json ? Form::json : Form::text; }
};

Result<std::string> data_folder_of(const Context& context);
// The configuration for the workspace `cwd`, with --config; prints its warnings.
Result<config::Config> config_of(Context& context, const std::string& cwd);
// What ends an owner, with its sentence and exit code, when the data folder has gone.
std::function<void(const Error&)> stop_when_gone(Context& context);
// Attaches a command that only needs a runtime. Any signal abandons it.
Result<Attachment> attach_plainly(Context& context, Signals& signals);
// `text`, or standard input if it is "-", at most kInputBytesMax.
Result<std::string> text_or_input(const std::string& text);
// All of standard input. Errors: invalid_params (more than `bytes_max`, with `advice`).
Result<std::string> read_input(std::size_t bytes_max, std::string_view advice);
// The folder named by the option, absolute and without symlinks; nullopt: the option is absent.
// Errors: invalid_params: not a folder.
Result<std::optional<std::string>> folder_option(std::string_view option,
                                                 const std::optional<std::string>& given);
// --config as an absolute path.
std::optional<std::string> config_path_of(const Context& context);
// Prints one JSON value: on one line, or indented on a terminal.
void print_json(Context& context, const std::string& json);
Timestamp now_of_clock();
// An idempotency key for what this process sends, so that sending it again has no second effect.
std::string own_key(std::string_view verb);

inline constexpr std::size_t kInputBytesMax = 2 << 20;
// Less than kInputBytesMax, so that there is room for the lines that enclose it in the prompt.
inline constexpr std::size_t kPipedBytesMax = kInputBytesMax - 1'024;

// Performs one command that talks to a runtime: attaches, lets `work` do it, and turns errors and
// signals into the exit code. Where the owner of the data folder leaves meanwhile, `work` is run
// again with the next one, unless `repeat` forbids it.
template <class Work>
int with_runtime(Context& context, Work work, Repeat repeat = Repeat::may) {
  Signals signals;
  auto attachment = attach_plainly(context, signals);
  if (!attachment) {
    if (signals.count() > 0) return kExitInterrupted;
    return context.output.problem(attachment.error());
  }
  const Result<int> done =
      attachment->perform(signals, repeat, [&] { return work(attachment->client(), signals); });
  if (!done && signals.count() > 0) return kExitInterrupted;
  return done ? *done : context.output.problem(done.error());
}

}  // namespace agentrt::cli
