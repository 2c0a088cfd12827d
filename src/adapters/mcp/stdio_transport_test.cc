// Tests servers that are child processes (small scripts): their output is read as lines, and
// however they behave, they and all their children end.
#include "adapters/mcp/stdio_transport.h"

#include <doctest/doctest.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>

#include <fmt/format.h>

#include "adapters/process/sandbox.h"
#include "base/real_path.h"

using namespace agentrt;
using namespace agentrt::adapters;

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(20);

McpStdio script(const std::string& text) {
  McpStdio out;
  out.command = {"/bin/sh", "-c", text};
  out.profile.mode = schema::SandboxMode::full_access;
  out.profile.cwd = real_path(std::filesystem::temp_directory_path().string());
  out.profile.roots = {out.profile.cwd};
  out.profile.environment = {"PATH=/usr/bin:/bin"};
  return out;
}

// A program under test. The test's thread waits for what the loop's thread receives.
class Program final : public TransportListener {
 public:
  explicit Program(McpStdio server, StdioLimits limits = {}) {
    run([&] {
      transport_ = std::make_unique<StdioTransport>(loop_, std::move(server), *this, limits);
      transport_->open();
    });
  }
  ~Program() override {
    close();
    run([&] { transport_.reset(); });
    loop_.stop();
  }

  void send(const std::string& text) {
    run([&] { transport_->send(text, std::nullopt); });
  }
  // Returns how long it took.
  std::chrono::milliseconds close() {
    const auto began = Clock::now();
    bool closed = false;
    run([&] {
      transport_->close([this, &closed] {
        const std::lock_guard lock(mutex_);
        closed = true;
        heard_.notify_all();
      });
    });
    std::unique_lock lock(mutex_);
    REQUIRE(heard_.wait_for(lock, kPatience, [&] { return closed; }));
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
  }
  std::vector<std::string> messages(std::size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(heard_.wait_for(lock, kPatience, [&] { return messages_.size() >= count; }));
    return messages_;
  }
  std::string why_closed() {
    std::unique_lock lock(mutex_);
    REQUIRE(heard_.wait_for(lock, kPatience, [&] { return closed_.has_value(); }));
    return *closed_;
  }
  std::size_t garbage() {
    const std::lock_guard lock(mutex_);
    return garbage_;
  }

 private:
  void run(std::function<void()> step) {
    std::promise<void> done;
    loop_.post([&] {
      step();
      done.set_value();
    });
    done.get_future().wait();
  }
  void on_message(std::string text, std::optional<std::uint64_t>) override {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(text));
    heard_.notify_all();
  }
  void on_refused(std::uint64_t, Error) override {}
  void on_garbage() override {
    const std::lock_guard lock(mutex_);
    ++garbage_;
  }
  void on_closed(Error why, std::vector<std::uint64_t>) override {
    const std::lock_guard lock(mutex_);
    closed_ = std::move(why.message);
    heard_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable heard_;
  std::vector<std::string> messages_;
  std::optional<std::string> closed_;
  std::size_t garbage_ = 0;
  IoLoop loop_{"mcp-test"};
  std::unique_ptr<StdioTransport> transport_;
};

}  // namespace

TEST_CASE("messages are lines, however they are split and glued") {
  Program program(
      script(R"(printf '{"a":'; sleep 0.05; printf '1}\r\n\n{"b":2}\n{"c"'; sleep 0.05;)"
             R"(printf ':3}\nhello\n[1]\n'; cat)"));
  CHECK(program.messages(4) ==
        std::vector<std::string>{R"({"a":1})", R"({"b":2})", R"({"c":3})", "[1]"});
  CHECK(program.garbage() == 1);
  program.send(R"({"d":4})");
  CHECK(program.messages(5).back() == R"({"d":4})");
}

TEST_CASE("much goes through in both directions") {
  Program program(script("cat"));
  const std::string text = "{" + std::string(1 << 20, ' ') + "}";
  for (int i = 0; i < 8; ++i) program.send(text);
  const auto messages = program.messages(8);
  CHECK(messages.size() == 8);
  CHECK(messages[7] == text);
}

TEST_CASE("a line beyond the limit ends the connection") {
  StdioLimits limits;
  limits.message_bytes_max = 100'000;
  Program program(script("head -c 200000 /dev/zero | tr '\\0' x; cat"), limits);
  CHECK(program.why_closed() == "it sent a line of more than 100000 bytes");
}

TEST_CASE("a server that does not read is given up") {
  StdioLimits limits;
  limits.unsent_bytes_max = 1 << 20;
  Program program(script("sleep 100"), limits);
  for (int i = 0; i < 4; ++i) program.send(std::string(1 << 19, ' '));
  CHECK(program.why_closed() == "it does not read its input");
}

TEST_CASE("a server that ends says how, with its last words") {
  CHECK(Program(script("echo first >&2; echo no key >&2; exit 3")).why_closed() ==
        "it ended with exit code 3; the end of its error output: no key");
  CHECK(Program(script("kill -9 $$")).why_closed() == "it was killed by signal 9");
  CHECK(Program(script(R"(echo '{"a":1}'; exit 0)")).why_closed() == "it ended with exit code 0");
  McpStdio none = script("");
  none.command = {"no-such-server-anywhere"};
  CHECK(Program(none).why_closed() ==
        "no-such-server-anywhere cannot be run: No such file or directory");
}

TEST_CASE("a server that listens ends when its input does") {
  StdioLimits limits;
  limits.exit_wait_ms = 15'000;
  Program program(script("cat >/dev/null"), limits);
  CHECK(program.close() < std::chrono::seconds(10));
}

TEST_CASE("what was sent before the close still arrives") {
  StdioLimits limits;
  limits.exit_wait_ms = 15'000;
  std::string folder = (std::filesystem::temp_directory_path() / "agentrt_stdio_XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  Program program(script(fmt::format("sleep 0.2; cat > {}/got", folder)), limits);
  program.send(std::string(1 << 20, ' '));  // exceeds the pipe's capacity
  program.send("last");
  CHECK(program.close() < std::chrono::seconds(10));
  std::error_code error;
  CHECK(std::filesystem::file_size(folder + "/got", error) == (1 << 20) + 6);
  std::filesystem::remove_all(folder);
}

TEST_CASE("a server that does not listen is asked, and then ended with all that it started") {
  StdioLimits limits;
  limits.exit_wait_ms = limits.terminate_wait_ms = 100;
  Program asked(script("exec sleep 100"), limits);
  CHECK(asked.close() < std::chrono::seconds(10));

  Program deaf(script("trap '' TERM; sleep 100 & echo \"{$!}\"; wait; sleep 100"), limits);
  deaf.messages(1);
  const auto took = deaf.close();
  CHECK(took >= std::chrono::milliseconds(200));
  CHECK(took < std::chrono::seconds(10));
}
