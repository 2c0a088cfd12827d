#include "channels/subscriber.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace agentrt::channels {
namespace {

constexpr std::size_t kAnything = 1 << 30;

struct FakePipe final : StreamPipe {
  std::string written;
  std::size_t room = kAnything;
  std::size_t writes = 0;
  int waits = 0;
  bool broken = false;
  bool closed = false;
  Subscriber* subscriber = nullptr;

  std::optional<std::size_t> write_now(std::span<const iovec> bytes) override {
    if (broken) return std::nullopt;
    ++writes;
    std::size_t taken = 0;
    for (const iovec& piece : bytes) {
      const std::size_t size = std::min(room, piece.iov_len);
      written.append(static_cast<const char*>(piece.iov_base), size);
      room -= size;
      taken += size;
    }
    return taken;
  }
  void wait_writable() override { ++waits; }
  void close_stream() override {
    closed = true;
    subscriber->detach();
  }
};

struct FakeHost final : SubscriberHost {
  int wanted = 0;
  void want_page(const std::shared_ptr<Subscriber>&) override { ++wanted; }
};

FramesPtr frames(std::uint64_t first, std::uint64_t last, std::size_t bytes = 0) {
  auto out = std::make_shared<Frames>();
  for (std::uint64_t i = first; i <= last; ++i) {
    ports::FeedEvent event;
    event.position = i;
    event.event.session = SessionId{"s"};
    event.event.sequence = i;
    event.event.type = "t";
    event.event.payload = fmt::format(R"({{"x":"{}"}})", std::string(bytes, 'x'));
    out->add(event, {});
  }
  return out;
}

enum class After { more, nothing };

FramesPage page(std::uint64_t first, std::uint64_t last, After after) {
  return {frames(first, last), after == After::more};
}
FramesPage empty_page() { return {std::make_shared<Frames>(), false}; }

// The ids of the written frames.
std::vector<std::uint64_t> ids(const std::string& text) {
  std::vector<std::uint64_t> out;
  for (std::size_t at = text.find("id: "); at != text.npos; at = text.find("\nid: ", at + 1))
    out.push_back(std::stoull(text.substr(text.find(' ', at) + 1)));
  return out;
}

std::vector<std::uint64_t> run(std::uint64_t first, std::uint64_t last) {
  std::vector<std::uint64_t> out;
  for (; first <= last; ++first) out.push_back(first);
  return out;
}

struct Setup {
  StreamLimits limits;
  ports::Metrics metrics;
  FakeHost host;
  FakePipe pipe;
  std::shared_ptr<Subscriber> subscriber;

  explicit Setup(std::uint64_t after = 0, std::optional<std::uint64_t> through = {}) {
    limits.queue_frames_max = 10;
    limits.behind_events_max = 50;
    subscriber =
        std::make_shared<Subscriber>(StreamStart{SessionId{"s"}, after, {}, {}, false, through},
                                     StreamKind{}, host, limits, metrics);
    pipe.subscriber = subscriber.get();
  }
  // Makes the subscriber live; everything before was read from disk.
  void go_live() {
    subscriber->page_arrived(empty_page());
    subscriber->attach(pipe, "head\n");
    REQUIRE(subscriber->live());
  }
  void offer(std::uint64_t first, std::uint64_t last) {
    subscriber->offer(frames(first, last));
    subscriber->flush();
  }
};

}  // namespace

TEST_CASE("a frame names its event and carries the envelope") {
  CHECK(frames(7, 7)->text.starts_with("id: 7\nevent: t\ndata: {\"type\":\"t\",\"eventId\":"));
  CHECK(frames(7, 7)->text.ends_with("\"payload\":{\"x\":\"\"}}\n\n"));
}

TEST_CASE("line ends within an envelope become lines of its frame") {
  ports::FeedEvent event;
  event.event.type = "t";
  event.event.payload = "{\r\n\"a\":\n1\r}";
  Frames out;
  out.add(event, {});
  CHECK(out.text.ends_with("\"payload\":{\ndata: \"a\":\ndata: 1\ndata: }}\n\n"));
}

