#include <fmt/format.h>

#include "channels/handlers/handlers.h"
#include "channels/handlers/ranges.h"
#include "channels/limits.h"
#include "channels/request_checks.h"

namespace agentrt::channels {
namespace {

constexpr std::string_view kAnyBytes = "application/octet-stream";

// The body of a reply: a byte range of an output.
class OutputSource final : public BodySource {
 public:
  OutputSource(std::shared_ptr<ports::OpenOutput> output, ByteRange range,
               std::shared_ptr<Inbox> inbox)
      : output_(std::move(output)), range_(range), inbox_(std::move(inbox)) {}

  void next(PieceTo piece_to) override {
    const auto size =
        static_cast<std::size_t>(std::min<std::uint64_t>(range_.size, kOutputPieceBytes));
    output_->read(
        range_.offset, size,
        [inbox = inbox_, piece_to = std::move(piece_to)](Result<std::string> piece) mutable {
          inbox->post([piece_to = std::move(piece_to), piece = std::move(piece)]() mutable {
            piece_to(std::move(piece));
          });
        });
    range_.offset += size;
    range_.size -= size;
  }

 private:
  std::shared_ptr<ports::OpenOutput> output_;
  ByteRange range_;  // still to be read
  std::shared_ptr<Inbox> inbox_;
};

Response output_head(const schema::OutputRecord& record, const std::string& etag) {
  Response response;
  response.content_type = record.media_type.value_or(std::string(kAnyBytes));
  const bool text = response.content_type.starts_with("text/");
  if (text && record.encoding == "utf-8" && !response.content_type.contains(';'))
    response.content_type += "; charset=utf-8";
  response.cache_control = "private";
  response.fields.emplace_back("ETag", etag);
  response.fields.emplace_back("Accept-Ranges", "bytes");
  // Prevents scripts in the content from running, whatever its type.
  response.fields.emplace_back("Content-Security-Policy", "sandbox; default-src 'none'");
  if (!shown_in_place(response.content_type))
    response.fields.emplace_back("Content-Disposition",
                                 fmt::format("attachment; filename=\"{}\"", record.output_ref));
  return response;
}

void send_output(Exchange& exchange, const std::shared_ptr<ports::OpenOutput>& output,
                 const std::shared_ptr<Inbox>& inbox) {
  const schema::OutputRecord& record = output->record();
  const Head& head = exchange.request.head;
  const std::string etag = fmt::format("\"{}\"", record.digest);
  Response response = output_head(record, etag);
  if (head.if_none_match && names_etag(*head.if_none_match, etag)) {
    response.status = 304;
    return exchange.respond(std::move(response));
  }
  const auto [kind, range] = read_range(head, record.size, etag);
  if (kind == RangeKind::unsatisfiable) {
    response = error_response(
        {Code::invalid_params, fmt::format("Range: the output has {} bytes", record.size), {}});
    response.status = 416;
    response.fields.emplace_back("Content-Range", fmt::format("bytes */{}", record.size));
    return exchange.respond(std::move(response));
  }
  if (kind == RangeKind::part) {
    response.status = 206;
    response.fields.emplace_back(
        "Content-Range",
        fmt::format("bytes {}-{}/{}", range.offset, range.offset + range.size - 1, record.size));
  }
  response.length = range.size;
  exchange.send(std::move(response), std::make_shared<OutputSource>(output, range, inbox));
}

// The media type of an upload: the query parameter, or the header field, or
// application/octet-stream.
Result<std::string> media_type_of(const Head& head, const Query& query) {
  // The default of command-line clients; it says nothing about the content.
  constexpr std::string_view kForm = "application/x-www-form-urlencoded";
  if (const std::string* const chosen = find(query, "mediaType")) {
    if (!valid_media_type(*chosen))
      return fail(Code::invalid_params, "mediaType: expected a media type such as text/plain");
    return *chosen;
  }
  const std::string& field = head.content_type.value_or("");
  if (!valid_media_type(field) || field.starts_with(kForm)) return std::string(kAnyBytes);
  return field;
}

}  // namespace

Result<std::shared_ptr<AuthorizedUpload>> begin_output(Services& services, const Head& head,
                                                       const Query& query,
                                                       const Identity& identity) {
  const std::string* const session = find(query, "sessionId");
  if (!session || !well_formed_id(*session))
    return fail(Code::invalid_params, "sessionId: expected the id of a session");
  TRY_ASSIGN(std::string media_type, media_type_of(head, query));
  TRY_ASSIGN(auto allowed,
             Authorization::upload(
                 &identity, {SessionId{*session}, std::move(media_type), head.content_length},
                 origin_of(head)));
  return services.outputs.upload(std::move(allowed));
}

void post_output(Services& services, const ExchangePtr& exchange) {
  const auto upload = std::exchange(exchange->request.upload, nullptr);
  upload->finish(reply_to(services, exchange));
}

void get_output(Services& services, const ExchangePtr& exchange) {
  auto allowed = Authorization::output(exchange->identity.get(), {exchange->request.ids[0]});
  if (!allowed) return exchange->respond(error_response(allowed.error()));
  services.outputs.open(*std::move(allowed),
                        [inbox = services.inbox, waiting = std::weak_ptr(exchange)](
                            Result<std::shared_ptr<ports::OpenOutput>> opened) {
                          inbox->post([inbox, waiting, opened = std::move(opened)] {
                            const auto asker = waiting.lock();
                            if (!asker) return;
                            if (!opened) return asker->respond(error_response(opened.error()));
                            send_output(*asker, *opened, inbox);
                          });
                        });
}

}  // namespace agentrt::channels
