#include "adapters/http/fetch.h"

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

class Fetch final : public HttpExchange {
 public:
  Fetch(HttpRequest request, std::size_t bytes_max, FetchedTo done)
      : request_(std::move(request)), bytes_max_(bytes_max), done_(std::move(done)) {}

  HttpRequest request() override { return std::move(request_); }
  void on_head(const HttpHead& head) override { out_.head = head; }
  HttpWants on_body(std::string_view bytes) override {
    if (out_.body.size() + bytes.size() > bytes_max_) {
      std::exchange(done_,
                    {})(fail(Code::too_large, fmt::format("sent more than {} bytes", bytes_max_)));
      return HttpWants::nothing;
    }
    out_.body += bytes;
    return HttpWants::more;
  }
  void on_end(const HttpEnd& end) override {
    if (!done_) return;
    if (end.ending == HttpEnding::complete) return std::exchange(done_, {})(std::move(out_));
    const bool refused = end.ending == HttpEnding::refused_address;
    std::exchange(done_, {})(fail(refused ? Code::forbidden : Code::unavailable, failure_of(end)));
  }

 private:
  HttpRequest request_;
  const std::size_t bytes_max_;
  FetchedTo done_;
  Fetched out_;
};

}  // namespace

HttpStreams::Ticket fetch(HttpStreams& streams, HttpRequest request, std::size_t bytes_max,
                          FetchedTo done) {
  return streams.start(std::make_shared<Fetch>(std::move(request), bytes_max, std::move(done)));
}

std::string failure_of(const HttpEnd& end) {
  switch (end.ending) {
    case HttpEnding::unreachable:
    case HttpEnding::connect_timeout:
      return fmt::format("cannot be reached ({})", end.detail);
    case HttpEnding::refused_peer:
      return fmt::format("has a certificate that is not accepted ({})", end.detail);
    case HttpEnding::refused_address:
      return "has an address that is private or local, which is refused";
    case HttpEnding::first_byte_timeout:
    case HttpEnding::idle_timeout:
    case HttpEnding::whole_timeout:
      return "did not answer in time";
    case HttpEnding::overloaded:
      return "was not asked, because too many requests are already waiting";
    case HttpEnding::unavailable:
      return fmt::format("was not asked: {}", end.detail);
    default:
      return fmt::format("broke the connection ({})", end.detail);
  }
}

}  // namespace agentrt::adapters
