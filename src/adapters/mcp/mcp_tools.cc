#include "adapters/mcp/mcp_tools.h"

#include <chrono>
#include <future>

#include <fmt/format.h>

#include "adapters/mcp/content.h"
#include "adapters/mcp/http_transport.h"

namespace agentrt::adapters {
namespace {

constexpr std::int64_t kStopSlackMs = 2'000;  // in addition to the waits for a server to end

ports::ToolEnd failed(schema::Failure why) {
  ports::ToolEnd end;
  end.failure = std::move(why);
  return end;
}

schema::Failure overloaded() {
  return {schema::Category::unavailable, "the runtime is overloaded; try again later", true};
}

std::vector<std::string> folders_of(const std::string& workspace,
                                    const std::vector<std::string>& additional_roots) {
  std::vector<std::string> folders{workspace};
  folders.insert(folders.end(), additional_roots.begin(), additional_roots.end());
  return folders;
}

}  // namespace

// Forwards events from the connections' thread to the core, in order.
class McpTools::Bridge final : public McpPool::Listener {
 public:
  Bridge(McpTools& tools, ToolCallId call) : tools_(tools), call_(std::move(call)) {}

  void on_progress(std::string text) override {
    tell([text = std::move(text)](ports::ToolListener& listener) mutable {
      listener.on_progress(std::move(text));
    });
  }
  void on_warning(std::string code, std::string message) override {
    tell([code = std::move(code),
          message = std::move(message)](ports::ToolListener& listener) mutable {
      listener.on_warning(std::move(code), std::move(message));
    });
  }
  void on_question(ports::ToolQuestion question) override {
    tell([question = std::move(question)](ports::ToolListener& listener) mutable {
      listener.on_question(std::move(question));
    });
  }
  void on_failed(schema::Failure why) override { end(failed(std::move(why))); }
  void on_result(schema::Json result, std::optional<schema::Json> output_schema) override {
    const bool taken =
        tools_.parts_.worker.run([&tools = tools_, call = call_, result = std::move(result),
                                  output_schema = std::move(output_schema)] {
          tools.parts_.core.post(
              [&tools, call, end = tool_end(result, output_schema, tools.parts_.keeper)]() mutable {
                tools.end(call, std::move(end));
              });
        });
    if (!taken) end(failed(overloaded()));
  }

 private:
  void tell(std::move_only_function<void(ports::ToolListener&)> what) {
    tools_.parts_.core.post([&tools = tools_, call = call_, what = std::move(what)]() mutable {
      tools.tell(call, std::move(what));
    });
  }
  void end(ports::ToolEnd end) {
    tools_.parts_.core.post([&tools = tools_, call = call_, end = std::move(end)]() mutable {
      tools.end(call, std::move(end));
    });
  }

