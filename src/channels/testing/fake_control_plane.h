// channels/testing/fake_control_plane.h: an in-memory core and log for channel tests. They run on
// their own threads, so that replies and pages arrive asynchronously, as in the daemon.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ports/control_plane.h"

namespace agentrt::channels {

// One thread that runs posted tasks in order.
class TestThread {
 public:
  TestThread() : thread_([this] { run(); }) {}
  ~TestThread() {
    post([this] { done_ = true; });
    thread_.join();
  }
  void post(std::move_only_function<void()> task) {
    const std::scoped_lock lock(mutex_);
    tasks_.push_back(std::move(task));
    ready_.notify_one();
  }

 private:
  void run() {
    while (!done_) {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return !tasks_.empty(); });
      auto task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::move_only_function<void()>> tasks_;
  bool done_ = false;
  std::thread thread_;
};

// Answers every command with a description of it: {"command", "principal", "request"?, "trace"?,
// "params"}.
class FakeSink final : public ports::CommandSink {
 public:
  void call(ports::Authorized<schema::Command> allowed, ports::ReplyTo reply_to) override {
    core_.post([this, allowed = std::move(allowed), reply_to = std::move(reply_to)]() mutable {
      const auto [command, caller] = std::move(allowed).take();
      if (const auto error = take_error()) return reply_to(std::unexpected(*error));
      std::string out = R"({"command":)";
      schema::write_string(out, schema::traits_of(command).name);
      out += R"(,"principal":)";
      schema::write_string(out, caller.principal);
      if (caller.request) out += R"(,"request":")" + caller.request.text() + "\"";
      if (caller.trace) out += R"(,"trace":")" + caller.trace->trace.text() + "\"";
      out += R"(,"params":)" + schema::canonical_params(command) + "}";
      reply_to(std::move(out));
    });
  }
  // Rejects the next command with `error`.
  void fail_next(Error error) {
    const std::scoped_lock lock(mutex_);
    error_ = std::move(error);
  }
  // Holds back every reply until the returned function is called.
  std::function<void()> hold() {
    const auto gate = std::make_shared<std::mutex>();
    gate->lock();
    core_.post([gate] { const std::scoped_lock wait(*gate); });
    return [gate] { gate->unlock(); };
  }

 private:
  std::optional<Error> take_error() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(error_, std::nullopt);
  }
  std::mutex mutex_;
  std::optional<Error> error_;
  TestThread core_;
};

class FakeFeed final : public ports::FactFeed {
 public:
  // Stores `count` facts of `session` in one commit and publishes them.
  void append(const std::string& session, std::size_t count, std::size_t payload_bytes = 16,
              const std::string& type = "test.happened") {
    const std::scoped_lock lock(mutex_);
    auto batch = std::make_shared<std::vector<ports::FeedEvent>>();
    for (std::size_t i = 0; i < count; ++i) {
      ports::FeedEvent event;
      event.position = log_.size() + 1;
      event.event.session = SessionId{session};
      event.event.sequence = ++heads_[session];
      event.event.type = type;
      event.event.runtime = RuntimeId{"rt_test"};
      event.event.payload = R"({"text":")" + std::string(payload_bytes, 'x') + R"("})";
      log_.push_back(event);
      batch->push_back(std::move(event));
    }
    if (listener_ && publishing_ == Publishing::on) listener_(batch);
  }
  // Facts stored while this is off are never published, as if the intake had dropped them.
  enum class Publishing { on, off };
  void publish(Publishing publishing) {
    const std::scoped_lock lock(mutex_);
    publishing_ = publishing;
  }
  // Rejects the next `count` reads with `error`.
  void fail_reads(std::size_t count, Error error) {
    const std::scoped_lock lock(mutex_);
    failures_ = count;
    failure_ = std::move(error);
  }
  std::size_t reads() {
    const std::scoped_lock lock(mutex_);
    return reads_;
  }

  void listen(std::function<void(const ports::FeedBatch&)> listener) override {
    const std::scoped_lock lock(mutex_);
    listener_ = std::move(listener);
  }
  void read(ports::PageQuery query, ports::PageTo page_to) override {
    worker_.post([this, query = std::move(query), page_to = std::move(page_to)]() mutable {
      page_to(page(query));
    });
  }
  const GenerationId& generation() const override { return generation_; }

 private:
  Result<ports::Page> page(const ports::PageQuery& query) {
    const std::scoped_lock lock(mutex_);
    ++reads_;
    if (failures_ > 0) {
      --failures_;
      return std::unexpected(failure_);
    }
    if (query.generation && *query.generation != generation_)
      return fail(Code::gone, "another generation");
    if (query.session && !heads_.contains(query.session->text()))
      return fail(Code::not_found, "no such session");
    const std::uint64_t head = query.session ? heads_[query.session->text()] : log_.size();
    if (query.after > head) return fail(Code::gone, "a sequence of the future");
    ports::Page out;
    out.reached = query.from_end ? head : query.after;
    if (query.from_end) return out;
    std::size_t bytes = 0;
    for (const ports::FeedEvent& event : log_) {
      if (query.session && event.event.session != *query.session) continue;
      const std::uint64_t key = query.session ? event.event.sequence : event.position;
      if (key <= query.after) continue;
      if (out.events.size() >= query.events_max || (bytes > 0 && bytes > query.bytes_max)) {
        out.more = true;
        break;
      }
      out.reached = key;
      if (!query.types.empty() &&
          std::ranges::find(query.types, event.event.type) == query.types.end())
        continue;
      bytes += event.event.payload.size();
      out.events.push_back(event);
    }
    return out;
  }

  std::mutex mutex_;
  std::function<void(const ports::FeedBatch&)> listener_;
  std::vector<ports::FeedEvent> log_;
  std::map<std::string, Sequence> heads_;
  Publishing publishing_ = Publishing::on;
  std::size_t failures_ = 0;
  Error failure_;
  std::size_t reads_ = 0;
  const GenerationId generation_{"gen_1"};
  TestThread worker_;
};

}  // namespace agentrt::channels
