// control/channels/channels_test.cc: tests how channels are connected, resumed, closed, and asked
// about actions.
#include <doctest/doctest.h>

#include <map>

#include "control/channels/channels.h"
#include "control/testing/given_calls.h"

namespace agentrt::control {

using namespace schema;
using state::Given;

namespace {

const GenerationId kGeneration{"gen_1"};
const ChannelId kChannel{"chan_1"};

// A session and what the kernel keeps beside it.
class Line {
 public:
  explicit Line(const Given& past) : view(past.view()), now(past.now()) {}

  template <class What>
  Outcome decide(const What& what, const std::string& principal = "tok_1") {
    Inputs in = inputs_at(now);
    in.boot = boot;
    in.ids = FreshIds{now, ++seed_};
    in.principal = principal;
    in.sender = sender;
    in.sender.account = principal;
    in.channel = over;
    in.channel_named = named;
    in.generation = generation;
    in.secret = std::string(32, static_cast<char>(++seed_));
    in.named.cursors = cursors;
    in.named.peer_task = peer_task;
    if (const auto& closed = view.closed_channel)
      in.named.channel = state::channel_snapshot(view.id, *closed);
    in.settings = &settings;
    Outcome out = when(view, what, std::move(in));
    view = out.after;
    if (const auto* accepted = std::get_if<Accepted>(&out.decision))
      for (const ChannelCursor& cursor : accepted->cursors) cursors[cursor.channel] = cursor;
    return out;
  }
  StartedChannel started(const Outcome& outcome) const { return outcome.reply<StartedChannel>(); }

  StartedChannel connect(std::vector<ChannelCapability> capabilities = {
                             ChannelCapability::streaming, ChannelCapability::resume}) {
    ConnectChannel command{.session_id = state::kSession, .channel_id = kChannel};
    command.capabilities = std::move(capabilities);
    return started(decide(Command{command}));
  }
  Outcome resume(const std::string& token, std::optional<Sequence> after = {}) {
    return decide(Command{
        ReconnectChannel{.channel_id = kChannel, .resume_token = token, .after_sequence = after}});
  }
  Outcome lose(ChannelEnd reason = ChannelEnd::connection_lost) {
    return decide(Report{ReportChannelLost{.channel = kChannel,
                                           .since = view.channels.at(kChannel).since,
                                           .reason = reason,
                                           .last_seen_at = now}});
  }
  void acknowledge(Sequence sequence) { cursors.at(kChannel).acknowledged = sequence; }

  state::Session view;
  Timestamp now;
  BootId boot = state::kBoot;
  Settings settings = usual_settings();
  Sender sender{.account = {},
                .transport = Transport::websocket,
                .submits = true,
                .approves = true,
                .administers = false,
                .adapter = false};
  ChannelId over;
  bool named = false;
  GenerationId generation = kGeneration;
  std::map<ChannelId, ChannelCursor> cursors;
  std::optional<PeerTaskSnapshot> peer_task;

