// ports/mcp_access.h: the MCP servers of a folder, and the logins to those that require one.
//
// Nothing here writes a fact, and no secret leaves the runtime: a caller gets the address of a
// login page and hands back the address that the browser was sent to.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/describe/enum.hpp>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "schema/codec.h"

namespace agentrt::ports {

// needs_login: a person must log in, or the login has ended. untrusted: its file is not trusted.
BOOST_DEFINE_ENUM_CLASS(McpState, ready, needs_login, unavailable, untrusted, disabled)

struct McpLoginState {
  std::string issuer;
  std::vector<std::string> scopes;
  std::optional<Timestamp> expires_at;
  bool renewable = false;
  std::optional<std::string> redirect_uri;  // registered; the next login reuses it
};
BOOST_DESCRIBE_STRUCT(McpLoginState, (), (issuer, scopes, expires_at, renewable, redirect_uri))

struct McpServerState {
  std::string name;
  std::string transport;  // stdio, http or sse
  std::optional<std::string> url;
  McpState state = McpState::ready;
  std::optional<std::uint64_t> tools;  // present if it was connected to
  std::optional<McpLoginState> login;
  std::optional<std::string> reason;
  std::optional<std::string> remedy;
  std::optional<std::uint64_t> redirect_port;  // configured
};
BOOST_DESCRIBE_STRUCT(McpServerState, (),
                      (name, transport, url, state, tools, login, reason, remedy, redirect_port))

struct McpQuery {
  std::optional<std::string> cwd;
  std::optional<std::string> server;  // a name or URL: only this one
  bool check = false;                 // connect to each
};

struct NewMcpLogin {
  std::string server;  // a name or URL
  std::optional<std::string> cwd;
  std::string redirect_uri;
  std::optional<std::vector<std::string>> scopes;
};
BOOST_DESCRIBE_STRUCT(NewMcpLogin, (), (server, cwd, redirect_uri, scopes))

// waiting: for the browser. not_needed: the server requires no login. logged_in: done; with client
// credentials no browser is needed.
BOOST_DEFINE_ENUM_CLASS(McpLoginStatus, waiting, not_needed, logged_in)

struct McpLogin {
  McpLoginStatus status = McpLoginStatus::waiting;
  std::optional<std::string> login_id;
  std::string server;
  std::string url;
  std::optional<std::string> issuer;
  std::optional<std::string> authorization_url;
  std::optional<std::string> redirect_uri;
  std::optional<std::vector<std::string>> scopes;
  std::optional<Timestamp> expires_at;  // waiting: of the login; logged_in: of the token
  std::optional<std::uint64_t> tools;
  std::optional<bool> renewable;
  std::optional<std::string> reason;  // logged_in: why its tools cannot be used all the same
  std::optional<std::string> remedy;
};
BOOST_DESCRIBE_STRUCT(McpLogin, (),
                      (status, login_id, server, url, issuer, authorization_url, redirect_uri,
                       scopes, expires_at, tools, renewable, reason, remedy))

struct McpLogout {
  std::string server;
  bool was_logged_in = false;
  std::string revocation;  // confirmed, not_offered, unconfirmed
  std::optional<std::string> reason;
};
BOOST_DESCRIBE_STRUCT(McpLogout, (), (server, was_logged_in, revocation, reason))

struct NamedText {
  std::string name;
  std::string value;
};
BOOST_DESCRIBE_STRUCT(NamedText, (), (name, value))

// A server that the editor of a session brings along.
struct LentMcpServer {
  std::string name;
  std::optional<std::string> type;  // http or sse; absent: stdio
  std::optional<std::string> url;
  std::optional<std::vector<NamedText>> headers;
  std::optional<std::string> command;
  std::optional<std::vector<std::string>> args;
  std::optional<std::vector<NamedText>> env;
};
BOOST_DESCRIBE_STRUCT(LentMcpServer, (), (name, type, url, headers, command, args, env))

inline constexpr std::size_t kLentServersMax = 32;
// How long lent servers stay after they were lent or used last.
inline constexpr std::int64_t kLentServerMs = 600'000;

class McpAccess {
 public:
  template <class T>
  using To = std::move_only_function<void(Result<T>)>;

  virtual ~McpAccess() = default;
  // Any thread; the callbacks are called once, on another thread. Errors of all: unavailable;
  // invalid_params: an unknown server (the message lists those that there are), or one that cannot
  // be logged in to.
  virtual void list(McpQuery query, To<std::vector<McpServerState>> done) = 0;
  // Also: limit_exceeded; forbidden: a file has to be trusted first.
  virtual void begin_login(NewMcpLogin login, To<McpLogin> done) = 0;
  // `callback_url`: what the browser was sent to. Also: not_found: no such login; forbidden: it was
  // denied or is not of this login.
  virtual void finish_login(std::string login, std::string callback_url, To<McpLogin> done) = 0;
  virtual void log_out(std::string server, std::optional<std::string> cwd, To<McpLogout> done) = 0;
  // Offers these servers to the session, instead of those lent before. They are kept in memory, and
  // no fact holds more than their names. Also: limit_exceeded.
  virtual void lend(SessionId session, std::vector<LentMcpServer> servers,
                    To<std::string> done) = 0;
};

}  // namespace agentrt::ports
