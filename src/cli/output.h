// cli/output.h: the output streams of the command line, its exit codes, and error messages.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/views/terminal.h"

namespace agentrt::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNeedsPerson = 3;
inline constexpr int kExitUnavailable = 4;
inline constexpr int kExitInterrupted = 130;

enum class Form { text, json };

// The exit code for an error that ended a command.
int exit_code_of(const Error& error);
// The error as text for a person, or as the JSON object of --json; ends with a newline. Text is
// wrapped to the width of a terminal; 0: it is one line.
std::string error_text(const Error& error, Form form, Colour colour, std::size_t width = 0);

class Output {
 public:
  Output(Screen screen, Form form) : screen_(screen), form_(form) {}

  const Screen& screen() const { return screen_; }
  Form form() const { return form_; }

  // Unbuffered. False once the reader of standard output is gone.
  bool out(std::string_view text);
  void err(std::string_view text);
  // One dim line on standard error; omitted with --json or without a terminal.
  void hint(std::string_view text);
  // One or more lines on standard error that a person must not miss; omitted with --json.
  void note(std::string_view text);
  // Prints the error and returns its exit code.
  int problem(const Error& error);

 private:
  Screen screen_;
  Form form_;
  bool broken_ = false;
};

}  // namespace agentrt::cli
