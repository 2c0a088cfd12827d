#include "adapters/models/http_models.h"

#include <algorithm>
#include <iterator>
#include <mutex>

#include <fmt/format.h>

#include "adapters/models/raw_exchange.h"
#include "base/check.h"
#include "base/event_stream.h"

namespace agentrt::adapters {

using namespace schema;

namespace {

// http://HOST:PORT of a URL, for messages about a server that did not answer.
std::string address_of(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t end = url.find('/', scheme == std::string::npos ? 0 : scheme + 3);
  return url.substr(0, end);
}

ports::ModelFault fault_of_end(const HttpEnd& end, const Subject& subject,
                               const HttpTimeouts& limits) {
  const std::string& address = subject.address;
  switch (end.ending) {
    case HttpEnding::complete:
      break;
    case HttpEnding::unreachable:
    case HttpEnding::refused_address:  // these requests do not restrict addresses
      return broken_fault(FaultCause::connection, Category::unavailable,
                          fmt::format("{} cannot be reached ({}); start that server, or correct {}",
                                      address, end.detail, subject.url_setting),
                          Again::later);
    case HttpEnding::refused_peer:
      return broken_fault(
          FaultCause::connection, Category::unavailable,
          fmt::format("the certificate of {} is not accepted ({}); if it is your own server, set "
                      "SSL_CERT_FILE to the file of its certificate authority",
                      address, end.detail),
          Again::never);
    case HttpEnding::broken:
      return wrong_answer(FaultCause::connection,
                          fmt::format("the connection to {} broke ({})", address, end.detail),
                          Again::later);
    case HttpEnding::connect_timeout:
      return broken_fault(
          FaultCause::timeout, Category::timeout,
          fmt::format("{} did not accept a connection within {} ms", address, limits.connect_ms),
          Again::later);
    case HttpEnding::first_byte_timeout:
      return broken_fault(FaultCause::timeout, Category::timeout,
                          fmt::format("{} sent nothing for {} ms; raise first_byte_timeout_ms in "
                                      "[models.{}] if the model needs longer",
                                      address, limits.first_byte_ms, subject.name),
                          Again::later);
    case HttpEnding::idle_timeout:
      return broken_fault(FaultCause::stalled, Category::timeout,
                          fmt::format("the answer stalled for {} ms", limits.idle_ms),
                          Again::later);
    case HttpEnding::whole_timeout:
      return broken_fault(FaultCause::timeout, Category::timeout,
                          fmt::format("the answer took longer than {} ms", limits.whole_ms),
                          Again::never);
    case HttpEnding::overloaded:
      return broken_fault(FaultCause::overloaded, Category::unavailable,
                          "too many model requests are already waiting", Again::later);
    case HttpEnding::unavailable:
      return broken_fault(FaultCause::connection, Category::unavailable, end.detail, Again::never);
  }
  return wrong_answer(FaultCause::connection, "the answer broke off before its end", Again::later);
}

}  // namespace

// One request. Runs on the streams' thread, except hear() and forget(), which run on the core.
class HttpModels::Exchange final : public HttpExchange,
                                   public std::enable_shared_from_this<Exchange> {
 public:
  Exchange(HttpModels& models, const std::string& name, const Endpoint& endpoint,
           ports::ModelRequest request, std::shared_ptr<ports::ModelListener> listener)
      : models_(models),
        listener_(std::move(listener)),
        endpoint_(endpoint),
        request_(std::move(request)),
        subject_{.name = name,
                 .model = endpoint.model,
                 .model_setting = endpoint.model_setting,
                 .url_setting = endpoint.url_setting,
                 .key_setting = endpoint.key_setting,
                 .address = address_of(endpoint.base_url),
                 .key_env = endpoint.key_env,
                 .key = endpoint.key},
        reader_(wire_of(endpoint.provider)->read(answer_, subject_)) {}

  HttpRequest request() override {
    if (!endpoint_.takes_tools) request_.tools.clear();
    HttpRequest http = wire_of(endpoint_.provider)->write(endpoint_, request_);
    request_.messages.clear();  // already encoded; releases the memory of images
    if (endpoint_.keep_payloads) raw_request_ = raw_request(http);
    return http;
  }

  void on_head(const HttpHead& head) override {
    head_ = head;
    if (endpoint_.keep_payloads) raw_response_.put(raw_head(head));
    const bool good = head.status >= 200 && head.status < 300;
    streams_events_ =
        good && (head.content_type.empty() || head.content_type.contains("text/event-stream"));
  }

  HttpWants on_body(std::string_view bytes) override {
    if (endpoint_.keep_payloads) raw_response_.put(bytes);
    if (!streams_events_) return keep_body(bytes);
    bytes_ += bytes.size();
    if (bytes_ > kAnswerBytesMax)
      answer_.fail(wrong_answer(
          FaultCause::malformed,
          fmt::format("the provider sent more than {} MiB in one answer", kAnswerBytesMax >> 20),
          Again::never));
    const auto events = parser_.feed(bytes);
    if (!events)
      answer_.fail(wrong_answer(
          FaultCause::malformed,
          fmt::format("the provider sent an event of more than {} MiB", kAnswerEventBytesMax >> 20),
          Again::never));
    if (events)
      for (const StreamEvent& event : *events) reader_->on_event(event.type, event.data);
    tell();
    return answer_.over() ? HttpWants::nothing : HttpWants::more;
  }

  void on_end(const HttpEnd& end) override {
    if (end.ending != HttpEnding::complete)
      answer_.fail(fault_of_end(end, subject_, endpoint_.timeouts));
    else if (streams_events_)
      reader_->on_end();
    else
      answer_.fail(fault_of_body());
    tell();
  }

  // Core only: the listener is not called again.
  void forget() { listener_.reset(); }

 private:
  // The beginning of a body that is not an event stream is enough for an error message.
  HttpWants keep_body(std::string_view bytes) {
    body_ += bytes.substr(0, kErrorBodyBytesMax - body_.size());
    if (body_.size() < kErrorBodyBytesMax) return HttpWants::more;
    answer_.fail(fault_of_body());
    tell();
    return HttpWants::nothing;
  }

  ports::ModelFault fault_of_body() const {
    const ProviderWords words = read_provider_words(body_);
    if (head_.status < 200 || head_.status >= 300)
      return status_fault(head_.status, words, head_.retry_after_ms, subject_);
    if (body_.find_first_not_of(" \t\r\n") == std::string::npos)
      return wrong_answer(FaultCause::empty, "the provider's answer has no body", Again::later);
    if (body_.contains("\"error\"") && !words.empty()) return told_fault(words, subject_);
    return wrong_answer(
        FaultCause::malformed,
        fmt::format("{} answered with {} instead of an event stream; correct {}, or choose another "
                    "provider",
                    subject_.address, utf8_prefix(head_.content_type, kContentTypeShown),
                    subject_.url_setting),
        Again::never);
  }

  // Posts new events to the core; at most one step is pending.
  void tell() {
    std::vector<Said> said = answer_.take();
    if (said.empty()) return;
    const std::lock_guard lock(mutex_);
    if (endpoint_.keep_payloads && answer_.over() && !raw_)
      raw_ = Raw{std::move(raw_request_), raw_response_.text()};
    const bool idle = said_.empty();
    std::ranges::move(said, std::back_inserter(said_));
    if (idle) models_.loop_.post([self = shared_from_this()] { self->hear(); });
  }

  void hear() {
    std::vector<Said> said;
    std::optional<Raw> raw;
    {
      const std::lock_guard lock(mutex_);
      said = std::exchange(said_, {});
      raw = raw_;
    }
    for (Said& one : said) {
      const std::shared_ptr<ports::ModelListener> listener = listener_;
      if (!listener) return;
      if (std::holds_alternative<SaidEnd>(one) || std::holds_alternative<ports::ModelFault>(one)) {
        end();
        if (raw) listener->on_raw(std::move(raw->request), std::move(raw->response));
      }
      std::visit([&](auto& what) { say(*listener, what); }, one);
    }
  }
  void end() {
    forget();
    models_.asked_.erase(request_.id);
  }
  static void say(ports::ModelListener& to, SaidText& what) { to.on_text(what.text); }
  static void say(ports::ModelListener& to, SaidReasoning& what) { to.on_reasoning(what.text); }
  static void say(ports::ModelListener& to, SaidCallPiece& what) {
    to.on_call_piece(what.number, what.name, what.piece);
  }
  static void say(ports::ModelListener& to, SaidCall& what) {
    to.on_call(std::move(what.name), std::move(what.args));
  }
  static void say(ports::ModelListener& to, SaidState& what) { to.on_state(std::move(what.state)); }
  static void say(ports::ModelListener& to, SaidEnd& what) {
    to.on_completed(what.reason, what.usage);
  }
  static void say(ports::ModelListener& to, ports::ModelFault& what) { to.on_failed(what); }

  static constexpr std::size_t kContentTypeShown = 80;

  HttpModels& models_;                              // core only, except its loop
  std::shared_ptr<ports::ModelListener> listener_;  // core only
  const Endpoint endpoint_;
  ports::ModelRequest request_;  // its id never changes and is also read on the core
  const Subject subject_;
  Answer answer_;
  std::unique_ptr<WireReader> reader_;
  EventStreamParser parser_{kAnswerEventBytesMax};
  HttpHead head_;
  bool streams_events_ = false;
  std::string body_;
  std::size_t bytes_ = 0;

  std::string raw_request_;
  HeadAndTail raw_response_;

  struct Raw {
    std::string request, response;
  };
  std::mutex mutex_;
  std::vector<Said> said_;  // guarded: not delivered to the core yet
  std::optional<Raw> raw_;  // guarded: set at the end of the answer
};

void HttpModels::start(const std::string& name, const Endpoint& endpoint,
                       ports::ModelRequest request,
                       std::shared_ptr<ports::ModelListener> listener) {
  check(wire_of(endpoint.provider) != nullptr, "a model behind HTTP has a wire");
  const ModelRequestId id = request.id;
  auto exchange =
      std::make_shared<Exchange>(*this, name, endpoint, std::move(request), std::move(listener));
  asked_[id] = {streams_.start(exchange), exchange};
}

void HttpModels::cancel(const ModelRequestId& request) {
  const auto found = asked_.find(request);
  if (found == asked_.end()) return;
  found->second.exchange->forget();
  streams_.cancel(found->second.ticket);
  asked_.erase(found);
}

}  // namespace agentrt::adapters
