#include "cli/chat/commands.h"

#include <doctest/doctest.h>

#include "cli/views/terminal.h"

using namespace agentrt::cli;

TEST_CASE("one line that begins with a slash and a word is a slash command") {
  CHECK(is_slash("/help"));
  CHECK(is_slash("/mode  auto "));
  CHECK(is_slash("/nonsense"));
  CHECK_FALSE(is_slash("/"));
  CHECK_FALSE(is_slash("/usr/bin is a folder"));
  CHECK_FALSE(is_slash(" /help"));
  CHECK_FALSE(is_slash("/help\nmore"));
  CHECK_FALSE(is_slash("help"));
}

TEST_CASE("commands are parsed with their argument, and may be shortened") {
  CHECK(read_slash("/mode  auto ")->slash == Slash::mode);
  CHECK(read_slash("/mode  auto ")->argument == "auto");
  CHECK_FALSE(read_slash("/q"));
  CHECK(read_slash("/qui")->slash == Slash::quit);
  CHECK(read_slash("/con")->slash == Slash::continue_turn);
  CHECK(read_slash("/rename a title of words")->argument == "a title of words");
  CHECK(read_slash("/nonsense").error().message.contains("/help"));
  CHECK(read_slash("/re").error().message.contains("/resume"));
}

TEST_CASE("numbers count from one") {
  CHECK(*read_number("3", "wrong") == 3);
  CHECK(*read_number("#12", "wrong") == 12);
  CHECK(read_number("0", "wrong").error().message == "wrong");
  CHECK_FALSE(read_number("", "wrong"));
  CHECK_FALSE(read_number("2x", "wrong"));
}

TEST_CASE("completion finds the commands with a beginning, and what they share") {
  CHECK(completions_of("/mo").size() == 2);
  CHECK(common_start(completions_of("/mo")) == "/mode");
  CHECK(completions_of("/zzz").empty());
  CHECK(completions_of("/").size() == slash_commands().size());
}

TEST_CASE("the help lists every command") {
  const std::string help = help_text(80, false);
  for (const SlashCommand& command : slash_commands()) CHECK(help.contains(command.name));
  const std::string narrow = help_text(20, false);
  for (std::size_t from = 0; from < narrow.size();) {
    const std::size_t end = narrow.find('\n', from);
    CHECK(width_of(narrow.substr(from, end - from)) <= 20);
    from = end + 1;
  }
}
