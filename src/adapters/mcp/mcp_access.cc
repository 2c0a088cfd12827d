// The servers of a folder and the logins to them (ports::McpAccess).
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "adapters/mcp/check.h"
#include "adapters/mcp/http_transport.h"
#include "adapters/mcp/mcp_tools.h"
#include "adapters/mcp/remedy.h"

namespace agentrt::adapters {
namespace {

using ports::McpLogin;
using ports::McpLoginStatus;
using ports::McpServerState;
using ports::McpState;

// Sends no token, and records the challenge of the server.
class Probe final : public McpAuthorization {
 public:
  struct Heard {
    std::optional<HttpHead> head;
  };
  explicit Probe(std::shared_ptr<Heard> heard) : heard_(std::move(heard)) {}

  void token(TokenTo then) override { then(std::nullopt); }
  void refused(const std::string&, const HttpHead& head, TokenTo then) override {
    heard_->head = head;
    then(std::unexpected(rejected()));
  }
  Error rejected() override { return {Code::unauthenticated, "it needs a login", {}}; }
  std::optional<Error> lacking(const HttpHead&) override { return std::nullopt; }

 private:
  std::shared_ptr<Heard> heard_;
};

std::string transport_name(const McpServer& server) {
  const auto* const http = std::get_if<McpHttp>(&server.way);
  if (!http) return "stdio";
  return http->kind == McpHttpKind::older ? "sse" : "http";
}

const std::string* url_of(const McpServer& server) {
  const auto* const http = std::get_if<McpHttp>(&server.way);
  return http && !http->url.empty() ? &http->url : nullptr;
}

std::string canonical(const std::string& text) {
  const auto url = parse_url(text);
  return url ? canonical_url(*url) : text;
}

std::string names_of(const std::vector<McpServer>& servers) {
  std::vector<std::string_view> names;
  for (const McpServer& server : servers) names.push_back(server.name);
  return names.empty() ? "none is configured" : fmt::format("there are {}", fmt::join(names, ", "));
}

ports::McpLoginState as_state(LoginView view) {
  return {std::move(view.issuer), std::move(view.scopes), view.expires_at, view.renewable,
          std::move(view.redirect_uri)};
}

void add_problem(McpServerState& out, const Error& error) {
  out.state = error.code == Code::unauthenticated ? McpState::needs_login : McpState::unavailable;
  out.reason = error.message;
  out.remedy = remedy_of(error);
}

}  // namespace

// A list that waits for its checks.
struct McpTools::Listing {
  std::vector<McpServerState> states;
  std::size_t missing = 0;
  To<std::vector<McpServerState>> done;

