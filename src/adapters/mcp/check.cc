#include "adapters/mcp/check.h"

namespace agentrt::adapters {
namespace {

// Owns itself until the connection is closed.
struct Check : std::enable_shared_from_this<Check> {
  Check(ports::Loop& on, std::move_only_function<void(Result<std::size_t>)> then)
      : loop(on), done(std::move(then)) {}

  void listed(const Result<void>& outcome) {
    if (!done) return;
    Result<std::size_t> found = client->tools().tools.size();
    if (!outcome) found = std::unexpected(outcome.error());
    std::exchange(done, {})(std::move(found));
    // Not within a callback of the client.
    loop.post([self = shared_from_this()] {
      self->client->close([self] { self->loop.post([self] { self->client.reset(); }); });
    });
  }

  ports::Loop& loop;
  std::move_only_function<void(Result<std::size_t>)> done;
  std::unique_ptr<McpClient> client;
};

}  // namespace

void check_server(ports::Loop& loop, const McpServer& server, const McpClient::MakeTransport& make,
                  std::vector<std::string> folders,
                  std::move_only_function<void(Result<std::size_t>)> done) {
  if (server.unusable) return done(fail(Code::unavailable, *server.unusable));
  const auto check = std::make_shared<Check>(loop, std::move(done));
  check->client = std::make_unique<McpClient>(loop, server, make, [](const Error&) {});
  check->client->set_roots(std::move(folders));
  check->client->start();
  check->client->when_listed([check](const Result<void>& outcome) { check->listed(outcome); });
}

}  // namespace agentrt::adapters
