// adapters/models/http_models.h: model requests over HTTP.
//
// A request is written, sent and parsed on the streams' thread. Its events are posted to the core
// in order, batched so that at most one step per request is pending. Core only.
#pragma once

#include <memory>
#include <unordered_map>

#include "adapters/http/http_streams.h"
#include "adapters/models/wires/wire.h"
#include "ports/loop.h"
#include "ports/models.h"

namespace agentrt::adapters {

inline constexpr std::size_t kAnswerBytesMax = 64 << 20;      // per answer, as streamed
inline constexpr std::size_t kAnswerEventBytesMax = 4 << 20;  // per event
inline constexpr std::size_t kErrorBodyBytesMax = 64 << 10;   // of a body without events

class HttpModels {
 public:
  explicit HttpModels(ports::Loop& loop) : loop_(loop) {}

  // REQUIRES: wire_of(endpoint.provider) is not null. `name` is the candidate's name.
  void start(const std::string& name, const Endpoint& endpoint, ports::ModelRequest request,
             std::shared_ptr<ports::ModelListener> listener);
  void cancel(const ModelRequestId& request);
  // Closes every connection without calling listeners.
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
