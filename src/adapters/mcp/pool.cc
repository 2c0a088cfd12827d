#include "adapters/mcp/pool.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "adapters/mcp/remedy.h"
#include "adapters/mcp/tool_names.h"
#include "schema/arguments.h"

namespace agentrt::adapters {

using schema::Category;

namespace {

constexpr std::string_view kStarting =
    "it is still starting (a first start may download a package); its tools are offered as soon as "
    "it is ready";

schema::Failure failure(Category category, std::string why) {
  return {category, std::move(why), false};
}

Category category_of(Code code) {
  switch (code) {
    case Code::invalid_params:
      return Category::invalid_input;
    case Code::timeout:
      return Category::timeout;
    case Code::gone:
      return Category::lost;
    case Code::internal:
    case Code::not_found:  // the server does not know the method
      return Category::provider;
    default:
      return Category::unavailable;  // also unauthenticated
  }
}

std::string with_its_remedy(const Error& error) {
  const auto remedy = remedy_of(error);
  return remedy ? fmt::format("{}; {}", error.message, *remedy) : error.message;
}

schema::MissingServer missing_server(const std::string& name, const Error& why) {
  return {name, why.message, remedy_of(why)};
}

// A note that a connected server lacks some tools, with the number of tools still offered.
std::string partly(std::string_view lacks, std::size_t offered) {
  if (offered == 0) return fmt::format("{}; it has no other tools", lacks);
  return fmt::format("{}; {} of its tools {} offered", lacks, offered, offered == 1 ? "is" : "are");
}

// Adds as many tools as fit; `bytes` counts those of all servers.
void add_tools(const McpToolList& tools, const McpServer& server, std::size_t& bytes,
               ports::ToolListing& out) {
  std::size_t left_out = 0;
  for (const McpTool& tool : tools.tools) {
    const std::size_t more =
        tool.offered_as.size() + tool.description.size() + tool.offered_schema.text.size();
    if (bytes + more > kMcpCatalogBytesMax) {
      ++left_out;
      continue;
    }
    bytes += more;
    out.tools.push_back(catalog_tool(tool, server));
  }
  const std::size_t offered = tools.tools.size() - left_out;
  if (const auto missing = tools.missing())
    out.missing.push_back({server.name, partly(*missing, offered)});
  if (left_out > 0)
    out.missing.push_back(
        {server.name,
         partly(fmt::format("omitted: {} tools, because the tools of all servers may have at most "
                            "{} bytes in total; choose with tools or disabled_tools",
                            left_out, kMcpCatalogBytesMax),
                offered)});
}

}  // namespace

// One call from start to end.
struct McpPool::Call final : McpCallListener, std::enable_shared_from_this<McpPool::Call> {
  McpPool& pool;
  ToolCallId id;
  Key key;
  McpServer server;
  std::vector<std::string> folders;
  std::string tool;
  schema::Json args;
  std::shared_ptr<Listener> listener;
  std::optional<std::uint64_t> number = {};  // assigned by its client when sent
  std::optional<schema::Json> output_schema = {};
  Again again = Again::yes;

  explicit Call(McpPool& owner) : pool(owner) {}

