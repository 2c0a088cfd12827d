// channels/desk/channel_desk_test.cc: tests which connection a channel uses, whatever the order in
// which replies, notices and ends arrive.
#include "channels/desk/channel_desk.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace agentrt::channels {
namespace {

using namespace std::chrono_literals;
using ports::ChannelNotice;
using schema::ChannelEnd;

// Keeps every command until the test answers it.
struct SlowSink final : ports::CommandSink {
  struct Asked {
    schema::Command command;
    ports::Caller caller;
    ports::ReplyTo reply_to;
  };
  std::vector<Asked> asked;

  void call(ports::Authorized<schema::Command> allowed, ports::ReplyTo reply_to) override {
    auto [command, caller] = std::move(allowed).take();
    asked.push_back({std::move(command), std::move(caller), std::move(reply_to)});
  }
  template <class C>
  std::size_t count() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        asked, [](const Asked& each) { return std::holds_alternative<C>(each.command); }));
  }
  // Answers the oldest command and removes it.
  void answer(ports::Reply reply) {
    REQUIRE_FALSE(asked.empty());
    Asked first = std::move(asked.front());
    asked.erase(asked.begin());
    first.reply_to(std::move(reply));
  }
  // Answers that no action is open.
  void answer_lists() {
    for (std::size_t i = 0; i < asked.size();) {
      if (!std::holds_alternative<schema::ListActions>(asked[i].command)) {
        ++i;
        continue;
      }
      ports::ReplyTo reply_to = std::move(asked[i].reply_to);
      asked.erase(asked.begin() + static_cast<std::ptrdiff_t>(i));
      reply_to(R"({"data":[]})");
    }
  }
};

struct FakePlane final : ports::ChannelPlane {
  std::function<void(const ChannelNotice&)> listener;
  std::vector<schema::ReportChannelLost> lost;
  std::vector<ports::Step> stored;
  std::vector<std::string> closed;

  void listen_channels(std::function<void(const ChannelNotice&)> to) override {
    listener = std::move(to);
  }
  void channel_lost(SessionId, schema::ReportChannelLost report, ports::Step step) override {
    lost.push_back(std::move(report));
    stored.push_back(std::move(step));
  }
  void close_channels_of(std::string token) override { closed.push_back(std::move(token)); }
};

struct FakePeer final : ChannelPeer {
  Instant last = Clock::now();
  std::vector<std::string> got;

  Instant heard() const override { return last; }
  std::optional<ChannelEnd> fault(Instant) override { return std::nullopt; }
  void request_action(const ChannelId&, const ActionRequest& request) override {
    got.push_back("request " + request.action.action_id.text());
  }
  void cancel_action(const ChannelId&, const ActionId& action) override {
    got.push_back("cancel " + action.text());
  }
  void action_refused(const ChannelId&, const ActionId& action, const Error&) override {
    got.push_back("refused " + action.text());
  }
  void may_deliver(const ChannelId&, Sequence through) override {
    got.push_back(fmt::format("through {}", through));
  }
  void ended(const ChannelId&, ChannelEnd reason) override {
    got.push_back("ended " + std::string(schema::name_of(reason)));
  }
};

const ChannelId kChannel{"chan_1"};
const SessionId kSession{"s"};

struct Setup {
  SlowSink sink;
  FakePlane plane;
  ports::Metrics metrics;
  ChannelLimits limits;
  std::shared_ptr<Inbox> inbox = std::make_shared<Inbox>([] {});
  ChannelDesk desk{{.sink = sink,
                    .plane = &plane,
                    .inbox = inbox,
                    .metrics = metrics,
                    .now = [] { return Timestamp{5'000'000}; },
                    .expired = [](const Identity&) { return false; },
                    .limits = limits}};
  std::shared_ptr<const Identity> identity = std::make_shared<const Identity>(
      Identity{"tok_1", {TokenScope::read, TokenScope::approve}, {}, {}});
  std::vector<ports::Reply> replies;

  Setup() { desk.listen(); }

