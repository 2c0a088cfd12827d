#include "sim/channels/channel_story.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/channels/story_peer.h"
#include "sim/node.h"
#include "sim/store_over.h"
#include "sim/virtual_time.h"
#include "state/channels.h"

namespace agentrt::sim {
namespace {

using channels::AttachmentPtr;
using schema::ChannelEnd;

constexpr std::uint64_t kActions = 120;
constexpr std::size_t kPeers = 3;
constexpr std::uint64_t kTurnsMax = 12;
constexpr std::int64_t kRestMs = 120'000;
const SessionId kSession{"s"};

constexpr std::array kDefects = {
    ChannelDefect{ChannelPlant::ack_goes_back, "ack_goes_back", 10},
    ChannelDefect{ChannelPlant::replay_off_by_one, "replay_off_by_one", 10},
    ChannelDefect{ChannelPlant::silent_gap, "silent_gap", 10},
    ChannelDefect{ChannelPlant::resume_token_reused, "resume_token_reused", 20},
    ChannelDefect{ChannelPlant::disconnect_completes_work, "disconnect_completes_work", 10},
    ChannelDefect{ChannelPlant::answer_crosses_channels, "answer_crosses_channels", 20},
};

// The members of a reply that a client reads.
struct Started {
  ChannelId channel_id;
  std::string resume_token;
  GenerationId generation;
  Sequence after_sequence = 0;
  Sequence acknowledged_sequence = 0;
  std::optional<schema::ReplayGap> gap;
};
BOOST_DESCRIBE_STRUCT(Started, (),
                      (channel_id, resume_token, generation, after_sequence, acknowledged_sequence,
                       gap))

// How a client names its position.
struct Asked {
  std::string token;
  std::optional<Sequence> after;
  bool other_generation = false;
  bool from_snapshot = false;
};

// Changes what is stored beside the log on its way from the store.
class WrongCursors final : public StoreOver {
 public:
  WrongCursors(store::Store& inner, ChannelPlant plant) : StoreOver(inner), plant_(plant) {}

  Result<std::vector<schema::ChannelCursor>> cursors(std::span<const ChannelId> channels) override {
    TRY_ASSIGN(auto found, inner().cursors(channels));
    for (schema::ChannelCursor& cursor : found) {
      if (plant_ == ChannelPlant::ack_goes_back) cursor.acknowledged /= 2;
      if (plant_ == ChannelPlant::replay_off_by_one) ++cursor.acknowledged;
      if (plant_ != ChannelPlant::resume_token_reused) continue;
      const auto [first, fresh] = first_.try_emplace(cursor.channel, cursor.resume_hash);
      if (!fresh) cursor.resume_hash_used = first->second;
    }
    return found;
  }

 private:
  const ChannelPlant plant_;
  std::map<ChannelId, std::string> first_;
};

// The core as the desk sees it.
class Core final : public ports::CommandSink, public ports::ChannelPlane {
 public:
  Core(Node& node, ChannelPlant plant) : node_(node), plant_(plant) {}

  void call(ports::Authorized<schema::Command> command, ports::ReplyTo reply_to) override {
    if (plant_ != ChannelPlant::silent_gap)
      return node_.kernel().call(std::move(command), std::move(reply_to));
    node_.kernel().call(
        std::move(command), [reply_to = std::move(reply_to)](ports::Reply reply) mutable {
          const std::size_t at = reply ? reply->find(R"(,"gap":{)") : std::string::npos;
          if (at != std::string::npos) reply->erase(at, reply->find('}', at) + 1 - at);
          reply_to(std::move(reply));
        });
  }
  void listen_channels(std::function<void(const ports::ChannelNotice&)> listener) override {
    node_.kernel().listen_channels(std::move(listener));
  }
  void channel_lost(SessionId session, schema::ReportChannelLost report,
                    ports::Step stored) override {
    node_.kernel().channel_lost(std::move(session), std::move(report), std::move(stored));
    if (plant_ == ChannelPlant::disconnect_completes_work)
      for (int thread = 0; thread < 2; ++thread)
        node_.call("interrupt_turn", fmt::format(R"({{"sessionId":"s","threadId":"t{}"}})", thread),
                   "p0", [](const ports::Reply&) {});
  }
  void close_channels_of(std::string token) override {
    node_.kernel().close_channels_of(std::move(token));
  }