TEST_CASE("a cursor comes back as it went, and nothing else is one") {
  const GenerationId generation{"gen.1"};
  CHECK(read_cursor(write_cursor(7, generation)) == Cursor{7, generation});
  for (const char* text : {"", "7", "7.", ".gen", "x.gen", "-1.gen", "7.a b", "7 .gen"})
    CHECK_MESSAGE(!read_cursor(text), text);
}

TEST_CASE("a window holds frames back until it moves, and never overflows") {
  Setup s(0, 3);
  s.subscriber->page_arrived(page(1, 5, After::nothing));
  s.subscriber->attach(s.pipe, "head\n");
  CHECK(ids(s.pipe.written) == run(1, 3));
  s.offer(6, 9);
  s.offer(10, 200);
  CHECK(s.host.wanted == 0);  // it waits, and keeps nothing
  CHECK(ids(s.pipe.written) == run(1, 3));
  s.subscriber->allow(2);  // no step back
  s.subscriber->allow(6);
  CHECK(s.host.wanted == 1);
  s.subscriber->page_arrived(page(4, 8, After::more));
  CHECK(ids(s.pipe.written) == run(1, 6));
  s.subscriber->allow(300);
  s.subscriber->page_arrived(page(7, 200, After::nothing));
  CHECK(ids(s.pipe.written) == run(1, 200));
  CHECK(s.subscriber->live());
  s.offer(201, 201);
  CHECK(ids(s.pipe.written) == run(1, 201));
  CHECK_FALSE(s.subscriber->overflowed());
}

TEST_CASE("a text of the connection's own goes between two events") {
  Setup s;
  s.go_live();
  s.offer(1, 1);
  s.subscriber->send_text("event: other\n\n");
  s.offer(2, 2);
  CHECK(s.pipe.written.find("event: other") > s.pipe.written.find("id: 1"));
  CHECK(s.pipe.written.find("event: other") < s.pipe.written.find("id: 2"));
}

TEST_CASE("a live subscriber gets each frame once, in one write a flush") {
  Setup s;
  s.go_live();
  s.subscriber->offer(frames(1, 2));
  s.subscriber->offer(frames(3, 3));
  s.pipe.writes = 0;
  s.subscriber->flush();
  CHECK(s.pipe.writes == 1);
  CHECK(s.pipe.written.starts_with("head\nid: 1\n"));
  s.offer(2, 4);  // overlaps frames already sent
  s.offer(1, 3);  // contains no new frames
  CHECK(ids(s.pipe.written) == run(1, 4));
  CHECK(s.metrics.events_delivered == 4);
}

TEST_CASE("pages from disk and live frames meet without a seam") {
  Setup s;
  s.subscriber->offer(frames(11, 12));  // published while the first page is read
  s.subscriber->page_arrived(page(1, 8, After::more));
  s.subscriber->attach(s.pipe, "head\n");
  CHECK(s.host.wanted == 1);
  s.offer(13, 13);
  CHECK(!s.subscriber->live());
  s.subscriber->page_arrived(page(9, 11, After::nothing));
  CHECK(s.subscriber->live());
  s.offer(14, 14);
  CHECK(ids(s.pipe.written) == run(1, 14));
}

TEST_CASE("a gap in what was published is read from disk") {
  Setup s;
  s.go_live();
  s.offer(1, 1);
  s.offer(5, 6);
  CHECK(!s.subscriber->live());
  CHECK(s.host.wanted == 1);
  s.subscriber->page_arrived(page(2, 5, After::nothing));
  CHECK(s.subscriber->live());
  CHECK(ids(s.pipe.written) == run(1, 6));
}

TEST_CASE("frames that nobody kept are read from disk") {
  Setup s;
  s.go_live();
  s.offer(1, 1);
  s.subscriber->missed();
  s.subscriber->flush();
  CHECK(s.host.wanted == 1);
  s.subscriber->page_arrived(page(2, 3, After::nothing));
  CHECK(s.subscriber->live());
  CHECK(ids(s.pipe.written) == run(1, 3));
}

