#include "cli/output.h"

#include <unistd.h>

#include <cerrno>

#include "cli/views/layout.h"
#include "schema/json.h"

namespace agentrt::cli {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

int exit_code_of(const Error& error) {
  switch (error.code) {
    case Code::invalid_params:
      return kExitUsage;
    case Code::unavailable:
    case Code::overloaded:
    case Code::storage_full:
    case Code::timeout:
    case Code::unauthenticated:
      return kExitUnavailable;
    default:
      return kExitFailed;
  }
}

std::string error_text(const Error& error, Form form, Colour colour, std::size_t width) {
  std::string out;
  if (form == Form::json) {
    out = R"({"error":)";
    schema::write_error(out, error);
    return out + "}\n";
  }
  std::string sentence = one_line(error.message);
  if (!sentence.empty() && !sentence.ends_with('.') && !sentence.ends_with('?') &&
      !sentence.ends_with('\'') && !sentence.ends_with('"'))
    sentence += '.';
  constexpr std::string_view kName = "agentrt: ";
  constexpr std::string_view kCommand = ": agentrt ";
  if (width == 0) return paint(kName, Paint::red, colour) + sentence + "\n";
  // A command to copy gets a line of its own, which only the terminal breaks.
  std::string command;
  if (const std::size_t at = sentence.rfind(kCommand); at != sentence.npos) {
    command = sentence.substr(at + 2);
    sentence.resize(at + 1);
  }
  const std::vector<std::string> lines =
      prose_lines(sentence, width > kName.size() + 2 ? width - kName.size() : 0);
  for (std::size_t i = 0; i < lines.size(); ++i)
    out += (i == 0 ? paint(kName, Paint::red, colour) : "  ") + lines[i] + "\n";
  return command.empty() ? out : out + "  " + command + "\n";
}

bool Output::out(std::string_view text) {
  const bool escaped = form_ == Form::json && screen_.out_terminal;
  if (!broken_ && !write_all(STDOUT_FILENO, escaped ? visible_json(text) : std::string(text)))
    broken_ = true;
  return !broken_;
}

void Output::err(std::string_view text) { write_all(STDERR_FILENO, text); }

void Output::hint(std::string_view text) {
  if (form_ == Form::json || !screen_.err_terminal) return;
  err(paint(text, Paint::dim, screen_.err_colour) + "\n");
}

void Output::note(std::string_view text) {
  if (form_ == Form::json) return;
  const std::size_t width = screen_.err_terminal ? terminal_width(screen_.width) : 0;
  std::string out;
  for (const std::string& line : prose_lines(one_line(text), width > 2 ? width - 2 : 0))
    out += paint((out.empty() ? "· " : "  ") + line, Paint::yellow, screen_.err_colour) + "\n";
  err(out);
}

int Output::problem(const Error& error) {
  err(error_text(error, form_, screen_.err_colour,
                 screen_.err_terminal ? terminal_width(screen_.width) : 0));
  return exit_code_of(error);
}

}  // namespace agentrt::cli
