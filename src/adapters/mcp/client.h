// adapters/mcp/client.h: one MCP client: a connection to one MCP server and the protocol on it
// (revision 2025-11-25, or an older one that the server chooses).
//
// A client is started once. After its connection ends, make a new client. Every wait has a time
// limit: the handshake with the first list of tools (startup_ms), a call (tool_timeout_ms
// since its start or last progress, kMcpCallMaxMs in total; the time a user takes to answer a
// question does not count), and a ping.
//
// Threads: everything runs on one loop. A function never calls the callback it was given before it
// returns. A client may be destroyed in a separate step on that loop, but not in one of its own
// callbacks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/mcp/elicitation.h"
#include "adapters/mcp/rpc.h"
#include "adapters/mcp/server.h"
#include "adapters/mcp/tools_page.h"
#include "adapters/mcp/transport.h"
#include "ports/loop.h"
#include "ports/tools.h"

namespace agentrt::adapters {

inline constexpr std::int64_t kMcpCallMaxMs = 3'600'000;  // regardless of progress
inline constexpr std::int64_t kMcpPingAfterMs = 60'000;   // of silence: ping before the next use
inline constexpr std::size_t kMcpRequestsMax = 64;        // in flight
inline constexpr std::size_t kMcpGarbageMax = 100;        // invalid messages before it disconnects
inline constexpr std::size_t kMcpQuestionsMax = 8;        // open at once per server
inline constexpr std::size_t kMcpProgressBytesMax = 512;
inline constexpr std::int64_t kMcpProgressEveryMs = 20;  // more frequent progress is not reported

// Receives the events of one call; no call follows on_end.
class McpCallListener {
 public:
  virtual ~McpCallListener() = default;
  virtual void on_progress(std::string text) = 0;
  // At most once per call with the same code.
  virtual void on_warning(std::string code, std::string message) = 0;
  virtual void on_question(ports::ToolQuestion question) = 0;
  // The server's result, unchanged. Errors: invalid_params; timeout; gone (the connection ended,
  // and the effect of the call is unknown); expired (the connection ended before the server
  // processed the call); internal (the server reported an error).
  virtual void on_end(Result<schema::Json> result) = 0;
};

class McpClient final : private TransportListener {
 public:
  using Listed = std::move_only_function<void(Result<void>)>;
  using MakeTransport =
      std::function<std::unique_ptr<Transport>(const McpServer& server, TransportListener&)>;

  // Calls `on_over` once, if the connection ends without close(). Code::unauthenticated: a person
  // must log in.
  McpClient(ports::Loop& loop, McpServer server, const MakeTransport& make,
            std::function<void(const Error& why)> on_over);
  ~McpClient() override;

  void start();
  // Calls `listed` when tools() is up to date, or with the reason why it is not.
  void when_listed(Listed listed);
  const McpToolList& tools() const { return tools_; }
  const McpServer& server() const { return server_; }
  bool is_over() const { return over_.has_value(); }
  bool is_idle() const { return calls_.empty() && listeners_.empty(); }

  void set_roots(std::vector<std::string> folders) { roots_ = std::move(folders); }
  // Returns the number of the call. Errors: limit_exceeded (too many calls in flight); gone.
  Result<std::uint64_t> call(const std::string& tool, const schema::Json& args,
                             std::shared_ptr<McpCallListener> listener);
  void answer(std::uint64_t call, const std::string& question, ports::QuestionAnswer answer,
              const std::optional<schema::Json>& content);
  // The call's listener is not called again.
  void cancel(std::uint64_t call);
  // Closes the connection gracefully. No callback but `closed` is called afterwards.
  void close(std::move_only_function<void()> closed);

 private:
  using Done = std::move_only_function<void(Result<schema::Json>)>;
  struct Call {
    std::shared_ptr<McpCallListener> listener;
    std::optional<ports::Loop::TimerId> silent;  // since the start or the last progress
    std::optional<ports::Loop::TimerId> whole;
    std::map<std::string, McpQuestion> questions;
    std::int64_t told_at = -kMcpProgressEveryMs;  // time of its last reported progress
    bool refused_sampling = false;
  };

  void on_message(std::string text, std::optional<std::uint64_t> within) override;
  void on_refused(std::uint64_t request, Error why) override;
  void on_garbage() override;
  void on_closed(Error why, std::vector<std::uint64_t> refused) override;

  std::uint64_t request(std::string_view method, const std::string& params, Done done);
  void take_answer(RpcMessage message);
  void take_request(const RpcMessage& message, std::optional<std::uint64_t> within);
  void take_notification(const RpcMessage& message);
  void take_progress(const schema::Json& params);
  void take_question(const RpcMessage& message, std::optional<std::uint64_t> within);
  void refuse_sampling(const RpcMessage& message, std::optional<std::uint64_t> within);
  std::map<std::uint64_t, Call>::iterator call_of(std::optional<std::uint64_t> within);
  std::size_t open_questions() const;
  void take_greeting(const Result<schema::Json>& result);
  void list_tools();
  void ask_page(const std::optional<std::string>& cursor);
  void take_page(const Result<schema::Json>& result);
  void listed(Result<void> outcome);
  void check_alive();
  void fail_all(std::string why);
  void fail_all(const Error& why, const std::vector<std::uint64_t>& refused = {});
  void end_call(std::uint64_t id, Result<schema::Json> result);
  void set_clocks(std::uint64_t id, Call& call);
  void stop_clocks(Call& call);
  void call_timed_out(std::uint64_t id, std::int64_t after_ms);
  void answer_roots(const schema::Json& id);
  void limit_by_time(std::string_view what, std::int64_t ms, std::string_view advice = {});
  // The time limit of a server that has started.
  std::int64_t answer_ms() const { return std::min(server_.startup_ms, kMcpAnswerMs); }

  ports::Loop& loop_;
  const McpServer server_;
  std::function<void(const Error&)> on_over_;
  std::unique_ptr<Transport> transport_;
  std::vector<std::string> roots_;
  bool ready_ = false;    // the tools have been listed once
  bool listing_ = false;  // listing tools, or in the handshake
  bool changed_ = false;  // the server announced that its tools changed
  std::optional<Error> over_;
  McpToolList tools_, coming_;  // the current list, and the one being read
  std::size_t pages_ = 0;
  std::vector<Listed> listeners_;
  std::optional<ports::Loop::TimerId> timer_;  // of the handshake, a list or a ping
  std::uint64_t last_id_ = 0;
  std::uint64_t ping_ = 0;  // id of the last ping
  std::map<std::uint64_t, Done> waiting_;
  std::map<std::uint64_t, Call> calls_;
  std::size_t garbage_ = 0;
  std::int64_t heard_at_ = 0;
  std::uint64_t last_question_ = 0;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // destroyed: posted steps do nothing
};

}  // namespace agentrt::adapters