TEST_CASE("a subscriber that stops reading holds a bounded amount and catches up from disk") {
  Setup s;
  s.go_live();
  s.pipe.room = 0;
  std::size_t held_max = 0;
  for (std::uint64_t i = 1; i <= 40; ++i) {
    s.offer(i, i);
    held_max = std::max(held_max, s.subscriber->queued_bytes());
  }
  CHECK(held_max <= 10 * frames(10, 10)->text.size());
  CHECK(s.pipe.waits == 1);
  CHECK(s.subscriber->sent() == 10);
  s.pipe.room = kAnything;
  s.subscriber->on_writable();
  CHECK(s.host.wanted == 1);
  s.subscriber->page_arrived(page(11, 30, After::more));
  CHECK(s.host.wanted == 2);  // 31 to 40 were held back, but the page reported more
  s.subscriber->page_arrived(empty_page());
  CHECK(s.subscriber->live());
  CHECK(ids(s.pipe.written) == run(1, 40));
}

TEST_CASE("a subscriber that falls too far behind gets the place to resume and is closed") {
  Setup s;
  s.go_live();
  s.pipe.room = 0;
  for (std::uint64_t i = 1; i <= 200; ++i) s.offer(i, i);
  CHECK(s.metrics.subscribers_overflowed == 1);
  CHECK(!s.pipe.closed);
  s.pipe.room = kAnything;
  s.subscriber->on_writable();
  CHECK(s.pipe.closed);
  CHECK(ids(s.pipe.written) == run(1, 10));
  CHECK(s.pipe.written.ends_with("event: stream.overflow\ndata: {\"resumeAfter\":10}\n\n"));
}

TEST_CASE("one that begins far behind is never told so") {
  Setup s;
  s.subscriber->page_arrived(page(1, 5, After::more));
  s.subscriber->attach(s.pipe, "head\n");
  for (std::uint64_t i = 1'000; i <= 1'100; ++i) s.offer(i, i);
  CHECK(s.metrics.subscribers_overflowed == 0);
  s.subscriber->page_arrived(page(6, 1'095, After::more));
  s.subscriber->page_arrived(page(1'096, 1'099, After::nothing));
  CHECK(s.subscriber->live());
  CHECK(ids(s.pipe.written) == run(1, 1'100));
}

TEST_CASE("a peer that takes no byte for too long is closed, one that is quiet is kept alive") {
  Setup s;
  s.go_live();
  const Instant now = Clock::now();
  s.subscriber->tick(now + s.limits.keepalive + Duration{1'000});
  CHECK(s.pipe.written.ends_with(": keep-alive\n\n"));
  s.pipe.room = 0;
  s.offer(1, 1);
  s.subscriber->tick(now + s.limits.stall - Duration{1'000});
  CHECK(!s.pipe.closed);
  s.subscriber->tick(Clock::now() + s.limits.stall + Duration{1});
  CHECK(s.pipe.closed);
}

TEST_CASE("a broken pipe ends the subscriber") {
  Setup s;
  s.go_live();
  s.pipe.broken = true;
  s.offer(1, 1);
  CHECK(s.pipe.closed);
  s.offer(2, 2);
  s.subscriber->tick(Clock::now());
}

TEST_CASE("a read refused for load is asked again at the next tick, up to a limit") {
  Setup s;
  s.limits.page_retries_max = 2;
  s.go_live();
  s.offer(5, 5);
  for (int i = 1; i <= 2; ++i) {
    CHECK(s.host.wanted == i);
    s.subscriber->page_arrived(fail(Code::overloaded, "busy"));
    CHECK(s.host.wanted == i);
    s.subscriber->tick(Clock::now());
  }
  s.subscriber->page_arrived(fail(Code::overloaded, "busy"));
  CHECK(s.pipe.closed);
  CHECK(s.pipe.written.contains("event: stream.error\ndata: {\"code\":\"overloaded\""));
}

TEST_CASE("a damaged row ends the stream with its name") {
  Setup s;
  s.go_live();
  s.offer(5, 5);
  s.subscriber->page_arrived(fail(Code::internal, "row s/2 is damaged"));
  CHECK(s.pipe.written.contains("row s/2 is damaged"));
  CHECK(s.pipe.closed);
}

}  // namespace agentrt::channels
