// cli/mcp/login.cc: `agentrt mcp login`: the browser's part of a login. The runtime does the rest,
// so that no token leaves it.
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>

#include <fmt/format.h>

#include "base/url.h"
#include "cli/mcp/callback_listener.h"
#include "cli/mcp/replies.h"
#include "cli/page/page_link.h"
#include "cli/remote/remote.h"
#include "cli/verbs.h"

namespace agentrt::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kTimeoutMaxS = 600;  // the runtime forgets the login then
constexpr std::size_t kLineBytesMax = 64 * 1024;

struct LoginParams {
  std::string server;
  std::optional<std::string> cwd;
  std::string redirect_uri;
  std::optional<std::vector<std::string>> scopes;
};
BOOST_DESCRIBE_STRUCT(LoginParams, (), (server, cwd, redirect_uri, scopes))

struct CallbackParams {
  std::string callback_url;
};
BOOST_DESCRIBE_STRUCT(CallbackParams, (), (callback_url))

// What --json prints before the outcome.
struct Opening {
  std::string authorization_url;
  std::string redirect_uri;
  std::vector<std::string> scopes;
  std::optional<Timestamp> expires_at;
};
BOOST_DESCRIBE_STRUCT(Opening, (), (authorization_url, redirect_uri, scopes, expires_at))

Result<McpLoginReply> read_reply(const std::string& text) {
  McpLoginReply out;
  TRY(schema::check_json(text));
  TRY(schema::from_json(text, out, schema::Unknown::ignore));
  return out;
}

std::string plural(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The port of the redirect that a client was registered with.
std::uint16_t registered_port(const McpServerRow& row) {
  if (row.redirect_port) return static_cast<std::uint16_t>(*row.redirect_port);
  if (!row.login || !row.login->redirect_uri) return 0;
  const auto url = agentrt::parse_url(*row.login->redirect_uri);
  return url ? url->port : std::uint16_t{0};
}

// On the port of the last login, or if it is taken, on another one: the runtime then registers the
// client again. A configured port must be free.
Result<CallbackListener> listen_for(Context& context, const Client& client,
                                    const std::string& server) {
  TRY_ASSIGN(const std::string reply, ask_mcp_servers(context, client, false, server));
  TRY_ASSIGN(const auto rows, read_mcp_servers(reply));
  const std::uint16_t port = rows.empty() ? std::uint16_t{0} : registered_port(rows.front());
  auto listener = CallbackListener::open(port);
  const bool fixed = !rows.empty() && rows.front().redirect_port;
  if (!listener && listener.error().code == Code::conflict && !fixed)
    return CallbackListener::open(0);
  return listener;
}

// Lines that a person pastes.
class Pasted {
 public:
  // Whether there may be another line.
  bool open() const { return open_; }
  // Reads what is there. The first whole line that looks like an address.
  std::optional<std::string> read() {
    std::array<char, 4'096> piece;
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
    if (got <= 0) open_ = false;
    if (got > 0) text_.append(piece.data(), static_cast<std::size_t>(got));
    if (text_.size() > kLineBytesMax) open_ = false;
    while (true) {
      const std::size_t end = text_.find('\n');
      if (end == text_.npos && (open_ || text_.empty())) return std::nullopt;
      std::string line = text_.substr(0, end);
      text_.erase(0, end == text_.npos ? end : end + 1);
      while (!line.empty() && static_cast<unsigned char>(line.back()) <= ' ') line.pop_back();
      line.erase(0, line.find_first_not_of(" \t"));
      if (!line.empty()) return line;
    }
  }

 private:
  std::string text_;
  bool open_ = true;
};

struct Waited {
  std::optional<std::string> callback;  // absent: interrupted or in vain
  bool interrupted = false;
};

Waited wait_for_browser(CallbackListener& listener, bool listens, std::string_view state,
                        Signals& signals, std::chrono::seconds limit) {
  const auto deadline = Clock::now() + limit;
  Pasted pasted;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return {};
    std::array<pollfd, 3> wait{{{listens ? listener.descriptor() : -1, POLLIN, 0},
                                {pasted.open() ? STDIN_FILENO : -1, POLLIN, 0},
                                {signals.descriptor(), POLLIN, 0}}};
    ::poll(wait.data(), wait.size(), static_cast<int>(left));
    if (signals.count() > 0) return {std::nullopt, true};
    if ((wait[0].revents & POLLIN) != 0)
      if (const auto target = listener.accept(state))
        return {fmt::format("http://127.0.0.1:{}{}", listener.port(), *target), false};
    if (wait[1].revents != 0)
      if (auto line = pasted.read()) return {std::move(line), false};
  }
}

std::string state_in(const std::string& authorization_url) {
  const auto url = agentrt::parse_url(authorization_url);
  const auto fields = url ? form_decoded(url->query) : std::nullopt;
  const std::string* const state = fields ? find_field(*fields, "state") : nullptr;
  return state ? *state : std::string();
}

void print_opening(Context& context, const McpLoginReply& reply, bool listens,
                   std::uint64_t timeout_s) {
  if (context.form() == Form::json) {
    const Opening opening{*reply.authorization_url, reply.redirect_uri.value_or(""),
                          reply.scopes.value_or(std::vector<std::string>{}), reply.expires_at};
    context.output.out(schema::to_json(opening) + "\n");
    return;
  }
  std::string out = fmt::format("{} ({}) asks for a login at {}\n", one_line(reply.server),
                                one_line(reply.url), one_line(reply.issuer.value_or("")));
  if (reply.scopes && !reply.scopes->empty())
    out += fmt::format("scopes: {}\n", one_line(fmt::format("{}", fmt::join(*reply.scopes, " "))));
  out += fmt::format("Open this address in a browser:\n  {}\n", one_line(*reply.authorization_url));
  const std::string time =
      timeout_s % 60 == 0 ? fmt::format("{} min", timeout_s / 60) : fmt::format("{} s", timeout_s);
  out += listens ? fmt::format(
                       "Waiting for the browser ({}, Ctrl-C stops). Browser on another "
                       "machine? Paste its final address here.\n",
                       time)
                 : fmt::format(
                       "Then paste the final address of the browser here ({}, Ctrl-C "
                       "stops). It does not load; that is expected.\n",
                       time);
  context.output.out(out);
}

