// runtime/in_process_test.cc: commands and events for the program that embeds a runtime.
#include <doctest/doctest.h>

#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <vector>

#include "runtime/runtime.h"

namespace agentrt::runtime {
namespace {

struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/agentrt_in_process_XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
};

std::unique_ptr<Runtime> start(const Folder& folder) {
  RuntimeOptions options;
  options.data = folder.path + "/data";
  options.cwd = folder.path;
  auto runtime = Runtime::start(std::move(options));
  REQUIRE_MESSAGE(runtime.has_value(), (runtime ? "" : runtime.error().message));
  return *std::move(runtime);
}

// Collects events on the runtime's thread.
struct Seen {
  std::mutex mutex;
  std::condition_variable more;
  std::vector<std::string> events;

  channels::OnEvent collector() {
    return [this](std::string_view event) {
      const std::scoped_lock lock(mutex);
      events.emplace_back(event);
      more.notify_all();
    };
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    return more.wait_for(lock, std::chrono::seconds(10), [&] { return events.size() >= count; });
  }
};

}  // namespace

TEST_CASE("a program calls commands and follows a session without a socket") {
  const Folder folder;
  const auto runtime = start(folder);
  CHECK(runtime->call("create_session", R"({"sessionId":"s","metadata":{"a":
 1}})"));
  Seen seen;
  auto feed = runtime->subscribe(SessionId{"s"}, 0, seen.collector());
  REQUIRE(feed.has_value());
  CHECK(runtime->call("update_session", R"({"sessionId":"s","title":"t"})"));
  REQUIRE(seen.wait_for(2));
  CHECK(seen.events[0].starts_with(R"({"type":"session.created","eventId":"evt_s_1")"));
  CHECK(seen.events[0].ends_with('}'));
  CHECK(seen.events[1].contains(R"("title":"t")"));
  CHECK_FALSE((*feed)->ended());
  feed->reset();
  CHECK(runtime->call("update_session", R"({"sessionId":"s","title":"u"})"));
  CHECK(seen.events.size() == 2);

  CHECK(runtime->call("no_such_command", "{}").error().code == Code::not_found);
  CHECK(runtime->call("get_session", R"({"sessionId":1})").error().code == Code::invalid_params);
  CHECK(runtime->subscribe(SessionId{"t"}, 0, seen.collector()).error().code == Code::not_found);
  CHECK(runtime->subscribe(SessionId{"s"}, 99, seen.collector()).error().code == Code::gone);
}

TEST_CASE("a channel of the program has the transport in_process") {
  const Folder folder;
  const auto runtime = start(folder);
  CHECK(runtime->call("create_session", R"({"sessionId":"s"})"));
  const auto reply = runtime->call("connect_channel",
                                   R"({"sessionId":"s","capabilities":["resume","permissions"]})");
  REQUIRE(reply.has_value());
  CHECK(reply->contains(R"("transport":"in_process","capabilities":["resume"])"));
  CHECK(runtime->call("connect_channel", R"({"sessionId":"s","transport":"websocket"})")
            .error()
            .code == Code::invalid_params);
}

}  // namespace agentrt::runtime
