// channels/protocols/output_calls.h: reads and stores outputs on behalf of the caller of another
// protocol. Network thread only.
#pragma once

#include <cstdint>
#include <string>

#include "channels/protocols/calls.h"

namespace agentrt::channels {

struct OutputBytes {
  std::string bytes;  // at most those that were asked for
  std::string media_type;
  std::uint64_t size = 0;  // of the whole output
};
using OutputDone = std::move_only_function<void(Result<OutputBytes>)>;
// The beginning of an output. Errors: those of GET /v1/outputs/{ref}.
void read_output(Services& services, const ActingAs& as, std::string ref, std::size_t bytes_max,
                 OutputDone done);

// Stores bytes that a caller sent; gives their ref. Errors: those of POST /v1/outputs.
void store_output(Services& services, const ActingAs& as, const SessionId& session,
                  std::string media_type, std::string bytes, TextDone done);

}  // namespace agentrt::channels