  void finish_one() {
    if (--missing == 0) done(std::move(states));
  }
};

void McpTools::lend(SessionId session, std::vector<ports::LentMcpServer> servers,
                    To<std::string> done) {
  if (servers.size() > ports::kLentServersMax)
    return done(
        fail(Code::limit_exceeded, fmt::format("at most {} MCP servers", ports::kLentServersMax)));
  for (const ports::LentMcpServer& server : servers)
    if (parts_.secret)
      for (const ports::NamedText& header :
           server.headers.value_or(std::vector<ports::NamedText>{}))
        parts_.secret(header.value);
  parts_.core.post([this, session = std::move(session), servers = std::move(servers),
                    done = std::move(done)]() mutable {
    std::erase_if(lent_, [this](const auto& each) {
      return parts_.core.since(each.second.used_at) > ports::kLentServerMs;
    });
    lent_[session] = {std::move(servers), parts_.core.now()};
    done("{}");
  });
}

// Calls `then` on the thread of `io_`.
void McpTools::for_servers(const std::optional<std::string>& cwd,
                           std::move_only_function<void(Servers)> then) {
  const auto step = std::make_shared<std::move_only_function<void(Servers)>>(std::move(then));
  const ReadServers& read = parts_.listed ? parts_.listed : parts_.servers;
  const bool taken = look_up(read, cwd.value_or(parts_.cwd), [this, step](Servers servers) {
    open();
    io_->post([step, servers = std::move(servers)]() mutable { (*step)(std::move(servers)); });
  });
  if (!taken) (*step)(fail(Code::overloaded, "the runtime is overloaded; try again later"));
}

Result<McpServer> McpTools::find_server(const std::vector<McpServer>& servers,
                                        const std::string& named) {
  for (const McpServer& server : servers)
    if (server.name == named) return server;
  for (const McpServer& server : servers)
    if (const std::string* const url = url_of(server); url && canonical(*url) == canonical(named))
      return server;
  if (!parse_url(named))
    return fail(Code::invalid_params,
                fmt::format("there is no MCP server {} here; {}", named, names_of(servers)));
  McpServer out;
  out.name = named;
  McpHttp http{.url = named, .headers = {}};
  http.oauth.emplace().client_metadata_url = parts_.client_metadata_url;
  out.way = std::move(http);
  return out;
}

Result<McpServer> McpTools::find_login_server(const Servers& servers, const std::string& named) {
  if (!servers) return std::unexpected(servers.error());
  TRY_ASSIGN(McpServer server, find_server(*servers, named));
  if (server.untrusted)
    return fail(Code::invalid_params,
                fmt::format("the MCP server {} comes with this folder, which is not trusted; run "
                            "`agentrt trust` first",
                            server.name));
  if (server.disabled)
    return fail(Code::invalid_params,
                fmt::format("the MCP server {} is disabled; set enabled = true", server.name));
  if (server.unusable)
    return fail(Code::unavailable,
                fmt::format("the MCP server {} cannot be used: {}", server.name, *server.unusable));
  const auto* const http = std::get_if<McpHttp>(&server.way);
  if (!http)
    return fail(Code::invalid_params,
                fmt::format("{} is a program on this machine, which needs no login; {}",
                            server.name, names_of(*servers)));
  if (!http->oauth || logins() == nullptr)
    return fail(Code::invalid_params,
                fmt::format("{} authenticates with bearer_token_env or a header, or its oauth is "
                            "not enabled; remove that to log in",
                            server.name));
  return server;
}

McpServerState McpTools::state_of(const McpServer& server) {
  McpServerState out;
  out.name = server.name;
  out.transport = transport_name(server);
  if (const std::string* const url = url_of(server)) out.url = *url;
  if (server.unusable) {
    out.reason = server.unusable;
    out.state = McpState::unavailable;
  }
  if (server.untrusted) {
    out.state = McpState::untrusted;
    out.remedy = "run `agentrt trust`";
  }
  if (server.disabled) out.state = McpState::disabled;
  const auto* const http = std::get_if<McpHttp>(&server.way);
  if (out.state != McpState::ready || !http || !http->oauth || logins() == nullptr) return out;
  if (http->oauth->redirect_port != 0) out.redirect_port = http->oauth->redirect_port;
  auto view = logins()->view_of(*http);
  const bool ended = view && !view->valid;
  if (http->oauth->grant == OauthGrant::authorization_code &&
      (ended || (!view && logins()->needs_login(*http)))) {
    out.state = McpState::needs_login;
    out.reason = ended ? "its login has ended" : "it needs a login";
    out.remedy = fmt::format("run `agentrt mcp login {}`", server.name);
  }
  if (view) out.login = as_state(*std::move(view));
  return out;
}

void McpTools::check(const McpServer& server, const std::string& cwd,
                     std::move_only_function<void(Result<std::size_t>)> done) {
  std::vector<std::string> folders;
  if (!cwd.empty()) folders.push_back(cwd);
  check_server(
      *io_, server,
      [this](const McpServer& to, TransportListener& listener) {
        return transport_to(to, listener);
      },
      std::move(folders), std::move(done));
}

void McpTools::list(ports::McpQuery query, To<std::vector<McpServerState>> done) {
  for_servers(query.cwd, [this, query, done = std::move(done)](Servers servers) mutable {
    if (!servers) return done(std::unexpected(servers.error()));
    if (query.server) {
      auto only = find_server(*servers, *query.server);
      if (!only) return done(std::unexpected(only.error()));
      *servers = {*std::move(only)};
    }
    const auto listing = std::make_shared<Listing>();
    listing->done = std::move(done);
    for (const McpServer& server : *servers) listing->states.push_back(state_of(server));
    listing->missing = servers->size() + 1;
    for (std::size_t i = 0; i < servers->size(); ++i) {
      const McpState state = listing->states[i].state;
      if (!query.check || (state != McpState::ready && state != McpState::needs_login)) {
        listing->finish_one();
        continue;
      }
      check((*servers)[i], query.cwd.value_or(parts_.cwd),
            [this, listing, i, server = (*servers)[i]](Result<std::size_t> tools) {
              McpServerState& out = listing->states[i];
              out = state_of(server);
              if (tools) {
                out.state = McpState::ready;
                out.tools = *tools;
                out.reason.reset();
                out.remedy.reset();
              } else {
                add_problem(out, tools.error());
              }
              listing->finish_one();
            });
    }
    listing->finish_one();
  });
}

void McpTools::begin_login(ports::NewMcpLogin login, To<McpLogin> done) {
  const auto cwd = login.cwd;
  for_servers(cwd, [this, login = std::move(login),
                    done = std::move(done)](const Servers& servers) mutable {
    const auto server = find_login_server(servers, login.server);
    if (!server) return done(std::unexpected(server.error()));
    probe(*server, std::move(login), std::move(done));
  });
}

// Connects as a turn does, but without a token, until the server asks for one.
void McpTools::probe(const McpServer& server, ports::NewMcpLogin login, To<McpLogin> done) {
  const auto heard = std::make_shared<Probe::Heard>();
  check_server(
      *io_, server,
      [this, heard](const McpServer& to, TransportListener& listener) {
        return std::make_unique<HttpTransport>(*io_, *streams_, std::get<McpHttp>(to.way), listener,
                                               std::make_unique<Probe>(heard));
      },
      {},
      [this, heard, server, login = std::move(login),
       done = std::move(done)](Result<std::size_t> tools) mutable {
        const std::string& url = *url_of(server);
        if (heard->head) {
          const auto by = challenged_by(*heard->head, *parse_url(url));
          if (by) return challenged(server, std::move(login), *by, std::move(done));
          return done(fail(Code::forbidden, fmt::format("{} {}", server.name, by.error().message)));
        }
        if (!tools)
          return done(fail(Code::unavailable, fmt::format("the MCP server {} is unavailable: {}",
                                                          server.name, tools.error().message)));
        McpLogin out;
        out.status = McpLoginStatus::not_needed;
        out.server = server.name;
        out.url = url;
        out.tools = *tools;
        done(std::move(out));
      });
}

void McpTools::challenged(const McpServer& server, ports::NewMcpLogin login, const Challenged& by,
                          To<McpLogin> done) {
  const auto& http = std::get<McpHttp>(server.way);
  // The connection gets its token by itself.
  if (http.oauth->grant == OauthGrant::client_credentials)
    return logged_in(server, std::move(done));
  logins()->begin(server, login.redirect_uri, login.scopes, by,
                  [this, server, done = std::move(done)](Result<LoginBegun> begun) mutable {
                    unfinished_ = logins_->unfinished();
                    if (!begun) return done(std::unexpected(begun.error()));
                    McpLogin out;
                    out.login_id = std::move(begun->id);
                    out.server = server.name;
                    out.url = *url_of(server);
                    out.issuer = std::move(begun->issuer);
                    out.authorization_url = std::move(begun->authorization_url);
                    out.redirect_uri = std::move(begun->redirect_uri);
                    out.scopes = std::move(begun->scopes);
                    out.expires_at = begun->expires_at;
                    done(std::move(out));
                  });
}

void McpTools::finish_login(std::string login, std::string callback_url, To<McpLogin> done) {
  parts_.core.post([this, login = std::move(login), callback_url = std::move(callback_url),
                    done = std::move(done)]() mutable {
    open();
    io_->post([this, login = std::move(login), callback_url = std::move(callback_url),
               done = std::move(done)]() mutable {
      if (logins() == nullptr) return done(fail(Code::not_found, "there are no logins here"));
      logins()->finish(login, callback_url,
                       [this, done = std::move(done)](Result<McpServer> server) mutable {
                         unfinished_ = logins_->unfinished();
                         if (!server) return done(std::unexpected(server.error()));
                         logged_in(*server, std::move(done));
                       });
      unfinished_ = logins_->unfinished();
    });
  });
}

// The login is made; whether the server accepts it is found out by connecting.
void McpTools::logged_in(const McpServer& server, To<McpLogin> done) {
  check(server, parts_.cwd,
        [this, server, done = std::move(done)](Result<std::size_t> tools) mutable {
          const auto& http = std::get<McpHttp>(server.way);
          const auto view = logins()->view_of(http);
          if (!tools && !view)
            return done(std::unexpected(
                reworded(tools.error(), fmt::format("the MCP server {} is unavailable: {}",
                                                    server.name, tools.error().message))));
          McpLogin out;
          out.status = McpLoginStatus::logged_in;
          out.server = server.name;
          out.url = http.url;
          if (tools) {
            out.tools = *tools;
          } else {
            out.reason = tools.error().message;
            out.remedy = remedy_of(tools.error());
          }
          if (view) {
            out.issuer = view->issuer;
            out.scopes = view->scopes;
            out.expires_at = view->expires_at;
            out.renewable = view->renewable;
          }
          done(std::move(out));
        });
}

void McpTools::log_out(std::string server, std::optional<std::string> cwd,
                       To<ports::McpLogout> done) {
  for_servers(cwd, [this, server = std::move(server),
                    done = std::move(done)](const Servers& servers) mutable {
    if (!servers) return done(std::unexpected(servers.error()));
    const auto found = find_server(*servers, server);
    if (!found) return done(std::unexpected(found.error()));
    const auto* const http = std::get_if<McpHttp>(&found->way);
    if (!http || !parse_url(http->url) || logins() == nullptr)
      return done(fail(Code::invalid_params, fmt::format("{} has no url, so it has no login; {}",
                                                         found->name, names_of(*servers))));
    logins()->log_out(*http, [this, name = found->name, url = http->url,
                              done = std::move(done)](LoggedOut out) mutable {
      pool_->close_idle(url);
      ports::McpLogout reply;
      reply.server = name;
      reply.was_logged_in = out.found;
      reply.revocation = schema::name_of(out.revocation);
      if (!out.reason.empty()) reply.reason = std::move(out.reason);
      done(std::move(reply));
    });
  });
}

}  // namespace agentrt::adapters
