#include "sim/followers.h"

#include <charconv>

#include <fmt/format.h>

namespace agentrt::sim {
namespace {

channels::StreamLimits narrow_limits() {
  channels::StreamLimits limits;
  limits.queue_frames_max = 24;
  limits.queue_bytes_max = 12 << 10;
  limits.behind_events_max = 60;
  limits.page_events_max = 9;
  limits.page_bytes_max = 4 << 10;
  return limits;
}

std::string_view line_of(std::string_view frame, std::string_view name) {
  const std::size_t at = frame.find(name);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = frame.substr(at + name.size());
  return rest.substr(0, rest.find('\n'));
}

}  // namespace

class Followers::Follower final : public channels::StreamPipe {
 public:
  Follower(Followers& all, SessionId session) : all_(all), session_(std::move(session)) {}
  ~Follower() { close(); }

  void connect() {
    close();
    partial_.clear();
    subscriber_ = std::make_shared<channels::Subscriber>(
        channels::StreamStart{session_, seen_, {}, {}, false}, channels::StreamKind{}, all_,
        all_.limits_, all_.node_.metrics());
    attached_ = false;
    all_.want_page(subscriber_);
  }
  void close() {
    if (!subscriber_) return;
    subscriber_->detach();
    subscriber_.reset();
  }

  void page_arrived(const std::shared_ptr<channels::Subscriber>& keep,
                    Result<channels::FramesPage> page) {
    if (subscriber_ != keep) return;
    // the session does not exist yet, or the read was rejected
    if (!attached_ && !page) return close();
    keep->page_arrived(std::move(page));
    if (!attached_ && subscriber_) {
      attached_ = true;
      keep->attach(*this, "");
    }
    check_bound();
  }
  void offer(const channels::FramesPtr& frames) {
    if (!subscriber_) return;
    const auto keep = subscriber_;
    keep->offer(frames);
    if (attached_) keep->flush();
    check_bound();
  }
  void stop_reading() { reading_ = false; }
  void go_reading() {
    reading_ = true;
    if (!subscriber_ || !attached_) return;
    const auto keep = subscriber_;
    if (std::exchange(waits_, false)) keep->on_writable();
    if (subscriber_) keep->tick(channels::Clock::now());
  }

  bool connected() const { return subscriber_ != nullptr; }
  Sequence seen() const { return seen_; }
  const SessionId& session() const { return session_; }

  std::optional<std::size_t> write_now(std::span<const iovec> bytes) override {
    if (!reading_) return 0;
    std::size_t taken = 0;
    for (const iovec& part : bytes) {
      partial_.append(static_cast<const char*>(part.iov_base), part.iov_len);
      taken += part.iov_len;
    }
    take_frames();
    return taken;
  }
  void wait_writable() override { waits_ = true; }
  void close_stream() override { close(); }

 private:
  void take_frames() {
    for (std::size_t end = 0; (end = partial_.find("\n\n")) != std::string::npos;) {
      take_frame(std::string_view(partial_).substr(0, end));
      partial_.erase(0, end + 2);
    }
  }
  void take_frame(std::string_view frame) {
    const std::string_view id = line_of(frame, "id: ");
    if (id.empty()) return;  // a comment, or an event about the stream itself
    Sequence sequence = 0;
    std::from_chars(id.data(), id.data() + id.size(), sequence);
    if (sequence != seen_ + 1)
      return all_.broken_(
          {std::string(invariant::kStreams),
           fmt::format("a follower of {} got {} after {}", session_.text(), sequence, seen_)});
    seen_ = sequence;
    if (line_of(frame, "data: ") != all_.stored_text_(session_, sequence))
      all_.broken_({std::string(invariant::kVisible),
                    fmt::format("a follower of {} got a fact {} that is not what is stored",
                                session_.text(), sequence)});
  }
  void check_bound() {
    const std::size_t most = all_.limits_.queue_bytes_max + all_.largest_frames_;
    if (subscriber_ && subscriber_->queued_bytes() > most)
      all_.broken_({std::string(invariant::kBounds),
                    fmt::format("{} bytes wait for a follower of {}, the limit is {}",
                                subscriber_->queued_bytes(), session_.text(), most)});
  }

  Followers& all_;
  SessionId session_;
  std::shared_ptr<channels::Subscriber> subscriber_;
  std::string partial_;
  Sequence seen_ = 0;
  bool reading_ = true;
  bool waits_ = false;     // for the writable notification
  bool attached_ = false;  // the first page has arrived
};

Followers::Followers(Node& node, StoredText stored_text, std::function<void(Violation)> broken)
    : node_(node),
      stored_text_(std::move(stored_text)),
      broken_(std::move(broken)),
      limits_(narrow_limits()) {}

Followers::~Followers() = default;

Followers::Follower& Followers::of(std::uint32_t follower, const SessionId& session) {
  auto& slot = followers_[{follower, session}];
  if (!slot) slot = std::make_unique<Follower>(*this, session);
  return *slot;
}

void Followers::follow(std::uint32_t follower, const SessionId& session) {
  of(follower, session).connect();
}

void Followers::stop_reading(std::uint32_t follower, const SessionId& session) {
  of(follower, session).stop_reading();
}

void Followers::go_reading(std::uint32_t follower, const SessionId& session) {
  of(follower, session).go_reading();
}

void Followers::published(const ports::FeedBatch& batch) {
  for (std::size_t at = 0; at < batch->size();) {
    const SessionId& session = (*batch)[at].event.session;
    auto frames = std::make_shared<channels::Frames>();
    while (at < batch->size() && (*batch)[at].event.session == session &&
           frames->follows((*batch)[at].event.sequence))
      frames->add((*batch)[at++], {});
    largest_frames_ = std::max(largest_frames_, frames->text.size());
    for (const auto& [key, follower] : followers_)
      if (key.second == session) follower->offer(frames);
  }
}

void Followers::want_page(const std::shared_ptr<channels::Subscriber>& subscriber) {
  const SessionId session = *subscriber->start().session;
  node_.kernel().read(
      {session, subscriber->sent(), limits_.page_events_max, limits_.page_bytes_max, {}, {}, false},
      [this, session, reader = std::weak_ptr(subscriber)](Result<ports::Page> page) {
        Result<channels::FramesPage> out = std::unexpected(Error{});
        if (page) {
          auto frames = std::make_shared<channels::Frames>();
          for (const ports::FeedEvent& event : page->events) frames->add(event, {});
          largest_frames_ = std::max(largest_frames_, frames->text.size());
          out = channels::FramesPage{frames, page->more, page->reached};
        } else {
          out = std::unexpected(std::move(page).error());
        }
        // In a separate step, as on the network thread.
        node_.boot().loop->post([this, session, reader, out = std::move(out)]() mutable {
          const auto whose = reader.lock();
          if (!whose) return;
          for (const auto& [key, follower] : followers_)
            if (key.second == session) follower->page_arrived(whose, out);
        });
      });
}

void Followers::disconnect() {
  for (const auto& [_, follower] : followers_) follower->close();
}

void Followers::read_all() {
  for (const auto& [_, follower] : followers_) {
    follower->go_reading();
    if (!follower->connected()) follower->connect();
  }
}

bool Followers::caught_up(const std::function<Sequence(const SessionId&)>& head_of) const {
  for (const auto& [_, follower] : followers_)
    if (follower->seen() != head_of(follower->session())) return false;
  return true;
}

}  // namespace agentrt::sim
