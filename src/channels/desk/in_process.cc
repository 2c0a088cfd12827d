#include "channels/desk/in_process.h"

#include "channels/handlers/rpc_calls.h"

namespace agentrt::channels {

namespace {

constexpr char kEnd = '\x1e';  // does not occur in JSON outside of an escape

// Each event is followed by kEnd.
class PlainForm final : public StreamForm {
 public:
  explicit PlainForm(std::function<void(Error)> ended) : ended_(std::move(ended)) {}

  void add(Pieces& out, const FramesPtr& frames, std::size_t from, std::size_t to) const override {
    static const auto kBetween = std::make_shared<const std::string>(1, kEnd);
    for (std::size_t i = from; i < to; ++i) {
      const Frame& frame = frames->list[i];
      if (frame.split)
        out.push_back(piece_of(frames->unsplit(i)));
      else
        out.push_back({{frames, &frames->text}, frame.data, frame.data_end, 0, true});
      out.push_back({kBetween, 0, 1, 1, false});
    }
  }
  std::string overflow(std::string_view) const override {
    ended_({Code::gone, "the program reads too slowly: subscribe again after the last event", {}});
    return std::string(1, kEnd);
  }
  std::string error(const Error& error) const override {
    ended_(error);
    return std::string(1, kEnd);
  }
  std::string progress(std::string_view) const override { return ""; }
  std::string keep_alive(const std::optional<std::string>&) const override { return ""; }

 private:
  const std::function<void(Error)> ended_;
};

// What both threads use.
struct FeedState {
  std::mutex mutex;
  OnEvent on_event;  // empty: the program has unsubscribed
  std::optional<Error> ended;
};

// Takes everything at once: the program's queue is its own.
class PlainPipe final : public StreamPipe {
 public:
  explicit PlainPipe(std::shared_ptr<FeedState> state) : state_(std::move(state)) {}

  std::optional<std::size_t> write_now(std::span<const iovec> bytes) override {
    std::size_t taken = 0;
    const std::scoped_lock lock(state_->mutex);
    for (const iovec& piece : bytes) {
      taken += piece.iov_len;
      std::string_view text(static_cast<const char*>(piece.iov_base), piece.iov_len);
      for (std::size_t end = 0; (end = text.find(kEnd)) != text.npos;) {
        pending_ += text.substr(0, end);
        text.remove_prefix(end + 1);
        if (!pending_.empty() && state_->on_event) state_->on_event(pending_);
        pending_.clear();
      }
      pending_ += text;
    }
    return taken;
  }
  void wait_writable() override {}
  void close_stream() override {}

 private:
  const std::shared_ptr<FeedState> state_;
  std::string pending_;
};

// Lives on the network thread, until the program has unsubscribed.
struct Following {
  std::shared_ptr<Subscriber> subscriber;
  PlainPipe pipe;
};

class Feed final : public EventFeed {
 public:
  Feed(std::shared_ptr<FeedState> state, std::shared_ptr<Inbox> inbox, std::function<void()> close)
      : state_(std::move(state)), inbox_(std::move(inbox)), close_(std::move(close)) {}
  ~Feed() override {
    {
      const std::scoped_lock lock(state_->mutex);
      state_->on_event = {};
    }
    inbox_->post([close = std::move(close_)] { close(); });
  }
  std::optional<Error> ended() const override {
    const std::scoped_lock lock(state_->mutex);
    return state_->ended;
  }

 private:
  const std::shared_ptr<FeedState> state_;
  const std::shared_ptr<Inbox> inbox_;
  std::function<void()> close_;
};

RequestOrigin own_origin() {
  RequestOrigin origin;
  origin.transport = schema::Transport::in_process;
  return origin;
}

}  // namespace

InProcess::InProcess(Services& services)
    : services_(services),
      identity_(std::make_shared<const Identity>(
          Identity{std::string(kFirstTokenId), {TokenScope::admin}, {}, {}})) {}

void InProcess::call(std::string command, std::string params, ports::ReplyTo reply_to) {
  services_.inbox->post(
      [this, command = std::move(command), params = std::move(params),
       reply_to = std::move(reply_to)]() mutable { run(command, params, std::move(reply_to)); });
}

void InProcess::run(const std::string& command, const std::string& params,
                    ports::ReplyTo reply_to) {
  auto read =
      command_of(identity_.get(), {.id = {}, .method = command, .params = params, .fault = {}});
  if (!read) return reply_to(std::unexpected(read.error()));
  if (starts_channel(command))
    return services_.desk.start(
        *std::move(read), identity_, own_origin(), nullptr,
        [reply_to = std::move(reply_to)](ports::Reply reply, const AttachmentPtr&) mutable {
          reply_to(std::move(reply));
        });
  auto allowed = Authorization::command(identity_.get(), *std::move(read), own_origin());
  if (!allowed) return reply_to(std::unexpected(allowed.error()));
  services_.desk.call(*std::move(allowed), std::move(reply_to));
}

void InProcess::subscribe(SessionId session, Sequence after, OnEvent on_event, Opened done) {
  services_.inbox->post([this, session = std::move(session), after, on_event = std::move(on_event),
                         done = std::move(done)]() mutable {
    const auto state = std::make_shared<FeedState>();
    state->on_event = std::move(on_event);
    auto allowed = Authorization::events(
        identity_.get(), StreamStart{.session = std::move(session), .after = after});
    if (!allowed) return done(std::unexpected(allowed.error()));
    SseHub& hub = services_.hub;
    hub.open(
        *std::move(allowed),
        [&hub, state, inbox = services_.inbox,
         done = std::move(done)](Result<std::shared_ptr<Subscriber>> subscriber) mutable {
          if (!subscriber) return done(std::unexpected(subscriber.error()));
          const auto following =
              std::make_shared<Following>(Following{*subscriber, PlainPipe(state)});
          done(std::make_unique<Feed>(state, inbox,
                                      [&hub, following] { hub.close(*following->subscriber); }));
          following->subscriber->attach(following->pipe, "");
        },
        [state](const StreamKind&) {
          return std::make_shared<PlainForm>([state](Error error) {
            const std::scoped_lock lock(state->mutex);
            state->ended = std::move(error);
          });
        });
  });
}

}  // namespace agentrt::channels
