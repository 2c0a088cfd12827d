// adapters/mcp/testing/fake_server.h: a scripted MCP server in virtual time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "adapters/mcp/client.h"
#include "ports/testing/fake_loop.h"

namespace agentrt::adapters {

// The server side of one connection. By default it answers everything; a test turns off the answers
// that it wants to give itself.
struct FakeServer {
  explicit FakeServer(ports::FakeLoop& on) : loop(on) {}

  ports::FakeLoop& loop;
  TransportListener* listener = nullptr;  // null: closed
  std::vector<RpcMessage> got;            // all messages received, in order
  std::string protocol = "2025-11-25";
  bool greets = true, lists = true, calls = true, pings = true;
  std::optional<Error> refuses;  // ends the connection instead of greeting
  std::vector<std::string> pages = {
      R"({"tools":[{"name":"echo","description":"says it","inputSchema":{"type":"object",)"
      R"("properties":{"text":{"type":"string"}},"required":["text"]}}]})"};
  bool agreed = false;
  bool orderly = false;  // closed gracefully, not lost

  void say(std::string text, std::optional<std::uint64_t> within = std::nullopt) {
    loop.post([this, text = std::move(text), within] {
      if (listener) listener->on_message(text, within);
    });
  }
  void die(std::string why, std::vector<std::uint64_t> refused = {},
           Code code = Code::unavailable) {
    loop.post([this, why = std::move(why), refused, code] {
      if (listener) std::exchange(listener, nullptr)->on_closed({code, why, {}}, refused);
    });
  }
  // The transport reports that the newest request failed.
  void refuse(std::string why) {
    loop.post([this, request = number_of(*got.back().id).value_or(0), why = std::move(why)] {
      if (listener) listener->on_refused(request, {Code::internal, why, {}});
    });
  }
  // The newest request received with this method.
  const RpcMessage* last(std::string_view method) const {
    for (auto at = got.rbegin(); at != got.rend(); ++at)
      if (at->method == method) return &*at;
    return nullptr;
  }
  std::size_t count(std::string_view method) const {
    std::size_t count = 0;
    for (const RpcMessage& each : got) count += each.method == method ? 1 : 0;
    return count;
  }
  // The newest answer to one of the server's requests.
  const RpcMessage* last_answer() const {
    for (auto at = got.rbegin(); at != got.rend(); ++at)
      if (at->is_answer()) return &*at;
    return nullptr;
  }
  void reply(std::string_view result) { say(rpc_result(*got.back().id, result)); }

  void take(const std::string& text) {
    const auto messages = read_rpc(text);
    if (!messages) throw std::runtime_error("the client sent no message: " + text);
    for (const RpcMessage& message : *messages) {
      got.push_back(message);
      if (message.method == "initialize" && refuses)
        die(refuses->message, {}, refuses->code);
      else if (message.method == "initialize" && greets)
        reply(fmt::format(R"({{"protocolVersion":"{}","capabilities":{{"tools":{{}}}},)"
                          R"("serverInfo":{{"name":"fake","version":"1"}}}})",
                          protocol));
      if (message.method == "tools/list" && lists) reply(pages[page_++ % pages.size()]);
      if (message.method == "tools/call" && calls)
        reply(R"({"content":[{"type":"text","text":"done"}]})");
      if (message.method == "ping" && pings) reply("{}");
    }
  }

 private:
  std::size_t page_ = 0;
};

// Creates connections to fake servers, taken from the queue or created on demand.
class FakeServers {
 public:
  explicit FakeServers(ports::FakeLoop& loop) : loop_(loop) {}

  std::shared_ptr<FakeServer> add() {
    next_.push_back(std::make_shared<FakeServer>(loop_));
    return next_.back();
  }
  McpClient::MakeTransport make() {
    return [this](const McpServer&, TransportListener& listener) -> std::unique_ptr<Transport> {
      if (next_.empty()) add();
      all.push_back(next_.front());
      next_.pop_front();
      all.back()->listener = &listener;
      return std::make_unique<Line>(loop_, all.back());
    };
  }
  std::vector<std::shared_ptr<FakeServer>> all;  // servers that were connected to, in order

 private:
  struct Line final : Transport {
    Line(ports::FakeLoop& on, std::shared_ptr<FakeServer> to) : loop(on), server(std::move(to)) {}
    void open() override {}
    void send(std::string message, std::optional<std::uint64_t>) override { server->take(message); }
    void answered(std::uint64_t) override {}
    void forget(std::uint64_t) override {}
    void agreed(std::string_view) override { server->agreed = true; }
    void close(std::move_only_function<void()> closed) override {
      server->orderly = server->listener != nullptr;
      server->listener = nullptr;
      loop.post(std::move(closed));
    }
    ports::FakeLoop& loop;
    std::shared_ptr<FakeServer> server;
  };

  ports::FakeLoop& loop_;
  std::deque<std::shared_ptr<FakeServer>> next_;
};

}  // namespace agentrt::adapters