  void on_progress(std::string text) override { listener->on_progress(std::move(text)); }
  void on_warning(std::string code, std::string message) override {
    listener->on_warning(std::move(code), std::move(message));
  }
  void on_question(ports::ToolQuestion question) override {
    listener->on_question(std::move(question));
  }
  void on_end(Result<schema::Json> result) override {
    const std::shared_ptr<Call> self = shared_from_this();
    if (!result && result.error().code == Code::expired &&
        std::exchange(again, Again::no) == Again::yes) {
      number.reset();
      return pool.loop_.post([self] { self->pool.begin(self); });
    }
    if (pool.calls_.erase(id) == 0) return;
    if (!result)
      return listener->on_failed(
          failure(category_of(result.error().code), with_its_remedy(result.error())));
    if (const auto at = pool.connections_.find(key); at != pool.connections_.end()) {
      at->second.ends = 0;
      pool.use(key);
    }
    listener->on_result(*std::move(result), std::move(output_schema));
  }
};

// One listing in progress, until every server has answered or failed.
struct McpPool::Listing {
  Place place;
  std::move_only_function<void(ports::ToolListing)> listing_to;
  bool begun = false;              // every server was asked
  bool told = false;               // the first listing was passed on
  std::set<std::string> starting;  // servers that have neither answered nor failed
  std::map<std::string, ports::Loop::TimerId> awaited;  // of these: the end of their wait_ms
  std::map<std::string, Error> why;                     // servers without tools
};

McpPool::McpPool(ports::Loop& loop, McpClient::MakeTransport make, McpLimits limits)
    : loop_(loop), make_(std::move(make)), limits_(limits) {}

McpPool::~McpPool() {
  for (auto& [key, connection] : connections_)
    if (connection.idle) loop_.cancel(*connection.idle);
  for (const ports::Loop::TimerId wait : waits_) loop_.cancel(wait);
}

void McpPool::list(Place place, std::move_only_function<void(ports::ToolListing)> listing_to) {
  close_unwanted(place);
  auto listing = std::make_shared<Listing>();
  listing->place = std::move(place);
  listing->listing_to = std::move(listing_to);
  for (const McpServer& server : listing->place.servers) {
    listing->starting.insert(server.name);
    reach({listing->place.session, server.name}, server, listing->place.folders, Again::yes,
          [this, listing, name = server.name](Result<McpClient*> client) {
            if (!client) listing->why[name] = client.error();
            heard(listing, name);
          });
    if (!listing->starting.contains(server.name)) continue;
    const auto wait =
        loop_.after(server.wait_ms, [this, listing, name = server.name] { waited(listing, name); });
    listing->awaited[server.name] = wait;
    waits_.insert(wait);
  }
  loop_.post([this, listing] {
    listing->begun = true;
    if (listing->awaited.empty()) tell(*listing);
  });
}

void McpPool::heard(const std::shared_ptr<Listing>& listing, const std::string& server) {
  if (listing->starting.erase(server) == 0) return;
  if (listing->told) return tell(*listing);
  waited(listing, server);
}

void McpPool::waited(const std::shared_ptr<Listing>& listing, const std::string& server) {
  if (const auto wait = listing->awaited.extract(server)) {
    loop_.cancel(wait.mapped());
    waits_.erase(wait.mapped());
  }
  if (listing->begun && !listing->told && listing->awaited.empty()) tell(*listing);
}

void McpPool::tell(Listing& listing) {
  listing.told = true;
  ports::ToolListing out;
  std::size_t bytes = 0;
  std::set<std::string> parts;
  for (const McpServer& server : listing.place.servers) {
    if (!parts.insert(mcp_server_part(server.name)).second) {
      out.missing.push_back({server.name, "another server already has this name"});
      continue;
    }
    if (listing.starting.contains(server.name)) {
      out.missing.push_back({server.name, std::string(kStarting)});
      continue;
    }
    const auto at = connections_.find({listing.place.session, server.name});
    const auto why = listing.why.find(server.name);
    if (why != listing.why.end() || at == connections_.end() || !at->second.client) {
      out.missing.push_back(why != listing.why.end()
                                ? missing_server(server.name, why->second)
                                : schema::MissingServer{server.name, "it has just ended"});
      continue;
    }
    add_tools(at->second.client->tools(), server, bytes, out);
  }
  listing.listing_to(std::move(out));
}

// Closes this session's idle connections to servers that are no longer configured this way.
void McpPool::close_unwanted(const Place& place) {
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    if (at->first.first == place.session) {
      const auto server = std::ranges::find(place.servers, at->first.second, &McpServer::name);
      const bool wanted = server != place.servers.end() &&
                          (!at->second.client || at->second.client->server() == *server);
      if (!wanted && (!at->second.client || at->second.client->is_idle())) {
        let_go(at->second);
        connections_.erase(at);
      }
    }
    at = next;
  }
}

