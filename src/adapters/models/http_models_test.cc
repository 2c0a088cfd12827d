// adapters/models/http_models_test.cc: tests model requests over a real socket: the events that
// reach the core, and the size limits of an answer.
#include "adapters/models/http_models.h"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "adapters/http/testing/fake_peer.h"
#include "adapters/models/testing/model_fixture.h"

namespace agentrt::adapters {
namespace {

// A loop whose steps other threads post and the test's thread runs.
class PostedLoop final : public ports::Loop {
 public:
  void post(ports::Step step) override {
    const std::lock_guard lock(mutex_);
    steps_.push_back(std::move(step));
    posted_.notify_one();
  }
  Timestamp now() const override { return {0}; }
  TimerId after(std::int64_t, ports::Step) override { return 0; }
  void cancel(TimerId) override {}

  // Runs steps until `done` holds; false: no step arrived in time.
  bool run_until(const std::function<bool()>& done) {
    while (!done()) {
      std::unique_lock lock(mutex_);
      if (!posted_.wait_for(lock, std::chrono::milliseconds(kPeerWaitMs),
                            [this] { return !steps_.empty(); }))
        return false;
      ports::Step step = std::move(steps_.front());
      steps_.pop_front();
      lock.unlock();
      step();
    }
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<ports::Step> steps_;
};

const ModelRequestId kRequest{"mreq_1"};
constexpr std::string_view kHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

struct Desk {
  Desk() {
    Endpoint endpoint;
    endpoint.provider = "openai_chat";
    endpoint.base_url = peer.url();
    ports::ModelRequest request;
    request.id = kRequest;
    request.messages.push_back({.text = "hi"});
    models.start("main", endpoint, std::move(request), heard);
    peer.accept(R"("include_usage":true}})");
  }
  bool ended() const {
    return !heard->said.empty() &&
           (heard->said.back() == "completed" || heard->said.back() == "failed");
  }

  Peer peer;
  PostedLoop loop;
  HttpModels models{loop};
  std::shared_ptr<RecordingListener> heard = std::make_shared<RecordingListener>();
};

}  // namespace

TEST_CASE("an answer that arrives byte by byte is complete") {
  Desk desk;
  const std::string text =
      std::string(kHead) + R"(data: {"choices":[{"delta":{"content":"ä🙂"}}]})" +
      "\r\n\r\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
  for (const char byte : text) desk.peer.send(std::string_view(&byte, 1));
  REQUIRE(desk.loop.run_until([&] { return desk.ended(); }));
  CHECK(desk.heard->said == std::vector<std::string>{"t:ä🙂", "completed"});
}

TEST_CASE("nothing is reported after a cancel, and the connection is closed") {
  Desk desk;
  desk.peer.send(std::string(kHead) + "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
  REQUIRE(desk.loop.run_until([&] { return !desk.heard->said.empty(); }));
  desk.models.cancel(kRequest);
  CHECK(desk.peer.closed());
  CHECK(desk.heard->said == std::vector<std::string>{"t:a"});
  CHECK(desk.heard.use_count() == 1);
}

TEST_CASE("of an answer that never ends no more is taken than the limit") {
  Desk desk;
  desk.peer.send(kHead);
  const std::string comment = ":" + std::string(1 << 20, 'x') + "\n";
  for (std::size_t sent = 0; sent <= kAnswerBytesMax; sent += comment.size())
    desk.peer.send(comment);
  REQUIRE(desk.loop.run_until([&] { return desk.ended(); }));
  CHECK(desk.heard->fault.error.message.contains("more than 64 MiB"));
  CHECK_FALSE(desk.heard->fault.error.retryable);
}

TEST_CASE("an error whose text does not end is over once its beginning is known") {
  Desk desk;
  desk.peer.send("HTTP/1.1 400 No\r\nContent-Type: application/json\r\n\r\n{\"error\":\"" +
                 std::string(2 * kErrorBodyBytesMax, 'x'));
  REQUIRE(desk.loop.run_until([&] { return desk.ended(); }));
  CHECK(desk.peer.closed());
  CHECK(desk.heard->fault.provider_status == 400);
  CHECK(desk.heard->fault.error.message.size() < 1'000);
}

}  // namespace agentrt::adapters
