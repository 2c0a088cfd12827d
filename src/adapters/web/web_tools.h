// adapters/web/web_tools.h: the tool web_fetch. Implements part of ports::Tools; the router asks
// serves().
//
// A call makes one GET request over https, directly and without cookies or credentials, and
// connects only to addresses that may_connect() accepts. It follows redirects within the host and
// port of its URL. A redirect to anywhere else ends the call with a result that names the new URL:
// so each host is judged by rules, hooks and people before the first request to it, and the
// decision is in the log. A request changes nothing, so a call may be repeated after a crash.
//
// Core only, except objection(), which any thread may call. Requests run on a thread of their own,
// which the first call starts; pages are converted and stored on the worker.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "adapters/http/http_streams.h"
#include "adapters/web/page.h"
#include "policy/redaction.h"
#include "ports/loop.h"
#include "ports/outputs.h"
#include "ports/tools.h"

namespace agentrt::adapters {

struct WebLimits {
  std::uint64_t time_ms = 30'000;      // of a call, with its redirects
  std::uint64_t bytes_max = 10 << 20;  // of a body, decompressed; the most that maxBytes can be
  std::uint64_t redirects_max = 5;
};

class WebTools {
 public:
  struct Parts {
    ports::Loop& core;
    ports::Worker& worker;
    ports::OutputKeeper& keeper;
    const policy::Redactor* redactor = nullptr;
    WebLimits limits = {};
    AddressTest may_connect;
  };

  explicit WebTools(Parts parts) : parts_(std::move(parts)) {}
  ~WebTools() { stop(); }

  static bool serves(std::string_view tool);

  // Why the call would be refused whatever a person answers. Looks up no name: that would send the
  // host to a name server before anybody has approved it.
  std::optional<schema::Failure> objection(const ports::ToolRequest& request) const;
  void start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener);
  void cancel(const ToolCallId& call);
  // Cancels every call and ends the thread.
  void stop();

 private:
  struct Call;
  class Exchange;
  struct Hop;  // the outcome of one request

  void request(const std::shared_ptr<Call>& call);
  void take(const std::shared_ptr<Call>& call, Hop hop);
  void redirect(const std::shared_ptr<Call>& call, const Hop& hop);
  void show(const std::shared_ptr<Call>& call, Hop hop);
  void end(const std::shared_ptr<Call>& call, ports::ToolEnd end);
  std::optional<schema::Failure> private_literal(const agentrt::tools::WebAddress& address) const;

  Parts parts_;
  std::map<ToolCallId, std::shared_ptr<Call>> calls_;
  std::unique_ptr<HttpStreams> streams_;
};

}  // namespace agentrt::adapters
