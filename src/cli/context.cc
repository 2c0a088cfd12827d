#include "cli/context.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/decisions/keyboard.h"
#include "runtime/data_folder.h"
#include "schema/json.h"
#include "schema/publish_text.h"

namespace agentrt::cli {

Result<std::string> data_folder_of(const Context& context) {
  return runtime::resolve_data_folder(context.arguments.data, context.environment);
}

Result<config::Config> config_of(Context& context, const std::string& cwd) {
  config::ConfigSources sources;
  sources.user = config::user_config_path(context.environment);
  sources.claude = config::claude_config_path(context.environment);
  sources.named = context.arguments.config;
  sources.workspace = cwd;
  auto config = config::load_config(sources, context.environment);
  if (config)
    for (const std::string& line : config->warnings)
      context.output.err(paint("agentrt: ", Paint::yellow, context.output.screen().err_colour) +
                         one_line(line) + "\n");
  return config;
}

// No cleanup: the acknowledged data is in files that no longer exist.
std::function<void(const Error&)> stop_when_gone(Context& context) {
  return [&context](const Error& error) {
    restore_terminal();
    context.output.problem(error);
    std::_Exit(kExitUnavailable);
  };
}

Result<Attachment> attach_plainly(Context& context, Signals& signals) {
  AttachOptions options;
  options.abandon = [&signals] { return signals.count() > 0; };
  if (is_remote(context)) {
    TRY_ASSIGN(options.remote, read_remote(context));
    return Attachment::make(std::move(options));
  }
  TRY_ASSIGN(const std::string data, data_folder_of(context));
  options.data = data;
  options.cwd = context.cwd;
  options.config = config_path_of(context);
  return Attachment::make(std::move(options));
}

std::optional<std::string> config_path_of(const Context& context) {
  if (!context.arguments.config) return std::nullopt;
  std::error_code error;
  return std::filesystem::absolute(*context.arguments.config, error).lexically_normal().string();
}

Result<std::string> read_input(std::size_t bytes_max, std::string_view advice) {
  std::string input;
  std::string piece(64 * 1024, '\0');
  while (true) {
    const ssize_t size = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0)
      return fail(Code::invalid_params, fmt::format("Standard input cannot be read: {}.",
                                                    std::generic_category().message(errno)));
    if (size == 0) return input;
    input.append(piece, 0, static_cast<std::size_t>(size));
    if (input.size() > bytes_max)
      return fail(
          Code::invalid_params,
          fmt::format("Standard input is too long: the limit is {} bytes{}.", bytes_max, advice));
  }
}

Result<std::string> text_or_input(const std::string& text) {
  if (text != "-") return text;
  return read_input(kInputBytesMax, "");
}

Result<std::optional<std::string>> folder_option(std::string_view option,
                                                 const std::optional<std::string>& given) {
  if (!given) return std::nullopt;
  std::error_code error;
  const auto folder = std::filesystem::canonical(*given, error);
  if (error || !std::filesystem::is_directory(folder, error))
    return fail(Code::invalid_params,
                fmt::format("{} {} is not a folder; give a folder that exists.", option, *given));
  return folder.string();
}

void print_json(Context& context, const std::string& json) {
  const bool for_reading = context.form() == Form::text && context.output.screen().out_terminal &&
                           schema::check_json(json).has_value();
  context.output.out(for_reading ? visible_json(schema::pretty(json)) : json + "\n");
}

Timestamp now_of_clock() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

std::string own_key(std::string_view verb) {
  return fmt::format("{} {} {}", verb, ::getpid(), now_of_clock().ms);
}

}  // namespace agentrt::cli