  RequestOrigin origin() {
    RequestOrigin out;
    out.transport = schema::Transport::websocket;
    out.connection = std::make_shared<ports::ConnectionChannels>();
    return out;
  }
  void start(const std::shared_ptr<FakePeer>& peer, bool resumes = false) {
    schema::Command command;
    if (resumes)
      command = schema::ReconnectChannel{.channel_id = kChannel, .resume_token = "t"};
    else
      command = schema::ConnectChannel{.session_id = kSession, .channel_id = kChannel};
    desk.start(std::move(command), identity, origin(), peer,
               [this](ports::Reply reply, const AttachmentPtr& attachment) {
                 replies.push_back(std::move(reply));
                 if (attachment) desk.ready(*attachment);
               });
  }
  void reply(Sequence sequence, std::string more = "") {
    sink.answer(fmt::format(
        R"({{"channelId":"chan_1","sessionId":"s","transport":"websocket",)"
        R"("capabilities":["streaming","resume","permissions"],"generation":"g",)"
        R"("sequence":{},"afterSequence":{},"pendingActions":[],"acknowledgedSequence":3{},)"
        R"("snapshot":{{"channelId":"not this one"}}}})",
        sequence, sequence, more));
    inbox->drain();
  }
  void settle_lists() {
    sink.answer_lists();
    inbox->drain();
  }
  void connected(const std::shared_ptr<FakePeer>& peer, std::string more = "") {
    start(peer);
    reply(7, std::move(more));
    settle_lists();
  }
  void notice(ChannelNotice::What what, Sequence sequence,
              ChannelEnd reason = ChannelEnd::replaced) {
    plane.listener({what, kSession, kChannel, sequence, reason});
    inbox->drain();
  }
};

}  // namespace

TEST_CASE("a notice about an older connection does not end the newer one") {
  Setup s;
  const auto first = std::make_shared<FakePeer>();
  const auto second = std::make_shared<FakePeer>();
  s.connected(first);
  s.start(second, true);
  s.notice(ChannelNotice::What::disconnected, 8);
  CHECK(first->got == std::vector<std::string>{"ended replaced"});
  s.reply(9);
  CHECK(second->got.empty());
  s.notice(ChannelNotice::What::disconnected, 8);
  CHECK(s.desk.attached() == 1);
  s.notice(ChannelNotice::What::disconnected, 10, ChannelEnd::closed);
  CHECK(second->got == std::vector<std::string>{"ended closed"});
  CHECK(s.desk.attached() == 0);
}

TEST_CASE("a notice that arrives before the reply ends the connection with it") {
  Setup s;
  const auto peer = std::make_shared<FakePeer>();
  s.start(peer);
  s.notice(ChannelNotice::What::disconnected, 9, ChannelEnd::closed);
  s.reply(7);
  REQUIRE(s.replies.size() == 1);
  CHECK(s.replies.front().has_value());
  CHECK(peer->got == std::vector<std::string>{"ended closed"});
  CHECK(s.desk.attached() == 0);
}

TEST_CASE("a connection that resumes its own channel is not closed") {
  Setup s;
  const auto peer = std::make_shared<FakePeer>();
  s.connected(peer);
  s.start(peer, true);
  s.notice(ChannelNotice::What::disconnected, 8);
  s.reply(9);
  CHECK(peer->got.empty());
  CHECK(s.desk.attached() == 1);
}

TEST_CASE("commands that attach one channel wait for each other") {
  Setup s;
  const auto first = std::make_shared<FakePeer>();
  const auto second = std::make_shared<FakePeer>();
  s.connected(first);
  s.start(second, true);
  s.start(first, true);
  CHECK(s.sink.count<schema::ReconnectChannel>() == 1);
  s.reply(9);
  CHECK(s.sink.count<schema::ReconnectChannel>() == 1);
  s.settle_lists();
  s.reply(11);
  CHECK(s.replies.size() == 3);
  CHECK(s.desk.attached() == 1);
}

TEST_CASE("a client that is gone before the reply loses the connection at once") {
  Setup s;
  auto peer = std::make_shared<FakePeer>();
  s.start(peer);
  peer.reset();
  s.reply(7);
  REQUIRE(s.plane.lost.size() == 1);
  CHECK(s.plane.lost.front().since == 7);
  CHECK(s.plane.lost.front().reason == ChannelEnd::connection_lost);
}

