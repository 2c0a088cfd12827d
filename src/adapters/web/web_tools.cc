#include "adapters/web/web_tools.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "adapters/http/public_address.h"
#include "base/check.h"
#include "base/digest.h"
#include "tools/registry.h"
#include "tools/web_fetch.h"

namespace agentrt::adapters {

using schema::Category;
using Clock = std::chrono::steady_clock;

namespace {

constexpr HttpLimits kHttpLimits{.exchanges_max = 32, .waiting_max = 1'000};
constexpr std::int64_t kConnectMs = 10'000;
constexpr std::chrono::milliseconds kParseTime{5'000};
constexpr std::size_t kMarkBytes = 12;

ports::ToolEnd failed(Category category, std::string why, bool retryable = false) {
  ports::ToolEnd end;
  end.failure = schema::Failure{category, std::move(why), retryable};
  return end;
}

bool is_redirect(const HttpHead& head) {
  const auto status = head.status;
  return head.location &&
         (status == 301 || status == 302 || status == 303 || status == 307 || status == 308);
}

std::string private_words(const std::string& host) {
  return fmt::format(
      "{} is not on the public internet: web_fetch refuses addresses of this machine and of "
      "private "
      "networks.",
      host);
}

ports::ToolEnd failed_by(const HttpEnd& end, const tools::WebAddress& address,
                         std::uint64_t time_ms) {
  const std::string& host = address.host;
  switch (end.ending) {
    case HttpEnding::refused_address:
      return failed(Category::denied, private_words(host));
    case HttpEnding::refused_peer:
      return failed(Category::unavailable,
                    fmt::format("The certificate of {} is not accepted ({}).", host, end.detail));
    case HttpEnding::unreachable:
      return failed(
          Category::unavailable,
          fmt::format("{} cannot be reached ({}). web_fetch uses no proxy.", host, end.detail),
          true);
    case HttpEnding::connect_timeout:
    case HttpEnding::first_byte_timeout:
    case HttpEnding::idle_timeout:
    case HttpEnding::whole_timeout:
      return failed(Category::timeout,
                    fmt::format("{} did not answer completely within {} ms (limits.web_fetch_ms).",
                                host, time_ms),
                    true);
    case HttpEnding::overloaded:
      return failed(Category::unavailable, "Too many pages are being loaded; try again later.",
                    true);
    case HttpEnding::unavailable:
      return failed(Category::unavailable, end.detail);
    case HttpEnding::complete:
    case HttpEnding::broken:
      break;
  }
  return failed(Category::unavailable,
                fmt::format("The connection to {} broke ({}).", host, end.detail), true);
}

}  // namespace

struct WebTools::Call {
  ports::ToolRequest request;
  std::shared_ptr<ports::ToolListener> listener;
  tools::WebAddress address;  // of the current request
  std::uint64_t bytes_max = 0;
  std::uint64_t redirects = 0;
  Clock::time_point due;
  HttpStreams::Ticket ticket = 0;
  std::atomic<bool> cancelled = false;

  // Depends on the random id of the call, so a server cannot know it.
  std::string mark() const {
    return hex(bytes_of(sha256("web content of " + request.call.text()))).substr(0, kMarkBytes);
  }
};

struct WebTools::Hop {
  HttpHead head;
  std::string body;
  bool cut = false;  // the body is longer
  HttpEnd end;
};

// One request, on the streams' thread. Its outcome goes to the core.
class WebTools::Exchange final : public HttpExchange {
 public:
  Exchange(WebTools& tools, std::shared_ptr<Call> call) : tools_(tools), call_(std::move(call)) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(call_->due - Clock::now());
    const std::int64_t ms = std::max<std::int64_t>(left.count(), 1);
    request_ = {.url = call_->address.text(),
                .headers = {"User-Agent: agentrt", "Accept: text/html, text/plain, */*;q=0.8"},
                .body = {},
                .timeouts = {std::min(ms, kConnectMs), ms, ms, ms},
                .method = HttpMethod::get,
                .admits = tools.parts_.may_connect,
                .compressed = true};
  }

  HttpRequest request() override { return std::move(request_); }
  void on_head(const HttpHead& head) override { hop_.head = head; }
  HttpWants on_body(std::string_view bytes) override {
    const std::size_t room = call_->bytes_max - hop_.body.size();
    hop_.body += bytes.substr(0, room);
    hop_.cut = bytes.size() > room;
    if (!hop_.cut) return HttpWants::more;
    tell();
    return HttpWants::nothing;
  }
  void on_end(const HttpEnd& end) override {
    hop_.end = end;
    tell();
  }

 private:
  void tell() {
    tools_.parts_.core.post([&tools = tools_, call = call_, hop = std::move(hop_)]() mutable {
      tools.take(call, std::move(hop));
    });
  }

  WebTools& tools_;
  const std::shared_ptr<Call> call_;
  HttpRequest request_;
  Hop hop_;
};

bool WebTools::serves(std::string_view tool) { return tool == tools::kWebFetch.name; }

std::optional<schema::Failure> WebTools::private_literal(const tools::WebAddress& address) const {
  const auto literal = tools::ip_literal(address);
  if (!literal) return std::nullopt;
  const auto binary = address_of(*literal);
  if (binary && parts_.may_connect(reinterpret_cast<const sockaddr&>(*binary))) return std::nullopt;
  return schema::Failure{Category::denied, private_words(address.host), false};
}

std::optional<schema::Failure> WebTools::objection(const ports::ToolRequest& request) const {
  const auto url = tools::address_in(request.tool, request.args.text);
  const auto address = tools::read_web_address(url.value_or(""));
  if (!address) return schema::Failure{Category::invalid_input, address.error().message, false};
  if (parts_.redactor && parts_.redactor->holds(*url))
    return schema::Failure{Category::denied,
                           "The URL contains the value of a secret; it is not sent to a server.",
                           false};
  return private_literal(*address);
}

void WebTools::start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener) {
  auto call = std::make_shared<Call>();
  call->listener = std::move(listener);
  call->request = std::move(request);
  check(calls_.emplace(call->request.call, call).second, "a call runs once at a time");
  if (auto why = objection(call->request)) {
    parts_.core.post(
        [this, call, why = *std::move(why)] { end(call, failed(why.category, why.message)); });
    return;
  }
  tools::WebFetchArgs args;
  const auto read = schema::from_json(call->request.args.text, args, schema::Unknown::refuse);
  check(read.has_value(), "the arguments were checked");
  call->address = tools::read_web_address(args.url).value();
  call->bytes_max =
      std::min(args.max_bytes.value_or(tools::kWebFetchBytesDefault), parts_.limits.bytes_max);
  call->due = Clock::now() + std::chrono::milliseconds(parts_.limits.time_ms);
  this->request(call);
}

void WebTools::request(const std::shared_ptr<Call>& call) {
  if (!streams_) streams_ = std::make_unique<HttpStreams>(kHttpLimits);
  call->ticket = streams_->start(std::make_shared<Exchange>(*this, call));
}

void WebTools::take(const std::shared_ptr<Call>& call, Hop hop) {
  if (call->cancelled) return;
  if (hop.end.ending != HttpEnding::complete)
    return end(call, failed_by(hop.end, call->address, parts_.limits.time_ms));
  if (is_redirect(hop.head)) return redirect(call, hop);
  show(call, std::move(hop));
}

void WebTools::redirect(const std::shared_ptr<Call>& call, const Hop& hop) {
  const std::string from = call->address.text();
  const auto next = tools::resolve(call->address, *hop.head.location);
  if (!next)
    return end(call, failed(Category::unavailable,
                            fmt::format("{} redirects to an address that web_fetch does not load "
                                        "({}).",
                                        from, next.error().message)));
  const std::string to = next->text();
  if (const auto why = private_literal(*next))
    return end(call, failed(Category::denied,
                            fmt::format("{} redirects to {}. {}", from, to, why->message)));
  if (!next->same_origin(call->address)) {
    ports::ToolEnd told;
    told.text = fmt::format(
        "[{} redirects to another host, from which nothing was loaded: {} If you want that page, "
        "call web_fetch with this URL; it is judged like any other.]\n",
        from, to);
    return end(call, std::move(told));
  }
  if (++call->redirects > parts_.limits.redirects_max)
    return end(call, failed(Category::unavailable,
                            fmt::format("{} redirects more than {} times "
                                        "(limits.web_fetch_redirects).",
                                        call->address.host, parts_.limits.redirects_max)));
  if (call->request.refused)
    if (auto why = call->request.refused(to))
      return end(call, failed(why->category,
                              fmt::format("{} redirects to {}. {}", from, to, why->message)));
  call->address = *next;
  request(call);
}

void WebTools::show(const std::shared_ptr<Call>& call, Hop hop) {
  auto response = std::make_shared<WebResponse>(
      WebResponse{call->address, std::move(hop.head), std::move(hop.body), hop.cut});
  const bool taken = parts_.worker.run([this, call, response] {
    const auto due = Clock::now() + kParseTime;
    const PageParts parts{parts_.keeper, parts_.redactor,
                          [&] { return call->cancelled || Clock::now() >= due; }};
    parts_.core.post([this, call, made = page_end(*response, call->mark(), parts)]() mutable {
      end(call, std::move(made));
    });
  });
  if (!taken)
    end(call, failed(Category::unavailable, "Too many calls are waiting; try again later.", true));
}

void WebTools::end(const std::shared_ptr<Call>& call, ports::ToolEnd end) {
  if (call->cancelled) return;
  calls_.erase(call->request.call);
  call->listener->on_ended(std::move(end));
}

void WebTools::cancel(const ToolCallId& call) {
  const auto found = calls_.extract(call);
  if (!found) return;
  found.mapped()->cancelled = true;
  if (streams_) streams_->cancel(found.mapped()->ticket);
}

void WebTools::stop() {
  for (auto& [id, call] : calls_) call->cancelled = true;
  calls_.clear();
  if (streams_) streams_->stop();
}

}  // namespace agentrt::adapters