// The last line, and the exit code.
int print_outcome(Context& context, const McpLoginReply& reply, const std::string& text) {
  const bool works = !reply.reason;
  if (context.form() == Form::json) {
    context.output.out(text + "\n");
    return works ? kExitDone : kExitFailed;
  }
  const std::string tools = reply.tools ? " · " + plural(*reply.tools, "tool") : "";
  if (reply.status == "not_needed") {
    context.output.out(fmt::format("{} needs no login{}\n", one_line(reply.server), tools));
    return kExitDone;
  }
  std::string line = fmt::format("logged in to {}{}", one_line(reply.server), tools);
  if (reply.renewable.value_or(false))
    line += " · renewed automatically";
  else if (reply.expires_at)
    line += fmt::format(" · until {}Z", format(*reply.expires_at).substr(0, 16));
  context.output.out((works ? "✓ " : "· ") + line + "\n");
  if (works) return kExitDone;
  return context.output.problem(
      {Code::forbidden,
       fmt::format("The login is stored, but {} cannot be used: {}{}{}", reply.server,
                   *reply.reason, reply.remedy ? "; " : "", reply.remedy.value_or("")),
       {}});
}

Result<int> finish(Context& context, const Client& client, CallbackListener& listener,
                   const McpLoginReply& begun, const std::string& callback) {
  const std::string target = "/v1/mcp/logins/" + url_escaped(begun.login_id.value_or(""));
  const auto text =
      client.ask("POST", target, schema::to_json(CallbackParams{callback}), kMcpReplyMs);
  if (!text) {
    listener.answer("The login failed: " + text.error().message);
    return std::unexpected(text.error());
  }
  TRY_ASSIGN(const McpLoginReply reply, read_reply(*text));
  listener.answer(fmt::format("You are logged in to {}. You can close this window.", begun.server));
  return print_outcome(context, reply, *text);
}

// Asks the runtime to begin. Repeatable: an unfinished login is worth nothing.
Result<std::string> begin(Context& context, const McpLoginArguments& arguments,
                          const Client& client, const CallbackListener& listener) {
  LoginParams params{.server = arguments.server,
                     .cwd = std::nullopt,
                     .redirect_uri = listener.redirect_uri(),
                     .scopes = std::nullopt};
  if (!is_remote(context)) params.cwd = context.cwd;
  if (!arguments.scopes.empty()) params.scopes = arguments.scopes;
  return client.ask("POST", "/v1/mcp/logins", schema::to_json(params), kMcpReplyMs);
}

Result<int> log_in(Context& context, const McpLoginArguments& arguments, Attachment& attachment,
                   Signals& signals) {
  std::optional<CallbackListener> listener;
  std::string text;
  const auto began = attachment.perform(signals, Repeat::may, [&]() -> Result<int> {
    TRY_ASSIGN(auto opened, listen_for(context, attachment.client(), arguments.server));
    listener.emplace(std::move(opened));
    TRY_ASSIGN(text, begin(context, arguments, attachment.client(), *listener));
    return kExitDone;
  });
  if (!began) return std::unexpected(began.error());
  TRY_ASSIGN(const McpLoginReply begun, read_reply(text));
  if (begun.status != "waiting") return print_outcome(context, begun, text);
  if (!begun.authorization_url || !agentrt::parse_url(*begun.authorization_url))
    return fail(Code::internal, "The runtime named no address to open.");
  const bool listens = !arguments.no_listen;
  print_opening(context, begun, listens, arguments.timeout_s);
  if (arguments.open) {
    TRY_ASSIGN(const std::string data, data_folder_of(context));
    if (const auto opened = open_in_browser(*begun.authorization_url, data + "/open.html"); !opened)
      context.output.note(opened.error().message);
  }
  const Waited waited = wait_for_browser(*listener, listens, state_in(*begun.authorization_url),
                                         signals, std::chrono::seconds(arguments.timeout_s));
  if (waited.interrupted) return kExitInterrupted;
  if (!waited.callback) {
    context.output.problem(
        {Code::timeout,
         fmt::format("The browser did not come back within {} s; run the command again.",
                     arguments.timeout_s),
         {}});
    return kExitNeedsPerson;
  }
  return finish(context, attachment.client(), *listener, begun, *waited.callback);
}

}  // namespace

int log_in_to_mcp(Context& context, const McpLoginArguments& arguments) {
  if (arguments.timeout_s == 0 || arguments.timeout_s > kTimeoutMaxS)
    return context.output.problem(
        {Code::invalid_params,
         fmt::format("--timeout must be from 1 to {} seconds.", kTimeoutMaxS),
         {}});
  Signals signals;
  auto attachment = attach_plainly(context, signals);
  if (!attachment)
    return signals.count() > 0 ? kExitInterrupted : context.output.problem(attachment.error());
  const Result<int> done = log_in(context, arguments, *attachment, signals);
  if (!done && signals.count() > 0) return kExitInterrupted;
  return done ? *done : context.output.problem(done.error());
}

}  // namespace agentrt::cli