TEST_CASE("three missed heartbeats end a channel, with the time of the last one") {
  Setup s;
  const auto peer = std::make_shared<FakePeer>();
  s.connected(peer, R"(,"heartbeatMs":1000)");
  const Instant now = Clock::now();
  peer->last = now;
  CHECK(s.desk.tick(now + 3'000ms));
  CHECK(s.plane.lost.empty());
  s.desk.tick(now + 3'001ms);
  REQUIRE(s.plane.lost.size() == 1);
  CHECK(s.plane.lost.front().reason == ChannelEnd::heartbeat_timeout);
  CHECK(s.plane.lost.front().last_seen_at <= Timestamp{5'000'000});
  CHECK(peer->got == std::vector<std::string>{"ended heartbeat_timeout"});
}

TEST_CASE("a revoked token and the end of the runtime report every channel") {
  Setup s;
  const auto peer = std::make_shared<FakePeer>();
  s.connected(peer);
  SUBCASE("revoked") {
    s.desk.revoked("tok_2");
    CHECK(s.plane.lost.empty());
    s.desk.revoked("tok_1");
    CHECK(s.plane.lost.front().reason == ChannelEnd::token_revoked);
    CHECK(s.plane.closed == std::vector<std::string>{"tok_2", "tok_1"});
  }
  SUBCASE("stopped: done when it is stored") {
    bool done = false;
    s.desk.stop([&] { done = true; });
    CHECK(s.plane.lost.front().reason == ChannelEnd::runtime_stopped);
    CHECK_FALSE(done);
    s.plane.stored.front()();
    s.inbox->drain();
    CHECK(done);
  }
}

TEST_CASE("an acknowledgement moves the window of the connection") {
  Setup s;
  const auto peer = std::make_shared<FakePeer>();
  s.connected(peer, R"(,"ackWindow":10)");
  auto allowed = Authorization::command(
      s.identity.get(), schema::AckEvents{.channel_id = kChannel, .sequence = 5}, s.origin());
  s.desk.call(*std::move(allowed), [](const ports::Reply&) {});
  s.sink.answer(R"({"channelId":"chan_1","acknowledgedSequence":5,"headSequence":9})");
  s.inbox->drain();
  CHECK(peer->got == std::vector<std::string>{"through 15"});
}

TEST_CASE("a command over a channel that is not attached, or not the caller's, is refused") {
  Setup s;
  const auto peer = std::make_shared<FakePeer>();
  s.connected(peer);
  const auto code = [&](const Identity& identity, const ChannelId& over, const char* session) {
    RequestOrigin origin;
    origin.channel = over;
    auto allowed = Authorization::command(
        &identity, schema::GetSession{.session_id = SessionId{session}}, std::move(origin));
    std::optional<Code> refused;
    s.desk.call(*std::move(allowed), [&](const ports::Reply& reply) {
      if (!reply) refused = reply.error().code;
    });
    return refused;
  };
  CHECK(code(*s.identity, ChannelId{"chan_2"}, "s") == Code::not_found);
  CHECK(code(*s.identity, kChannel, "t") == Code::not_found);
  CHECK(code({"tok_2", {TokenScope::read}, {}, {}}, kChannel, "s") == Code::not_found);
  CHECK(s.sink.asked.empty());
  CHECK_FALSE(code({"tok_3", {TokenScope::admin}, {}, {}}, kChannel, "s"));
  CHECK(s.sink.asked.front().caller.channel == kChannel);
}

namespace {

std::string open_actions(const std::vector<std::string>& ids) {
  std::string out = R"({"data":[)";
  for (const std::string& id : ids)
    out += fmt::format(R"({}{{"actionId":"{}","sessionId":"s","threadId":"t","turnId":"u",)"
                       R"("status":"open","actionType":"permission","digest":"d",)"
                       R"("requiredAt":"2026-05-08T02:30:00.000Z"}})",
                       out.ends_with('[') ? "" : ",", id);
  return out + "]}";
}

}  // namespace

TEST_CASE("peers are asked about open actions, and told when another client answered") {
  Setup s;
  const auto peer = std::make_shared<FakePeer>();
  s.connected(peer);
  s.notice(ChannelNotice::What::actions, 8);
  s.notice(ChannelNotice::What::actions, 9);  // while the first read is in progress
  CHECK(s.sink.count<schema::ListActions>() == 1);
  s.sink.answer(open_actions({"a", "b"}));
  s.inbox->drain();
  CHECK(peer->got == std::vector<std::string>{"request a", "request b"});
  CHECK(s.sink.count<schema::ListActions>() == 1);
  s.sink.answer(open_actions({"b"}));
  s.inbox->drain();
  CHECK(peer->got.back() == "cancel a");
  CHECK(peer->got.size() == 3);
}

TEST_CASE("a refused answer is asked again three times, and a good one is not cancelled") {
  Setup s;
  const auto peer = std::make_shared<FakePeer>();
  s.connected(peer);
  s.notice(ChannelNotice::What::actions, 8);
  s.sink.answer(open_actions({"a"}));
  s.inbox->drain();
  for (int i = 0; i < 3; ++i) s.desk.answer(kChannel, ActionId{"a"}, R"({"decision":7})");
  CHECK(peer->got == std::vector<std::string>{"request a", "refused a", "request a", "refused a",
                                              "request a", "refused a"});
  peer->got.clear();
  s.desk.answer(kChannel, ActionId{"a"}, R"({"decision":"allow"})");
  REQUIRE(s.sink.count<schema::RespondAction>() == 1);
  CHECK(std::get<schema::RespondAction>(s.sink.asked.front().command).digest == "d");
  s.notice(ChannelNotice::What::actions, 9);
  s.sink.answer("{}");
  s.sink.answer(open_actions({}));
  s.inbox->drain();
  CHECK(peer->got.empty());
}

}  // namespace agentrt::channels
