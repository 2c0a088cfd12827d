// control/outputs_test.cc: tests the facts about stored outputs.
#include <doctest/doctest.h>

#include "control/output_facts.h"
#include "control/testing/given.h"
#include "state/index.h"

namespace agentrt::control {

using namespace schema;
using state::Given;
using state::kSession;

namespace {

KeptOutput kept() {
  KeptOutput output;
  output.ref = OutputRef{"out_1"};
  output.size = 5;
  output.media_type = "text/plain";
  output.encoding = "utf-8";
  output.digest = "sha256:abc";
  output.preview = "hello";
  return output;
}

Given made() {
  Given past;
  return past.fact(SessionScope{kSession}, SessionCreated{.cwd = "/w"});
}

}  // namespace

TEST_CASE("an upload spills once, and a repeat is answered with the first one's sequence") {
  const Outcome outcome = when(made(), Report{ReportUploaded{kept(), {}}});
  CHECK(outcome.shape() == "output.spilled");
  const auto& spilled = outcome.payload_of<OutputSpilled>();
  CHECK(spilled.truncated == false);
  CHECK(spilled.redacted == false);
  CHECK(spilled.expires_at.has_value());
  CHECK(outcome.reply_text().contains(R"("outputRef":"out_1","size":5)"));
  CHECK(outcome.reply_text().ends_with(R"("sequence":2})"));
  const Outcome again = when(made(), Report{ReportUploaded{kept(), 2}});
  CHECK(again.shape() == "unchanged");
  CHECK(again.reply_text() == outcome.reply_text());
}

TEST_CASE("an upload into no session is refused") {
  CHECK(when(Given{}, Report{ReportUploaded{kept(), {}}}).shape() == "refused: not_found");
}

TEST_CASE("what was capped or redacted is said after the spill, in the producer's scope") {
  KeptOutput output = kept();
  output.whole_size = 900;
  output.redacted = {"A", "B"};
  const Outcome outcome = when(made(), Report{ReportUploaded{output, {}}});
  CHECK(outcome.shape() == "output.spilled output.truncated output.redacted");
  CHECK(outcome.payload_of<OutputTruncated>() == OutputTruncated{"out_1", 900, 5});
  CHECK(outcome.payload_of<OutputRedacted>().reason == "secrets: A, B");
  CHECK(outcome.reply_text().ends_with(R"("sequence":2})"));
}

TEST_CASE("an output that is due expires; in a session that is not there nothing happens") {
  const ReportOutputDue due{
      .output_ref = "out_1", .reason = "age", .size = 5, .digest = "sha256:abc", .spilled = 2};
  const Outcome outcome = when(made(), Report{due});
  CHECK(outcome.shape() == "output.expired");
  CHECK(outcome.payload_of<OutputExpired>().spilled_sequence == 2);
  CHECK(when(Given{}, Report{due}).shape() == "unchanged");
}

TEST_CASE("an output's row follows from its facts, and keeps its place when it expires") {
  Given past = made();
  past.fact(
      SessionScope{kSession},
      OutputSpilled{
          .output_ref = "out_1", .size = 5, .media_type = "text/plain", .digest = "sha256:abc"});
  const auto rows = state::index(past.view(), past.log().back());
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kind == kOutputKind);
  CHECK(rows[0].id == "out_1");
  CHECK(rows[0].status == kOutputKept);
  CHECK(rows[0].first == 2);
  past.fact(SessionScope{kSession}, OutputExpired{.output_ref = "out_1",
                                                  .reason = "age",
                                                  .size = 5,
                                                  .digest = "sha256:abc",
                                                  .spilled_sequence = 2});
  const auto after = state::index(past.view(), past.log().back());
  REQUIRE(after.size() == 1);
  CHECK(after[0].status == kOutputExpired);
  CHECK(after[0].first == 2);
  CHECK_FALSE(after[0].open);
}

}  // namespace agentrt::control
