#include "adapters/mcp/login/discovery.h"

#include <algorithm>

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

constexpr std::uint64_t kOk = 200;

struct Document {
  std::string url;
  std::string text;
};

class Discovery final : public std::enable_shared_from_this<Discovery> {
 public:
  Discovery(Asker& asker, DiscoveryQuery query, DiscoveredTo done)
      : asker_(asker), query_(std::move(query)), done_(std::move(done)) {}

  void begin() {
    if (const auto& named = query_.challenge.resource_metadata) {
      if (auto url = linked_url(*named, query_.server, "resource_metadata"); !url)
        return end(wrong(query_.server.url.origin(), url.error()));
      return first_of({*named}, [self = shared_from_this()](std::optional<Document> document) {
        self->take_resource(std::move(document));
      });
    }
    first_of(resource_metadata_urls(query_.server.url),
             [self = shared_from_this()](std::optional<Document> document) {
               self->take_resource(std::move(document));
             });
  }

 private:
  using Found = std::move_only_function<void(std::optional<Document>)>;

  static Error wrong(std::string_view where, const Error& error) {
    return {Code::forbidden, fmt::format("{} {}", where, error.message), {}};
  }

  // The first URL that answers with a document. Servers answer others in many ways, so any status
  // but 200 counts as missing.
  void first_of(std::vector<std::string> urls, Found found, std::size_t at = 0) {
    if (at == urls.size()) return found(std::nullopt);
    const std::string url = urls[at];
    asker_.get(url, query_.server.reach,
               [self = shared_from_this(), urls = std::move(urls), found = std::move(found), at,
                url](Result<Fetched> got) mutable {
                 if (!got) return self->end(got.error());
                 if (got->head.status == kOk) return found(Document{url, std::move(got->body)});
                 self->first_of(std::move(urls), std::move(found), at + 1);
               });
  }

  void take_resource(std::optional<Document> document) {
    if (!document && query_.challenge.resource_metadata)
      return end({Code::forbidden,
                  fmt::format("{}, which the server names as its metadata, has no document",
                              *query_.challenge.resource_metadata),
                  {}});
    if (!document) return look_at_origin();
    auto read = read_resource_metadata(document->text, query_.server.url);
    if (!read) return end(wrong(document->url, read.error()));
    out_.resource = read->resource;
    out_.scopes = std::move(read->scopes);
    const std::optional<std::string>& only = query_.only_issuer;
    if (only && std::ranges::find(read->issuers, *only) == read->issuers.end())
      return end({Code::forbidden,
                  fmt::format("{} does not name the configured authorization_server {}",
                              document->url, *only),
                  {}});
    look_up(only.value_or(read->issuers.front()), document->url);
  }

  void look_up(const std::string& issuer, const std::string& named_by) {
    auto url = linked_url(issuer, query_.server, "authorization server");
    if (!url) return end(wrong(named_by, url.error()));
    first_of(issuer_metadata_urls(*url), [self = shared_from_this(),
                                          issuer](const std::optional<Document>& document) {
      if (!document)
        return self->end({Code::forbidden,
                          fmt::format("the authorization server {} has no metadata", issuer),
                          {}});
      auto read = read_issuer_metadata(document->text, self->query_.server);
      if (!read) return self->end(wrong(document->url, read.error()));
      if (auto same = check_issuer(*read, issuer); !same)
        return self->end(wrong(document->url, same.error()));
      self->finish(*std::move(read));
    });
  }

  void look_at_origin() {
    out_.resource = canonical_url(query_.server.url);
    first_of({older_metadata_url(query_.server.url)},
             [self = shared_from_this()](const std::optional<Document>& document) {
               const Place& server = self->query_.server;
               if (!document) return self->finish(usual_endpoints(server.url));
               auto read = read_issuer_metadata(document->text, server);
               if (!read) return self->end(wrong(document->url, read.error()));
               const auto issuer = parse_url(read->issuer);
               if (!issuer || issuer->origin() != server.url.origin())
                 return self->end({Code::forbidden,
                                   fmt::format("{} names the issuer {}, which is another server",
                                               document->url, read->issuer),
                                   {}});
               self->finish(*std::move(read));
             });
  }

  void finish(IssuerMetadata issuer) {
    if (const auto& only = query_.only_issuer; only && !check_issuer(issuer, *only))
      return end({Code::forbidden,
                  fmt::format("{} uses the authorization server {} instead of the configured {}",
                              query_.server.url.origin(), issuer.issuer, *only),
                  {}});
    out_.issuer = std::move(issuer);
    std::exchange(done_, {})(std::move(out_));
  }

  void end(Error why) { std::exchange(done_, {})(std::unexpected(std::move(why))); }

  Asker& asker_;
  DiscoveryQuery query_;
  DiscoveredTo done_;
  Discovered out_;
};

}  // namespace

void discover(Asker& asker, DiscoveryQuery query, DiscoveredTo done) {
  std::make_shared<Discovery>(asker, std::move(query), std::move(done))->begin();
}

}  // namespace agentrt::adapters