 private:
  Node& node_;
  const ChannelPlant plant_;
};

class ChannelStory final : public channels::SubscriberHost {
 public:
  ChannelStory(std::uint64_t seed, ChannelPlant plant)
      : dice_(seed * 0x9e3779b97f4a7c15ULL + 11),
        plant_(plant),
        node_(options(seed, plant)),
        core_(node_, plant) {
    limits_.page_events_max = 7;
    open_desk();
  }

  Checked run() {
    node_.ask("create_session", R"({"sessionId":"s"})");
    for (std::uint64_t i = 0; i < kActions && !broken_; ++i) act();
    if (!broken_) pass(kRestMs);
    if (!broken_) finish();
    if (!broken_) check();
    return broken_;
  }

 private:
  struct Place {
    StoryPeer::Memory memory;
    std::shared_ptr<StoryPeer> peer;  // null: no connection
    bool busy = false;                // a connect or reconnect is in progress
    Sequence sent_ack = 0;            // the newest acknowledgement that was sent
  };

  Node::Options options(std::uint64_t seed, ChannelPlant plant) {
    Node::Options out;
    out.seed = seed;
    out.policy.mode = schema::PermissionMode::default_;
    out.answers = {{{"Looking."}, 5, {}, {"make"}}, {{"Done."}, 5, {}, {}}};
    out.settings.after_restart = control::AfterRestart::resume;
    out.limits.resumes_per_minute = 1'000;
    out.limits.snapshot_every_facts = 20;
    out.limits.idle_sessions_max = 0;
    out.seams.published = [this](const ports::FeedBatch& batch) { published(batch); };
    if (plant != ChannelPlant::none)
      out.seams.store = [plant](store::MemoryStore& memory) {
        return std::make_unique<WrongCursors>(memory, plant);
      };
    return out;
  }

  void open_desk() {
    inbox_ = std::make_shared<channels::Inbox>([this] { woken_ = true; });
    desk_.emplace(
        channels::ChannelDesk::Parts{.sink = core_,
                                     .plane = &core_,
                                     .inbox = inbox_,
                                     .metrics = node_.metrics(),
                                     .now = [this] { return node_.time().now(); },
                                     .expired = [](const channels::Identity&) { return false; },
                                     .limits = channel_limits_});
    desk_->listen();
  }

  void break_with(std::string_view what, std::string how) {
    if (!broken_) broken_ = Violation{std::string(what), std::move(how)};
  }

  // --- time ---

  bool step_until(std::int64_t until_ms) {
    const bool stepped = node_.step_until(until_ms);
    if (std::exchange(woken_, false)) inbox_->drain();
    return stepped || woken_;
  }
  void pass(std::int64_t ms) {
    const std::int64_t until = node_.time().monotonic_ms() + ms;
    while (!broken_ && step_until(until)) {
    }
    desk_->tick(channels::Clock::now());
  }
  std::uint64_t below(std::uint64_t bound) { return dice_.below(bound); }

  // --- actions ---

