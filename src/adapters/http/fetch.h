// adapters/http/fetch.h: a request whose complete response is wanted, up to a limit of bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "adapters/http/http_streams.h"
#include "base/result.h"

namespace agentrt::adapters {

struct Fetched {
  HttpHead head;
  std::string body;
};
using FetchedTo = std::move_only_function<void(Result<Fetched>)>;

// Calls `done` once, on the streams' thread, unless the ticket is cancelled. Errors: unavailable:
// no response, with the reason as the rest of a sentence that names the server; forbidden:
// `admits` accepted no address; too_large.
HttpStreams::Ticket fetch(HttpStreams& streams, HttpRequest request, std::size_t bytes_max,
                          FetchedTo done);

// Why an exchange without a response failed, as the rest of a sentence: "cannot be reached (…)".
std::string failure_of(const HttpEnd& end);

}  // namespace agentrt::adapters
