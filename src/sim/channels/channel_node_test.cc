// sim/channels/channel_node_test.cc: channels on the simulated runtime: what ends them, and what
// is stored of them.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "sim/checks.h"
#include "sim/node.h"
#include "state/index.h"

namespace agentrt::sim {
namespace {

const SessionId kSession{"s"};
const ChannelId kChannel{"c"};
constexpr std::int64_t kDayMs = 24LL * 3'600 * 1'000;

struct Started {
  ChannelId channel_id;
  std::string resume_token;
  Sequence sequence = 0;
};
BOOST_DESCRIBE_STRUCT(Started, (), (channel_id, resume_token, sequence))

Started connect(Node& node, std::string_view more = "") {
  (void)node.ask("create_session", R"({"sessionId":"s"})");
  const auto reply =
      node.ask("connect_channel", fmt::format(R"({{"sessionId":"s","channelId":"c"{}}})", more));
  Started out;
  REQUIRE(reply.has_value());
  REQUIRE(schema::from_json(*reply, out, schema::Unknown::ignore));
  return out;
}

void lose(Node& node, Sequence since) {
  node.kernel().channel_lost(kSession,
                             {.channel = kChannel,
                              .since = since,
                              .reason = schema::ChannelEnd::connection_lost,
                              .last_seen_at = node.time().now()},
                             {});
  node.settle();
}

void pass(Node& node, std::int64_t ms) {
  const std::int64_t until = node.time().monotonic_ms() + ms;
  while (node.step_until(until)) {
  }
}

std::string status(Node& node) {
  const auto row = node.store().find(std::string(state::kChannelKind), kChannel.text());
  REQUIRE((row && *row));
  return (*row)->row.status;
}

std::string code_of(const ports::Reply& reply) {
  return reply ? "accepted" : std::string(code_name(reply.error().code));
}

}  // namespace

TEST_CASE("a channel that stays disconnected for a week is closed, by elapsed time") {
  Node node{{}};
  node.start();
  const Started started = connect(node);
  lose(node, started.sequence);
  node.time().jump(30 * kDayMs);  // the wall clock is set forward
  pass(node, 2 * 3'600 * 1'000);
  CHECK(status(node) == "disconnected");
  node.crash();
  node.start();
  pass(node, 6 * kDayMs);
  CHECK(status(node) == "disconnected");
  pass(node, kDayMs + 3'600 * 1'000);
  CHECK(status(node) == "closed");
  CHECK(
      code_of(node.ask("reconnect_channel", fmt::format(R"({{"channelId":"c","resumeToken":"{}"}})",
                                                        started.resume_token))) == "expired");
  const auto found = node.store().cursors({&kChannel, 1});
  CHECK(found->empty());
  CHECK_FALSE(check_index(node.store(), kSession));
}

TEST_CASE("a revoked token closes its channels, connected or not") {
  Node node{{}};
  node.start();
  lose(node, connect(node).sequence);
  node.kernel().close_channels_of("p");
  node.settle();
  CHECK(status(node) == "closed");
}

TEST_CASE("an acknowledgement loads no session and writes no event") {
  Node::Options options;
  options.limits.idle_sessions_max = 0;
  Node node{options};
  node.start();
  (void)connect(node);
  const auto before = node.log(kSession).size();
  const std::uint64_t loaded = node.metrics().sessions_loaded;
  const auto reply = node.ask("ack_events", R"({"channelId":"c","sequence":2})");
  CHECK(reply == ports::Reply{R"({"channelId":"c","acknowledgedSequence":2,"headSequence":2})"});
  CHECK(node.metrics().sessions_loaded == loaded);
  CHECK(node.log(kSession).size() == before);
  node.crash();
  node.start();
  CHECK(node.store().cursors({&kChannel, 1})->front().acknowledged == 2);
}

TEST_CASE("resumptions of a channel are limited per minute, failed ones included") {
  Node::Options options;
  options.limits.resumes_per_minute = 3;
  Node node{options};
  node.start();
  (void)connect(node);
  const auto resume = [&] {
    return code_of(node.ask("reconnect_channel", R"({"channelId":"c","resumeToken":"x"})"));
  };
  for (int i = 0; i < 3; ++i) CHECK(resume() == "forbidden");
  CHECK(resume() == "limit_exceeded");
  pass(node, 60'000);
  CHECK(resume() == "forbidden");
}

TEST_CASE("a resume token is stored nowhere") {
  Node node{{}};
  node.start();
  const std::string token = connect(node).resume_token;
  CHECK(token.size() == std::string("resume_").size() + 64);
  for (const schema::StoredEvent& event : node.log(kSession)) {
    CHECK_FALSE(event.payload.contains(token));
    CHECK_FALSE(event.scope.contains(token));
  }
  const auto cursor = node.store().cursors({&kChannel, 1})->front();
  CHECK_FALSE(cursor.resume_hash.contains(token.substr(7)));
}

TEST_CASE("the previous resume token survives a crash before the reply") {
  Node node{{}};
  node.start();
  const std::string token = connect(node).resume_token;
  const std::string params = fmt::format(R"({{"channelId":"c","resumeToken":"{}"}})", token);
  const auto lost = node.send("reconnect_channel", params);
  for (int i = 0; i < 500 && !lost->has_value(); ++i) node.step();
  node.crash();
  node.start();
  CHECK(code_of(node.ask("reconnect_channel", params)) == "accepted");
  CHECK_FALSE(check_judged(node.log(kSession)));
}

TEST_CASE("a snapshot in the reply is as of the facts that the command wrote") {
  Node node{{}};
  node.start();
  (void)node.ask("create_session", R"({"sessionId":"s"})");
  const auto reply = node.ask("connect_channel", R"({"sessionId":"s","channelId":"c"})");
  REQUIRE(reply.has_value());
  CHECK(reply->contains(R"("afterSequence":2,)"));
  CHECK(reply->contains(R"("asOfSequence":2)"));
}

}  // namespace agentrt::sim
