// ports/outputs.h: bytes that are too many for a fact, behind refs.
//
// OutputKeeper is for whoever produces bytes (tools, processes): it stores them, redacted, and
// gives back a KeptOutput, to be carried by the report whose decision makes the facts; only those
// facts bind the ref to a session. Outputs is for channels: it opens refs and takes uploads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ports/control_plane.h"
#include "schema/outputs.h"

namespace agentrt::ports {

struct OutputMeta {
  std::string media_type = "text/plain";
  std::optional<std::uint64_t> whole_size;  // of a capped output: how many bytes there were
};

class OutputKeeper {
 public:
  virtual ~OutputKeeper() = default;
  // Both block and are called on a Worker. When they return, the bytes are on disk. Memory is
  // bounded whatever the size. storage_full, unavailable.
  virtual Result<schema::KeptOutput> keep_file(const std::string& path, const OutputMeta& meta) = 0;
  virtual Result<schema::KeptOutput> keep_bytes(std::string_view bytes, const OutputMeta& meta) = 0;
};

// An output that was found, whose bytes are whole.
class OpenOutput {
 public:
  virtual ~OpenOutput() = default;
  virtual const schema::OutputRecord& record() const = 0;
  using DataTo = std::move_only_function<void(Result<std::string>)>;
  // Any thread; `data_to` is called once, on a worker's thread or, refused for load, at once. At
  // most `bytes_max` bytes, fewer only at the end. One read at a time.
  virtual void read(std::uint64_t offset, std::size_t bytes_max, DataTo data_to) = 0;
};

// Bytes on their way in. Dropped before finish(), it leaves nothing behind.
class OutputUpload {
 public:
  virtual ~OutputUpload() = default;
  using Done = std::move_only_function<void(Result<void>)>;
  // Any thread, one call at a time, each after the one before was answered; answered on a worker's
  // thread or, refused for load, at once. too_large when the limit is passed.
  virtual void put(std::string bytes, Done done) = 0;
  // The reply comes after the bytes and the fact that names them are stored.
  virtual void finish(Caller caller, ReplyTo reply_to) = 0;
};

class Outputs {
 public:
  virtual ~Outputs() = default;
  using OpenTo = std::move_only_function<void(Result<std::shared_ptr<OpenOutput>>)>;
  // Any thread; answered once, on a worker's thread or at once. With `only`, outputs of other
  // sessions are not there. not_found, expired, internal (the bytes are damaged), overloaded.
  virtual void open(std::string ref, std::optional<SessionId> only, OpenTo open_to) = 0;
  // overloaded when there are too many uploads; too_large when `size` is known and past the limit.
  virtual Result<std::shared_ptr<OutputUpload>> upload(SessionId session, std::string media_type,
                                                       std::optional<std::uint64_t> size) = 0;
};

}  // namespace agentrt::ports