  void act() {
    Place& place = places_[below(kPeers)];
    switch (below(20)) {
      case 0:
      case 1:
        return submit();
      case 2:
      case 3:
      case 4:
      case 5:
        return begin(place);
      case 6:
      case 7:
      case 8:
        return acknowledge(place);
      case 9:
      case 10:
        return lose(place);
      case 11:
      case 12:
      case 13:
        return answer(place);
      case 14:
        return reuse_token(place);
      case 15:
        if (below(4) == 0) return crash();
        return pass(static_cast<std::int64_t>(below(50)));
      case 16:
        if (below(6) == 0) return close(place);
        return pass(static_cast<std::int64_t>(below(50)));
      default:
        return pass(static_cast<std::int64_t>(below(below(3) == 0 ? 2'000 : 20)));
    }
  }

  void submit() {
    if (turns_ >= kTurnsMax) return;
    node_.call("submit_turn",
               fmt::format(R"({{"sessionId":"s","threadId":"t{}","turnId":"u{}",)"
                           R"("input":[{{"type":"text","text":"go"}}]}})",
                           below(2), turns_),
               "p0", [](const ports::Reply&) {});
    ++turns_;
  }

  channels::RequestOrigin origin() {
    channels::RequestOrigin out;
    out.transport = schema::Transport::websocket;
    out.connection = std::make_shared<ports::ConnectionChannels>();
    return out;
  }
  std::shared_ptr<const channels::Identity> identity(const Place& place) const {
    const auto number = static_cast<std::size_t>(&place - places_.data());
    return std::make_shared<const channels::Identity>(
        channels::Identity{fmt::format("tok{}", number), {schema::TokenScope::admin}, {}, {}, {}});
  }

  // Connects, or resumes over a new connection: mostly after the old one was lost.
  void begin(Place& place) {
    if (place.busy) return;
    place.busy = true;
    if (place.peer) place.peer->hang_up();
    auto peer = std::make_shared<StoryPeer>(
        place.memory, [this](Violation v) { break_with(v.invariant, v.what); });
    place.peer = peer;
    const bool fresh = place.memory.channel.empty();
    Asked asked;
    schema::Command command;
    if (fresh) {
      schema::ConnectChannel connect{.session_id = kSession};
      connect.capabilities = {schema::ChannelCapability::streaming,
                              schema::ChannelCapability::resume,
                              schema::ChannelCapability::permissions};
      if (below(3) == 0) connect.ack_window = 5 + below(20);
      command = connect;
    } else {
      command = resume_of(place, asked);
    }
    desk_->start(
        std::move(command), identity(place), origin(), peer,
        [this, &place, peer, fresh, asked](ports::Reply reply, const AttachmentPtr& attachment) {
          started(place, peer, fresh, asked, std::move(reply), attachment);
        });
  }
  schema::Command resume_of(const Place& place, Asked& asked) {
    asked.token = place.memory.token;
    schema::ReconnectChannel out{.channel_id = place.memory.channel, .resume_token = asked.token};
    if (below(2) == 0) asked.after = place.memory.position;
    if (below(12) == 0) asked.after = place.memory.position + 1'000;
    out.after_sequence = asked.after;
    if (below(2) == 0) out.generation = place.memory.generation;
    asked.other_generation = below(12) == 0;
    if (asked.other_generation) out.generation = GenerationId{"gen_other"};
    asked.from_snapshot = below(8) == 0;
    if (asked.from_snapshot) out.replay = schema::Replay::none;
    return out;
  }

  void started(Place& place, const std::shared_ptr<StoryPeer>& peer, bool fresh, const Asked& asked,
               ports::Reply reply, const AttachmentPtr& attachment) {
    place.busy = false;
    if (!reply) {
      const Code code = reply.error().code;
      if (!fresh && (code == Code::forbidden || code == Code::not_found))
        break_with("tokens", "the newest resume token is refused: " + reply.error().message);
      if (code == Code::conflict && !fresh) place.memory = {};  // closed
      return;
    }
    Started read;
    check_read(schema::from_json(*reply, read, schema::Unknown::ignore));
    StoryPeer::Memory& memory = place.memory;
    if (!fresh) check_start(place, asked, read);
    // All tokens but the new one and the one that was just used are void now.
    if (!fresh && memory.token != asked.token) memory.old_tokens.push_back(memory.token);
    if (!fresh && !memory.used.empty() && memory.used != asked.token)
      memory.old_tokens.push_back(memory.used);
    memory.used = asked.token;
    memory.channel = read.channel_id;
    memory.token = read.resume_token;
    memory.generation = read.generation;
    memory.position = read.after_sequence;
    memory.acknowledged = std::max(memory.acknowledged, read.acknowledged_sequence);
    place.sent_ack = std::max(place.sent_ack, read.acknowledged_sequence);
    if (!attachment || peer->ended()) return;
    peer->follow(std::make_shared<channels::Subscriber>(
        channels::StreamStart{.session = kSession,
                              .after = attachment->after,
                              .generation = {},
                              .types = {},
                              .from_end = false,
                              .through = attachment->through()},
        channels::StreamKind{}, *this, limits_, node_.metrics()));
    want_page(peer->stream());
    desk_->ready(*attachment);
  }
  void check_start(const Place& place, const Asked& asked, const Started& reply) {
    const StoryPeer::Memory& memory = place.memory;
    if (reply.acknowledged_sequence < memory.acknowledged)
      break_with("acknowledgements", fmt::format("{} was acknowledged, and now it is {}",
                                                 memory.acknowledged, reply.acknowledged_sequence));
    if (reply.gap || asked.from_snapshot) return;
    if (asked.other_generation) break_with("gaps", "another generation is resumed without a gap");
    if (asked.after && *asked.after != reply.after_sequence)
      break_with("gaps", fmt::format("asked for events after {}, and got those after {}",
                                     *asked.after, reply.after_sequence));
    if (!asked.after && reply.after_sequence > std::max(place.sent_ack, memory.acknowledged))
      break_with("gaps", fmt::format("events after {} were not acknowledged, and those after {} "
                                     "follow",
                                     place.sent_ack, reply.after_sequence));
  }
  void check_read(const Result<void>& read) {
    if (!read) break_with("replies", read.error().message);
  }

  void acknowledge(Place& place) {
    StoryPeer::Memory& memory = place.memory;
    if (memory.channel.empty() || memory.position == 0) return;
    const Sequence sequence = below(4) == 0 ? below(memory.position + 1) : memory.position;
    place.sent_ack = std::max(place.sent_ack, sequence);
    schema::AckEvents command{.channel_id = memory.channel, .sequence = sequence};
    if (below(3) == 0) command.generation = memory.generation;
    auto allowed = channels::Authorization::command(identity(place).get(), command, {});
    desk_->call(*std::move(allowed), [this, &memory, channel = memory.channel,
                                      floor = memory.acknowledged](const ports::Reply& reply) {
      schema::AckEventsReply read;
      if (!reply || !schema::from_json(*reply, read, schema::Unknown::ignore)) return;
      if (memory.channel != channel) return;
      if (read.acknowledged_sequence < floor)
        break_with("acknowledgements", fmt::format("{} was acknowledged, and the reply says {}",
                                                   floor, read.acknowledged_sequence));
      memory.acknowledged = std::max(memory.acknowledged, read.acknowledged_sequence);
    });
  }

  void lose(Place& place) {
    if (!place.peer) return;
    const auto peer = std::exchange(place.peer, nullptr);
    peer->hang_up();
    if (below(2) == 0) desk_->lost_peer(*peer, ChannelEnd::connection_lost);
    // Otherwise the desk notices it later.
  }

  void close(Place& place) {
    if (place.memory.channel.empty() || place.busy) return;
    node_.call("disconnect_channel",
               fmt::format(R"({{"channelId":"{}"}})", place.memory.channel.text()), "p0",
               [](const ports::Reply&) {});
    if (place.peer) place.peer->hang_up();
    place.peer.reset();
    place.memory = {};
    place.sent_ack = 0;
  }

  void answer(Place& place) {
    if (!place.peer || place.peer->asked.empty()) return;
    const ActionId action = *place.peer->asked.begin();
    place.peer->asked.erase(place.peer->asked.begin());
    answered_[action].insert(place.memory.channel);
    ChannelId over = place.memory.channel;
    if (plant_ == ChannelPlant::answer_crosses_channels)
      for (const Place& other : places_)
        if (other.peer && !other.memory.channel.empty() && other.memory.channel != over)
          over = other.memory.channel;
    desk_->answer(over, action,
                  below(8) == 0 ? R"({"decision":"perhaps"})" : R"({"decision":"allow"})");
  }

  void reuse_token(Place& place) {
    const StoryPeer::Memory& memory = place.memory;
    if (memory.old_tokens.empty() || place.busy) return;
    const std::string& token = memory.old_tokens[below(memory.old_tokens.size())];
    auto allowed = channels::Authorization::command(
        identity(place).get(),
        schema::ReconnectChannel{.channel_id = memory.channel, .resume_token = token}, origin());
    node_.kernel().call(*std::move(allowed), [this](const ports::Reply& reply) {
      if (reply) break_with("tokens", "a resume token works that was replaced");
    });
  }

  void crash() {
    for (Place& place : places_) {
      if (place.peer) place.peer->hang_up();
      place.peer.reset();
      place.busy = false;
    }
    inbox_->close();
    desk_.reset();
    node_.crash();
    node_.start();
    open_desk();
  }

  // --- delivery ---

  void published(const ports::FeedBatch& batch) {
    auto frames = std::make_shared<channels::Frames>();
    for (const ports::FeedEvent& event : *batch)
      if (event.event.session == kSession) frames->add(event, {});
    if (frames->count() == 0) return;
    for (const Place& place : places_)
      if (place.peer) place.peer->offer(frames);
  }
  void want_page(const std::shared_ptr<channels::Subscriber>& subscriber) override {
    node_.kernel().read({kSession,
                         subscriber->sent(),
                         limits_.page_events_max,
                         limits_.page_bytes_max,
                         {},
                         {},
                         false},
                        [this, reader = std::weak_ptr(subscriber)](Result<ports::Page> page) {
                          Result<channels::FramesPage> out = std::unexpected(Error{});
                          if (page) {
                            auto frames = std::make_shared<channels::Frames>();
                            for (const auto& event : page->events) frames->add(event, {});
                            out = channels::FramesPage{frames, page->more, page->reached};
                          } else {
                            out = std::unexpected(std::move(page).error());
                          }
                          inbox_->post([this, reader, out = std::move(out)]() mutable {
                            const auto whose = reader.lock();
                            for (const Place& place : places_)
                              if (whose && place.peer && place.peer->stream() == whose)
                                return place.peer->page_arrived(std::move(out));
                          });
                        });
  }

  // --- the end ---

  // Every peer comes back, reads everything and answers until nothing is open.
  void finish() {
    for (int round = 0; round < 400 && !broken_; ++round) {
      if (round % 8 == 0 && caught_up()) break;
      for (Place& place : places_) {
        const bool attached = place.peer && !place.peer->ended() && place.peer->stream();
        if (!place.memory.channel.empty() && !attached) begin(place);
        acknowledge(place);
        if (round % 2 == 1) answer(place);
      }
      pass(1'000);
    }
    pass(kRestMs);
  }

  bool caught_up() {
    const state::Session view = node_.replayed(kSession);
    return std::ranges::all_of(places_, [&](const Place& place) {
      return place.memory.channel.empty() || !view.channels.contains(place.memory.channel) ||
             (place.memory.position == view.sequence && (!place.peer || place.peer->asked.empty()));
    });
  }

  void check() {
    const auto log = node_.log(kSession);
    if (auto broken = check_judged(log)) return fail_with(*broken);
    const state::Session view = node_.replayed(kSession);
    for (const Place& place : places_)
      if (!place.memory.channel.empty() && view.channels.contains(place.memory.channel) &&
          place.memory.position != view.sequence)
        break_with(invariant::kStreams,
                   fmt::format("{} has events up to {} of {}", place.memory.channel.text(),
                               place.memory.position, view.sequence));
    for (const schema::StoredEvent& event : log) check_fact(*schema::decode(event));
    if (auto broken = check_snapshot(node_.store(), view)) return fail_with(*broken);
    if (auto broken = check_index(node_.store(), kSession)) fail_with(*broken);
  }
  void check_fact(const schema::Fact& fact) {
    if (const auto* failed = std::get_if<schema::TurnFailed>(&fact.payload);
        failed && failed->status == schema::Status::cancelled)
      break_with(invariant::kHangups, "a turn was cancelled, and no client asked for that");
    const auto* returned = std::get_if<schema::ChannelPermissionReturned>(&fact.payload);
    if (returned && returned->decided_by == schema::kDecidedRemotely &&
        !answered_[fact.ids.action_id].contains(fact.ids.channel_id))
      break_with("answers", fmt::format("{} is said to have answered {}",
                                        fact.ids.channel_id.text(), fact.ids.action_id.text()));
  }
  void fail_with(const Violation& violation) { break_with(violation.invariant, violation.what); }

  Random dice_;
  const ChannelPlant plant_;
  Checked broken_;
  channels::StreamLimits limits_;
  const channels::ChannelLimits channel_limits_;
  std::array<Place, kPeers> places_;
  std::map<ActionId, std::set<ChannelId>> answered_;  // by which peers
  Node node_;
  Core core_;
  bool woken_ = false;
  std::shared_ptr<channels::Inbox> inbox_;
  std::optional<channels::ChannelDesk> desk_;
  std::uint64_t turns_ = 0;
};

}  // namespace

std::span<const ChannelDefect> channel_defects() { return kDefects; }

Checked run_channel_story(std::uint64_t seed, ChannelPlant plant) {
  return ChannelStory{seed, plant}.run();
}

}  // namespace agentrt::sim
