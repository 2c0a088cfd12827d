// cli/output.h: where the command line writes, its exit codes, and how it tells an error.
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
// The error as a person reads it, or as the object that --json promises; ends with a newline.
std::string error_text(const Error& error, Form form, Colour colour);

class Output {
 public:
  Output(Screen screen, Form form) : screen_(screen), form_(form) {}

  const Screen& screen() const { return screen_; }
  Form form() const { return form_; }

  // Written at once. False once the reader of standard output is gone.
  bool out(std::string_view text);
  void err(std::string_view text);
  // One dim line on standard error, for people only.
  void hint(std::string_view text);
  // Tells the error; returns the exit code.
  int problem(const Error& error);

 private:
  Screen screen_;
  Form form_;
  bool broken_ = false;
};

}  // namespace agentrt::cli
