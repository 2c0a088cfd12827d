// adapters/models/http_models.h: requests to models behind HTTP, from the core's side.
//
// A request is written, sent and read on the thread of the streams; what it says is handed to the
// core in the order it came, one step at a time however much there is. Core only.
#pragma once

#include <memory>
#include <unordered_map>

#include "adapters/http/http_streams.h"
#include "adapters/models/wires/wire.h"
#include "ports/loop.h"
#include "ports/models.h"

namespace agentrt::adapters {

inline constexpr std::size_t kAnswerBytesMax = 64 << 20;      // of one answer, as it is streamed
inline constexpr std::size_t kAnswerEventBytesMax = 4 << 20;  // of one event of it
inline constexpr std::size_t kErrorBodyBytesMax = 64 << 10;   // of what is no event stream

class HttpModels {
 public:
  explicit HttpModels(ports::Loop& loop) : loop_(loop) {}

  // REQUIRES: wire_of(endpoint.provider). `name` is the candidate's.
  void start(const std::string& name, const Endpoint& endpoint, ports::ModelRequest request,
             std::shared_ptr<ports::ModelListener> listener);
  void cancel(const ModelRequestId& request);
  // Closes every connection; nobody hears of it.
  void stop() { streams_.stop(); }

 private:
  class Exchange;
  struct Asked {
    HttpStreams::Ticket ticket = 0;
    std::shared_ptr<Exchange> exchange;
  };

  ports::Loop& loop_;
  std::unordered_map<ModelRequestId, Asked> asked_;
  HttpStreams streams_;
};

}  // namespace agentrt::adapters