  McpTools& tools_;
  const ToolCallId call_;
};

// False: the worker is overloaded, and `then` is not called.
bool McpTools::look_up(ReadServers read, const std::string& cwd,
                       std::move_only_function<void(Servers)> then) {
  return parts_.worker.run([this, read = std::move(read), cwd, then = std::move(then)]() mutable {
    parts_.core.post(
        [servers = read(cwd), then = std::move(then)]() mutable { then(std::move(servers)); });
  });
}

McpTools::ReadServers McpTools::servers_of(const SessionId& session) {
  const auto found = lent_.find(session);
  if (found == lent_.end() || !parts_.lent) return parts_.servers;
  if (parts_.core.since(found->second.used_at) > ports::kLentServerMs) {
    lent_.erase(found);
    return parts_.servers;
  }
  found->second.used_at = parts_.core.now();
  return [this, lent = found->second.servers](const std::string& cwd) -> Servers {
    TRY_ASSIGN(std::vector<McpServer> out, parts_.servers(cwd));
    for (const ports::LentMcpServer& each : lent) {
      std::erase_if(out, [&](const McpServer& other) { return other.name == each.name; });
      out.push_back(parts_.lent(cwd, each));
    }
    return out;
  };
}

void McpTools::open() {
  if (io_) return;
  io_ = std::make_unique<IoLoop>("agentrt-mcp");
  io_->post([this] {
    pool_ = std::make_unique<McpPool>(
        *io_,
        [this](const McpServer& server, TransportListener& listener) {
          return transport_to(server, listener);
        },
        parts_.limits);
  });
}

std::unique_ptr<Transport> McpTools::transport_to(const McpServer& server,
                                                  TransportListener& listener) {
  if (const auto* const program = std::get_if<McpStdio>(&server.way))
    return std::make_unique<StdioTransport>(*io_, *program, listener, parts_.stdio);
  if (!streams_) streams_ = std::make_unique<HttpStreams>();
  const auto& http = std::get<McpHttp>(server.way);
  McpLogins* const logins = http.oauth ? this->logins() : nullptr;
  return std::make_unique<HttpTransport>(*io_, *streams_, http, listener,
                                         logins ? logins->authorization_of(server) : nullptr);
}

// Null: there are none.
McpLogins* McpTools::logins() {
  if (parts_.logins.empty()) return nullptr;
  if (!streams_) streams_ = std::make_unique<HttpStreams>();
  if (!logins_)
    logins_ = std::make_unique<McpLogins>(McpLogins::Parts{.loop = *io_,
                                                           .streams = *streams_,
                                                           .folder = parts_.logins,
                                                           .secret = parts_.secret,
                                                           .redact = parts_.redact});
  return logins_.get();
}

void McpTools::list(const SessionId& session, const std::string& cwd,
                    const std::vector<std::string>& additional_roots,
                    std::move_only_function<void(ports::ToolListing)> listing_to) {
  const auto answer = std::make_shared<decltype(listing_to)>(std::move(listing_to));
  McpPool::Place where{session, folders_of(cwd, additional_roots), {}};
  const bool taken = look_up(
      servers_of(session), cwd, [this, place = std::move(where), answer](Servers servers) mutable {
        if (!servers) return (*answer)({{}, {{"mcp_servers", servers.error().message}}});
        if (servers->empty()) return (*answer)({});
        open();
        place.servers = *std::move(servers);
        io_->post([this, place = std::move(place), answer]() mutable {
          pool_->list(std::move(place), [this, answer](ports::ToolListing listing) {
            parts_.core.post([answer, listing = std::move(listing)]() mutable {
              (*answer)(std::move(listing));
            });
          });
        });
      });
  if (!taken)
    parts_.core.post([answer] { (*answer)({{}, {{"mcp_servers", overloaded().message}}}); });
}

void McpTools::start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener) {
  const ToolCallId id = request.call;
  calls_[id] = std::move(listener);
  const std::string cwd = request.workspace;
  const SessionId session = request.session;
  const bool taken = look_up(servers_of(session), cwd,
                             [this, request = std::move(request)](Servers servers) mutable {
                               call(std::move(request), std::move(servers));
                             });
  if (!taken) parts_.core.post([this, id] { end(id, failed(overloaded())); });
}

void McpTools::call(ports::ToolRequest request, Servers servers) {
  if (!calls_.contains(request.call)) return;  // cancelled meanwhile
  if (!servers)
    return end(request.call, failed({schema::Category::unavailable, servers.error().message}));
  open();
  auto bridge = std::make_shared<Bridge>(*this, request.call);
  McpPool::Place place{request.session, folders_of(request.workspace, request.additional_roots),
                       *std::move(servers)};
  io_->post([this, place = std::move(place), request = std::move(request),
             bridge = std::move(bridge)]() mutable {
    pool_->call(std::move(place), request.call, request.tool, std::move(request.args),
                std::move(bridge));
  });
}

void McpTools::answer(const ToolCallId& call, const std::string& question,
                      ports::QuestionAnswer answer, std::optional<schema::Json> content) {
  if (!io_) return;
  io_->post([this, call, question, answer, content = std::move(content)] {
    pool_->answer(call, question, answer, content);
  });
}

void McpTools::cancel(const ToolCallId& call) {
  if (calls_.erase(call) == 0 || !io_) return;
  io_->post([this, call] { pool_->cancel(call); });
}

void McpTools::tell(const ToolCallId& call,
                    std::move_only_function<void(ports::ToolListener&)> what) {
  if (const auto found = calls_.find(call); found != calls_.end()) what(*found->second);
}

void McpTools::end(const ToolCallId& call, ports::ToolEnd end) {
  if (const auto found = calls_.extract(call)) found.mapped()->on_ended(std::move(end));
}

void McpTools::stop() {
  if (!io_) return;
  const auto closed = std::make_shared<std::promise<void>>();
  io_->post([this, closed] { pool_->close([closed] { closed->set_value(); }); });
  const std::int64_t most =
      parts_.stdio.exit_wait_ms + parts_.stdio.terminate_wait_ms + kStopSlackMs;
  closed->get_future().wait_for(std::chrono::milliseconds(most));
  std::promise<void> gone;
  io_->post([this, &gone] {
    pool_.reset();
    logins_.reset();
    gone.set_value();
  });
  gone.get_future().wait();
  if (streams_) streams_->stop();
  io_->stop();
  io_.reset();
}

}  // namespace agentrt::adapters