// An open connection may turn out to be dead; it is then reopened once.
void McpPool::reach(const Key& key, const McpServer& server,
                    const std::vector<std::string>& folders, Again again, Reached reached) {
  const auto before = connections_.find(key);
  const bool was_open = before != connections_.end() && before->second.client;
  const auto client = connect(key, server, folders);
  if (!client) return reached(std::unexpected(client.error()));
  const Again next = was_open && again == Again::yes ? Again::yes : Again::no;
  (*client)->when_listed([this, key, server, folders, next, client = *client,
                          reached = std::move(reached)](Result<void> listed) mutable {
    if (listed) return reached(client);
    if (next == Again::no) return reached(std::unexpected(std::move(listed).error()));
    loop_.post([this, key, server, folders, reached = std::move(reached)]() mutable {
      reach(key, server, folders, Again::no, std::move(reached));
    });
  });
}

Result<McpClient*> McpPool::connect(const Key& key, const McpServer& server,
                                    const std::vector<std::string>& folders) {
  if (server.unusable) return fail(Code::unavailable, *server.unusable);
  if (closed_for_good_) return fail(Code::unavailable, "the runtime is stopping");
  if (const auto at = connections_.find(key); at != connections_.end() && at->second.client) {
    at->second.client->set_roots(folders);
    use(key);
    return at->second.client.get();
  }
  const std::int64_t now = loop_.now().ms;
  if (const auto at = connections_.find(key);
      at != connections_.end() && now < at->second.not_before)
    return std::unexpected(reworded(
        at->second.why, fmt::format("{}; the next attempt is in {} s", at->second.why.message,
                                    (at->second.not_before - now + 999) / 1'000)));
  TRY(make_room());
  Connection& connection = connections_[key];
  connection.opened_at = now;
  connection.client = std::make_unique<McpClient>(
      loop_, server, make_, [this, key](const Error& why) { ended(key, why); });
  connection.client->set_roots(folders);
  connection.client->start();
  use(key);
  return connection.client.get();
}

// Closes the least recently used idle connection if the pool is full.
Result<void> McpPool::make_room() {
  const auto open = [](const auto& each) { return each.second.client != nullptr; };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(connections_, open));
  if (count < limits_.connections_max) return {};
  auto oldest = connections_.end();
  for (auto at = connections_.begin(); at != connections_.end(); ++at)
    if (at->second.client && at->second.client->is_idle() &&
        (oldest == connections_.end() || at->second.used_at < oldest->second.used_at))
      oldest = at;
  if (oldest == connections_.end())
    return fail(Code::unavailable,
                fmt::format("{} MCP servers are already in use", limits_.connections_max));
  let_go(oldest->second);
  connections_.erase(oldest);
  return {};
}

void McpPool::ended(const Key& key, const Error& why) {
  const auto at = connections_.find(key);
  if (at == connections_.end()) return;
  Connection& connection = at->second;
  const std::int64_t now = loop_.now().ms;
  const bool steady = now - connection.opened_at >= limits_.steady_ms;
  if (steady || why.code == Code::unauthenticated) connection.ends = 0;
  if (why.code != Code::unauthenticated) ++connection.ends;
  std::int64_t pause = 0;
  if (connection.ends > 1) {
    pause = limits_.pause_first_ms;
    for (std::int64_t i = 2; i < connection.ends && pause < limits_.pause_max_ms; ++i) pause *= 2;
  }
  connection.not_before = now + std::min(pause, limits_.pause_max_ms);
  connection.why = why;
  let_go(connection);
  use(key);  // its failure history expires like an idle connection
}

// Closes the client and keeps it alive until that is done.
void McpPool::let_go(Connection& connection) {
  if (connection.idle) loop_.cancel(*connection.idle);
  connection.idle.reset();
  if (!connection.client) return;
  const auto at = closing_.insert(closing_.end(), std::move(connection.client));
  loop_.post([this, at] {
    (*at)->close([this, at] {
      loop_.post([this, at] {
        closing_.erase(at);
        if (closing_.empty() && closed_) std::exchange(closed_, {})();
      });
    });
  });
}

void McpPool::use(const Key& key) {
  Connection& connection = connections_.at(key);
  connection.used_at = loop_.now().ms;
  if (connection.idle) loop_.cancel(*connection.idle);
  connection.idle = loop_.after(limits_.idle_ms, [this, key] { close_when_idle(key); });
}

void McpPool::close_when_idle(const Key& key) {
  const auto at = connections_.find(key);
  if (at == connections_.end()) return;
  at->second.idle.reset();
  if (at->second.client && !at->second.client->is_idle()) return use(key);
  let_go(at->second);
  connections_.erase(at);
}

void McpPool::call(Place place, const ToolCallId& id, const std::string& tool, schema::Json args,
                   std::shared_ptr<Listener> listener) {
  const std::string part = server_part_of(tool).value_or("");
  const auto server = std::ranges::find_if(
      place.servers, [&](const McpServer& each) { return mcp_server_part(each.name) == part; });
  if (server == place.servers.end())
    return listener->on_failed(failure(
        Category::not_found, fmt::format("no configured MCP server has the tool {}", tool)));
  auto call = std::make_shared<Call>(*this);
  call->id = id;
  call->key = {place.session, server->name};
  call->server = *server;
  call->folders = std::move(place.folders);
  call->tool = tool;
  call->args = std::move(args);
  call->listener = std::move(listener);
  calls_[id] = call;
  begin(call);
}

void McpPool::begin(const std::shared_ptr<Call>& call) {
  reach(call->key, call->server, call->folders, Again::yes,
        [this, call](Result<McpClient*> client) {
          if (!calls_.contains(call->id)) return;  // cancelled meanwhile
          if (client) return send(*call, **client);
          call->on_end(
              std::unexpected(reworded({Code::unavailable, {}, client.error().details},
                                       fmt::format("the MCP server {} is unavailable: {}",
                                                   call->server.name, client.error().message))));
        });
}

void McpPool::send(Call& call, McpClient& client) {
  const McpTool* const tool = client.tools().find(call.tool);
  if (tool == nullptr)
    return call.on_end(fail(
        Code::unavailable,
        fmt::format("the MCP server {} no longer has the tool {}", call.server.name, call.tool)));
  if (const auto wrong = schema::wrong_arguments(tool->input_schema, call.args))
    return call.on_end(fail(Code::invalid_params, *wrong));
  call.output_schema = tool->output_schema;
  const auto number = client.call(tool->name, call.args, call.shared_from_this());
  if (!number) return call.on_end(std::unexpected(number.error()));
  call.number = *number;
}

void McpPool::answer(const ToolCallId& id, const std::string& question,
                     ports::QuestionAnswer answer, const std::optional<schema::Json>& content) {
  const auto call = calls_.find(id);
  if (call == calls_.end() || !call->second->number) return;
  const auto at = connections_.find(call->second->key);
  if (at != connections_.end() && at->second.client)
    at->second.client->answer(*call->second->number, question, answer, content);
}

void McpPool::cancel(const ToolCallId& id) {
  const auto call = calls_.extract(id);
  if (!call || !call.mapped()->number) return;
  const auto at = connections_.find(call.mapped()->key);
  if (at == connections_.end() || !at->second.client) return;
  at->second.client->cancel(*call.mapped()->number);
  use(at->first);
}

void McpPool::close_idle(const std::string& url) {
  for (auto at = connections_.begin(); at != connections_.end();) {
    const auto next = std::next(at);
    const auto* const http =
        at->second.client ? std::get_if<McpHttp>(&at->second.client->server().way) : nullptr;
    if (http && http->url == url && at->second.client->is_idle()) {
      let_go(at->second);
      connections_.erase(at);
    }
    at = next;
  }
}

void McpPool::close(std::move_only_function<void()> closed) {
  closed_for_good_ = true;
  closed_ = std::move(closed);
  calls_.clear();
  for (auto& [key, connection] : connections_) let_go(connection);
  connections_.clear();
  if (closing_.empty()) loop_.post(std::exchange(closed_, {}));
}

}  // namespace agentrt::adapters
