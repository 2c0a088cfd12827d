// adapters/mcp/stdio_transport.h: the transport to an MCP server that is a child process: messages
// are lines on its standard input and output.
//
// It runs under a launcher like every other process, so its end also kills every process it
// started. Standard error is discarded except for its end, which explains a crash. Closing is
// graceful: write pending messages and close its input, then ask it to terminate, then kill it.
// Ctrl-C at the runtime's terminal does not reach it.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "adapters/mcp/io_loop.h"
#include "adapters/mcp/lines.h"
#include "adapters/mcp/server.h"
#include "adapters/mcp/transport.h"
#include "adapters/process/launch.h"
#include "base/descriptor.h"

namespace agentrt::adapters {

struct StdioLimits {
  std::int64_t exit_wait_ms = 2'000;       // to exit after its input is closed
  std::int64_t terminate_wait_ms = 2'000;  // to exit after it was asked to terminate
  std::size_t unsent_bytes_max = 32 << 20;
  std::size_t message_bytes_max = kMcpMessageBytesMax;
};

class StdioTransport final : public Transport {
 public:
  StdioTransport(IoLoop& loop, McpStdio server, TransportListener& listener,
                 StdioLimits limits = {});
  ~StdioTransport() override;

  void open() override;
  void send(std::string message, std::optional<std::uint64_t> request) override;
  void answered(std::uint64_t) override {}
  void forget(std::uint64_t) override {}
  void agreed(std::string_view) override {}
  void close(std::move_only_function<void()> closed) override;

 private:
  enum class Stage { before, running, closing, over };

  Result<void> start();
  void hear_launcher();
  void read_out();
  void read_err();
  void write_in();
  void close_input();
  void lost(std::string why);
  void terminate();
  void end_it();
  void finish();
  std::string last_words() const;
  void unwatch_all();

  IoLoop& loop_;
  McpStdio server_;
  TransportListener* listener_;  // null: no more callbacks
  const StdioLimits limits_;
  Stage stage_ = Stage::before;
  std::optional<Launched> launched_;
  Descriptor in_, out_, err_;
  Descriptor end_;  // readable once the launcher has ended
  std::deque<std::string> unsent_;
  std::size_t unsent_bytes_ = 0;
  std::size_t sent_of_first_ = 0;
  LineReader lines_;
  std::string complaints_;  // the end of standard error
  std::string exit_words_;  // how the program ended
  std::optional<ports::Loop::TimerId> timer_;
  std::move_only_function<void()> closed_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // destroyed: posted steps do nothing
};

}  // namespace agentrt::adapters