 private:
  std::uint64_t seed_ = 10;
};

Given idle_session() {
  return Given{}.session().thread_started().running("1").asked("1").completed("1");
}

constexpr std::initializer_list<ChannelCapability> kDeciding = {
    ChannelCapability::streaming, ChannelCapability::resume, ChannelCapability::permissions};

// Asks for the permission to run a command.
Outcome ask(Line& line) {
  line.decide(Report{asks_for({"ls"})});
  return line.decide(Report{inspected_of(line.view)});
}

Line waiting_line() { return Line{asked_under(policy_in(PermissionMode::default_))}; }

}  // namespace

TEST_CASE("connect_channel stores the identity and starts delivery at the snapshot") {
  Line line{idle_session()};
  const Sequence head = line.view.sequence;
  const StartedChannel reply = line.connect();
  CHECK(reply.channel_id == kChannel);
  CHECK(reply.transport == Transport::websocket);
  CHECK(reply.capabilities == std::vector<std::string>{"streaming", "resume"});
  CHECK(reply.sequence == head + 1);
  CHECK(reply.after_sequence == head + 1);
  CHECK(reply.from_snapshot);
  CHECK_FALSE(reply.replay);
  CHECK(reply.resume_token->starts_with("resume_"));
  const state::Channel& channel = line.view.channels.at(kChannel);
  CHECK(channel.connected);
  CHECK(channel.account_ref == "tok_1");
  CHECK(channel.resume_token_ref == "resume_token:1");
  CHECK(line.cursors.at(kChannel).acknowledged == head + 1);
  CHECK(line.cursors.at(kChannel).resume_hash.size() == 32);
  CHECK_FALSE(to_json(line.view).contains(*reply.resume_token));
}

TEST_CASE("connect_channel replays from a given sequence and acknowledges up to it") {
  Line line{idle_session()};
  const Sequence head = line.view.sequence;
  ConnectChannel command{.session_id = state::kSession, .channel_id = kChannel};
  command.after_sequence = 2;
  const StartedChannel reply = line.started(line.decide(Command{command}));
  CHECK(reply.after_sequence == 2);
  CHECK(reply.replay == ReplayRange{3, head + 1});
  CHECK(line.cursors.at(kChannel).acknowledged == 2);
  command.channel_id = ChannelId{"chan_2"};
  command.after_sequence = head + 9;
  CHECK(line.decide(Command{command}).shape() == "refused: gone");
}

TEST_CASE("connect_channel grants what token and transport allow, and refuses what it must") {
  Line line{idle_session()};
  line.sender.approves = false;
  line.sender.submits = false;
  const auto all = std::vector{ChannelCapability::streaming, ChannelCapability::permissions,
                               ChannelCapability::files, ChannelCapability::artifacts,
                               ChannelCapability::task_delegation};
  CHECK(line.connect(all).capabilities == std::vector<std::string>{"streaming", "artifacts"});
  const auto shape = [&](auto change) {
    ConnectChannel command{.session_id = state::kSession, .channel_id = ChannelId{"chan_2"}};
    change(command);
    return line.decide(Command{command}).shape();
  };
  CHECK(shape([](auto& c) { c.transport = Transport::stdio; }) == "refused: invalid_params");
  CHECK(shape([](auto& c) { c.peer_role = PeerRole::peer_agent; }) == "refused: forbidden");
  CHECK(shape([](auto& c) { c.ack_window = 0; }) == "refused: invalid_params");
  CHECK(shape([](auto& c) { c.heartbeat_ms = 999; }) == "refused: invalid_params");
  CHECK(shape([](auto& c) { c.native_ids = Json{"[]"}; }) == "refused: invalid_params");
  line.settings.channels_max = 1;
  CHECK(shape([](auto&) {}) == "refused: limit_exceeded");
  line.settings.channels_max = 64;
  line.over = kChannel;  // the connection carries this channel already
  CHECK(shape([](auto&) {}) == "refused: conflict");
  line.over = {};
  line.sender.adapter = true;
  CHECK(shape([](auto& c) { c.peer_role = PeerRole::peer_agent; }) == "channel.connected");
}

TEST_CASE("a client of POST /v1/commands may ask for server-sent events, which can push") {
  Line line{idle_session()};
  line.sender.transport = Transport::http_json;
  ConnectChannel command{.session_id = state::kSession, .channel_id = kChannel};
  command.capabilities = kDeciding;
  CHECK(line.started(line.decide(Command{command})).capabilities ==
        std::vector<std::string>{"streaming", "resume"});
  command.channel_id = ChannelId{"chan_2"};
  command.transport = Transport::sse;
  const StartedChannel reply = line.started(line.decide(Command{command}));
  CHECK(reply.transport == Transport::sse);
  CHECK(reply.capabilities.size() == 3);
}

TEST_CASE("a resumption continues after what was acknowledged, or where the client says") {
  Line line{idle_session()};
  const StartedChannel first = line.connect();
  CHECK(line.lose().shape() == "channel.disconnected");
  line.acknowledge(4);
  const Outcome second = line.resume(*first.resume_token);
  CHECK(second.shape() == "channel.resumed");
  CHECK(line.started(second).after_sequence == 4);
  CHECK(second.payload_of<ChannelResumed>().replayed_to == second.facts.back().sequence - 1);
  const Outcome third = line.resume(*line.started(second).resume_token, 6);
  CHECK(third.shape() == "channel.disconnected channel.resumed");
  CHECK(third.payload_of<ChannelDisconnected>().reason == "replaced");
  CHECK(line.started(third).after_sequence == 6);
  CHECK(line.cursors.at(kChannel).acknowledged == 6);
  const Outcome fourth =
      line.decide(Command{ReconnectChannel{.channel_id = kChannel,
                                           .resume_token = *line.started(third).resume_token,
                                           .replay = Replay::none}});
  CHECK(line.started(fourth).from_snapshot);
  CHECK(line.cursors.at(kChannel).acknowledged == 6);
}

TEST_CASE("the previous resume token works until the new one is used") {
  Line line{idle_session()};
  const std::string first = *line.connect().resume_token;
  const std::string lost = *line.started(line.resume(first)).resume_token;
  const std::string second = *line.started(line.resume(first)).resume_token;  // the reply was lost
  CHECK(line.resume(lost).shape() == "refused: forbidden");
  CHECK(line.resume(second).shape() == "channel.disconnected channel.resumed");
  CHECK(line.resume(first).shape() == "refused: forbidden");
  CHECK(line.resume("resume_0").shape() == "refused: forbidden");
}

TEST_CASE("a resume token belongs to the token that created the channel") {
  Line line{idle_session()};
  const std::string token = *line.connect().resume_token;
  const ReconnectChannel command{.channel_id = kChannel, .resume_token = token};
  CHECK(line.decide(Command{command}, "tok_2").shape() == "refused: forbidden");
}

TEST_CASE("what cannot be delivered is a gap that the log, the reply and the resumption name") {
  Line line{idle_session()};
  const std::string token = *line.connect().resume_token;
  line.lose();
  const Sequence head = line.view.sequence;
  SUBCASE("a sequence of the future") {
    const Outcome resumed = line.resume(token, head + 5);
    CHECK(resumed.shape() == "snapshot.repaired channel.resumed");
    const ReplayGap gap{head + 1, head + 5, "future_sequence"};
    CHECK(resumed.payload_of<SnapshotRepaired>().gap == gap);
    CHECK(resumed.payload_of<SnapshotRepaired>().as_of_sequence == head);
    CHECK(resumed.payload_of<ChannelResumed>().gap == gap);
    CHECK(line.started(resumed).gap == gap);
    CHECK(line.started(resumed).after_sequence == head + 2);
    CHECK(resumed.fact_of<SnapshotRepaired>().ids.channel_id == kChannel);
  }
  SUBCASE("another generation") {
    line.generation = GenerationId{"gen_2"};
    const Outcome resumed = line.resume(token, 3);
    CHECK(line.started(resumed).gap == ReplayGap{1, head + 2, "other_generation"});
    CHECK(line.started(resumed).after_sequence == head + 2);
    CHECK(line.cursors.at(kChannel).acknowledged == head + 2);
    CHECK(line.cursors.at(kChannel).generation == line.generation);
  }
  SUBCASE("the client names the generation that it knows") {
    const Outcome resumed = line.decide(Command{ReconnectChannel{.channel_id = kChannel,
                                                                 .resume_token = token,
                                                                 .after_sequence = 3,
                                                                 .generation = GenerationId{"x"}}});
    CHECK(line.started(resumed).gap->reason == "other_generation");
  }
}

TEST_CASE("a disconnection is final if the channel cannot resume, or by its reason") {
  Line line{idle_session()};
  line.connect({ChannelCapability::streaming});
  CHECK(line.lose().shape() == "channel.disconnected");
  CHECK(line.view.channels.empty());
  CHECK(line.resume("resume_x").shape() == "refused: conflict");
}

TEST_CASE("disconnect_channel closes, and repeating it changes nothing") {
  Line line{idle_session()};
  const std::string token = *line.connect().resume_token;
  const Command close{DisconnectChannel{.channel_id = kChannel, .reason = "done"}};
  const Outcome closed = line.decide(close);
  CHECK(closed.payload_of<ChannelDisconnected>().detail == "done");
  CHECK_FALSE(closed.payload_of<ChannelDisconnected>().expires_at);
  CHECK(line.decide(close).shape() == "unchanged");
  CHECK(line.resume(token).shape() == "refused: conflict");
}

TEST_CASE("a channel that nobody resumes expires, and a restart disconnects") {
  Line line{idle_session()};
  const std::string token = *line.connect().resume_token;
  line.boot = BootId{"boot_2"};
  CHECK(line.decide(Report{ReportRestarted{}}).shape() == "channel.disconnected");
  CHECK(line.view.channels.at(kChannel).reason == "runtime_restart");
  CHECK(line.decide(Report{ReportRestarted{}}).shape() == "unchanged");
  CHECK(line.decide(Report{ReportChannelDue{kChannel}}).shape() == "unchanged");
  line.now = line.now + line.settings.channel_expire_ms;
  CHECK(line.decide(Report{ReportChannelDue{kChannel}}).shape() == "channel.disconnected");
  CHECK(line.view.closed_channel->reason == "expired");
  CHECK(line.resume(token).shape() == "refused: expired");
}

TEST_CASE("a late report about an older connection changes nothing") {
  Line line{idle_session()};
  const StartedChannel first = line.connect();
  line.resume(*first.resume_token);
  const ReportChannelLost late{.channel = kChannel,
                               .since = first.sequence,
                               .reason = ChannelEnd::connection_lost,
                               .last_seen_at = line.now};
  CHECK(line.decide(Report{late}).shape() == "unchanged");
}

TEST_CASE("facts that a command over a channel causes carry its id") {
  Line line{idle_session()};
  line.connect();
  line.over = kChannel;
  SubmitTurn submit;
  submit.session_id = state::kSession;
  submit.thread_id = state::kThread;
  submit.input = {text_part("more")};
  const Outcome outcome = line.decide(Command{submit});
  for (const Fact& fact : outcome.facts) CHECK(fact.ids.channel_id == kChannel);
  CHECK(turn_of(line.view).channel == kChannel);
}

TEST_CASE("a command over a channel that is not connected is refused if the caller named it") {
  Line line{idle_session()};
  line.connect();
  line.lose();
  line.over = kChannel;
  SubmitTurn submit;
  submit.session_id = state::kSession;
  submit.input = {text_part("more")};
  line.named = true;
  CHECK(line.decide(Command{submit}).shape() == "refused: conflict");
  line.over = ChannelId{"chan_x"};
  CHECK(line.decide(Command{submit}).shape() == "refused: not_found");
  line.over = kChannel;
  line.named = false;
  CHECK(line.decide(Command{submit}).facts.front().ids.channel_id.empty());
}

TEST_CASE("an open action is forwarded to each deciding channel and returned once") {
  Line line = waiting_line();
  line.connect(kDeciding);
  ConnectChannel other{.session_id = state::kSession, .channel_id = ChannelId{"chan_2"}};
  other.capabilities = kDeciding;
  line.decide(Command{other});
  const Outcome asked = ask(line);
  const auto forwards = asked.all_of<ChannelPermissionForwarded>();
  REQUIRE(forwards.size() == 2);
  CHECK(forwards.front().digest == turn_of(line.view).action->required.digest);
  CHECK(forwards.front().direction == "out");
  CHECK(line.view.channels.at(kChannel).pending == std::vector{turn_of(line.view).action->id});
  line.over = kChannel;
  const Outcome answered = line.decide(Command{answer_to(line.view, "allow")});
  const auto returns = answered.all_of<ChannelPermissionReturned>();
  REQUIRE(returns.size() == 2);
  CHECK(returns[0].decided_by == "remote");
  CHECK(returns[0].source == "response");
  CHECK(returns[1].decided_by == "local");
  CHECK(returns[1].channel_only == false);
  CHECK(line.view.channels.at(kChannel).pending.empty());
}

TEST_CASE("a channel without permissions, or that is disconnected, is not asked") {
  Line line = waiting_line();
  line.connect();
  CHECK_FALSE(ask(line).shape().contains("channel."));
  Line lost = waiting_line();
  const std::string token = *lost.connect(kDeciding).resume_token;
  lost.lose();
  CHECK_FALSE(ask(lost).shape().contains("channel."));
  const Outcome resumed = lost.resume(token);
  CHECK(resumed.shape() == "channel.resumed channel.permission_forwarded");
  CHECK(lost.started(resumed).pending_actions == std::vector{turn_of(lost.view).action->id});
  lost.lose();
  const Outcome again = lost.resume(*lost.started(resumed).resume_token);
  CHECK(again.shape() == "channel.resumed");
  CHECK(lost.started(again).pending_actions.size() == 1);
}

TEST_CASE("expiry, interrupts and the end of the channel return the permission") {
  Line line = waiting_line();
  line.connect(kDeciding);
  ask(line);
  const ActionId action = turn_of(line.view).action->id;
  SUBCASE("nobody answers in time") {
    const Outcome expired = line.decide(Report{ReportActionExpired{action}});
    CHECK(expired.payload_of<ChannelPermissionReturned>().source == "timeout");
    CHECK(expired.payload_of<ChannelPermissionReturned>().decision == "expired");
  }
  SUBCASE("the turn is interrupted") {
    const Outcome interrupted = line.decide(Command{InterruptTurn{.session_id = state::kSession}});
    CHECK(interrupted.payload_of<ChannelPermissionReturned>().source == "cancelled");
  }
  SUBCASE("the channel is closed: the action stays open") {
    const Outcome closed = line.decide(Command{DisconnectChannel{.channel_id = kChannel}});
    CHECK(closed.shape() == "channel.permission_returned channel.disconnected");
    CHECK(closed.payload_of<ChannelPermissionReturned>().source == "cancelled");
    CHECK(turn_of(line.view).action->id == action);
  }
  SUBCASE("the token is revoked") {
    const Outcome revoked = line.lose(ChannelEnd::token_revoked);
    CHECK(revoked.payload_of<ChannelPermissionReturned>().source == "auth_failure");
    CHECK(turn_of(line.view).action->id == action);
  }
  SUBCASE("a rule that was added meanwhile denies the call") {
    line.decide(Command{
        SetPolicy{.session_id = state::kSession, .deny = std::vector<std::string>{"shell(ls)"}}});
    line.over = kChannel;
    const Outcome answered = line.decide(Command{answer_to(line.view, "allow")});
    const auto returned = answered.payload_of<ChannelPermissionReturned>();
    CHECK(returned.source == "policy_deny");
    CHECK(returned.decision == "deny");
    CHECK(returned.decided_by == "local");
  }
}

TEST_CASE("an answer for the channel holds for its turns alone, until it closes") {
  Line line = waiting_line();
  line.connect(kDeciding);
  ask(line);
  RespondAction answer = answer_to(line.view, "allow");
  answer.scope = AnswerScope::channel;
  CHECK(line.decide(Command{answer}).shape() == "refused: invalid_params");
  line.over = kChannel;
  const Outcome answered = line.decide(Command{answer});
  CHECK(answered.payload_of<ChannelPermissionReturned>().channel_only == true);
  CHECK(answered.payload_of<ChannelPermissionReturned>().scope == "channel");
  REQUIRE(line.view.granted.size() == 1);
  CHECK(line.view.granted.front().channel_id == kChannel);
  CHECK(line.view.granted.front().origin == RuleOrigin::channel);
  const auto decision = [&](std::optional<ChannelId> of) {
    state::Turn turn = turn_of(line.view);
    turn.channel = std::move(of);
    policy::RuleSets sets;
    return effective_policy(line.view, turn, usual_settings().home, sets).rules;
  };
  CHECK(decision(kChannel) != decision({}));
  line.over = {};
  const Outcome closed = line.decide(Command{DisconnectChannel{.channel_id = kChannel}});
  CHECK(closed.shape() == "policy.changed channel.disconnected");
  CHECK(line.view.granted.empty());
}

TEST_CASE("messages are recorded while connected, with a ref if they are longer than a preview") {
  Line line{idle_session()};
  line.connect();
  SendChannelMessage send{.channel_id = kChannel, .kind = "status", .text = "here"};
  const Outcome brief = line.decide(Command{send});
  CHECK(brief.payload_of<ChannelMessage>().preview == "here");
  CHECK_FALSE(brief.reply<ChannelMessageReply>().message_ref);
  send.text = std::string(2'000, 'x');
  const Outcome whole = line.decide(Command{send});
  CHECK(whole.payload_of<ChannelMessage>().text == send.text);
  CHECK(whole.reply<ChannelMessageReply>().message_ref ==
        "log:" + std::to_string(whole.facts.back().sequence));
  send.text = std::string(kChannelMessageBytesMax + 1, 'x');
  CHECK(line.decide(Command{send}).shape() == "refused: too_large");
  send.text = "out";
  send.direction = MessageDirection::out;
  CHECK(line.decide(Command{send}).shape() == "refused: forbidden");
  line.lose();
  send.direction = {};
  CHECK(line.decide(Command{send}).shape() == "refused: conflict");
}

TEST_CASE("a peer's task needs its link, and its state is recorded when it changes") {
  Line line{idle_session()};
  line.connect();
  const TaskId task{"task_1"};
  UpdatePeerTask update{.channel_id = kChannel, .task_id = task, .remote_status = "working"};
  CHECK(line.decide(Command{update}).shape() == "refused: not_found");
  line.peer_task = PeerTaskSnapshot{.channel_id = kChannel,
                                    .task_id = task,
                                    .native_protocol = "a2a",
                                    .remote_task_id = "theirs"};
  update.recovery = PeerRecovery::waiting;
  const Outcome updated = line.decide(Command{update});
  CHECK(updated.shape() == "channel.peer_task.updated");
  CHECK(updated.payload_of<ChannelPeerTaskUpdated>().remote_task_id == "theirs");
  CHECK(updated.payload_of<ChannelPeerTaskUpdated>().recovery == "waiting");
  line.peer_task->remote_status = "working";
  line.peer_task->recovery = "waiting";
  CHECK(line.decide(Command{update}).shape() == "unchanged");
  const LinkPeerTask wrong{.channel_id = kChannel,
                           .task_id = task,
                           .native_protocol = "a2a",
                           .remote_task_id = "task_1"};
  CHECK(line.decide(Command{wrong}).shape() == "refused: invalid_params");
}

}  // namespace agentrt::control
