#include "cli/chat/status.h"

#include <doctest/doctest.h>

using namespace agentrt::cli;

TEST_CASE("the status line shows what is known, and the important parts where it is narrow") {
  StatusFacts facts;
  facts.model = "main";
  CHECK(status_text(facts, 80, Colour::off) == "main");
  facts.mode = "on_request";
  facts.sandbox = "workspace_write";
  facts.context_tokens = 3'000;
  facts.context_max = 10'000;
  facts.input_tokens = 12'345;
  facts.output_tokens = 999;
  facts.cost_micros = 1'270'000;
  facts.queued = 2;
  CHECK(status_text(facts, 120, Colour::off) ==
        "main · mode on_request · sandbox workspace_write · context 30% · 12.3k in 999 out · cost "
        "1.27 · 2 queued");
  CHECK(status_text(facts, 80, Colour::off) ==
        "main · on_request · workspace_write · context 30% · cost 1.27 · 2 queued");
  facts.waiting = "answer needed";
  CHECK(status_text(facts, 30, Colour::off) == "answer needed · on_request");
  for (std::size_t width = 1; width < 130; ++width)
    CHECK(width_of(status_text(facts, width, Colour::off)) <= width);
  facts.sandbox = "full_access";
  CHECK(status_text(facts, 120, Colour::off).contains("NO SANDBOX"));
}

TEST_CASE("numbers are short") {
  CHECK(spoken_count(999) == "999");
  CHECK(spoken_count(1'234) == "1.2k");
  CHECK(spoken_count(1'250'000) == "1.2M");
  CHECK(spoken_cost(1'270'000) == "1.27");
  CHECK(spoken_cost(42'000) == "0.04");
  CHECK(spoken_cost(4'200) == "0.0042");
  CHECK(spoken_cost(42) == "0.000042");
  CHECK(spoken_cost(0) == "0.00");
}

TEST_CASE("a notification is a bell, or one of the desktop, or nothing") {
  using agentrt::config::Notify;
  CHECK(notification(Notify::bell, "x") == "\a");
  CHECK(notification(Notify::osc9, "an answer\x1b is needed") ==
        "\x1b]9;agentrt: an answer\\x1b is needed\a\a");
  CHECK(notification(Notify::off, "x").empty());
}
