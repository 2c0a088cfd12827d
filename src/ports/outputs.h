// ports/outputs.h: the ports for outputs: bytes too large for a fact, stored outside the log and
// addressed by refs.
//
// OutputKeeper is for producers of bytes (tools, processes). It redacts and stores the bytes and
// returns a KeptOutput. The caller puts that into a report; the facts decided from the report bind
// the ref to a session. Outputs is for channels: it opens refs and accepts uploads.
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
  std::optional<std::uint64_t> whole_size;  // size before truncation, if the output was capped
};

class OutputKeeper {
 public:
  virtual ~OutputKeeper() = default;
  // Both block and are called on a Worker. When they return, the bytes are durable. Memory use is
  // bounded for any size. Errors: storage_full, unavailable.
  virtual Result<schema::KeptOutput> keep_file(const std::string& path, const OutputMeta& meta) = 0;
  virtual Result<schema::KeptOutput> keep_bytes(std::string_view bytes, const OutputMeta& meta) = 0;
};

// An open output whose bytes are complete.
class OpenOutput {
 public:
  virtual ~OpenOutput() = default;
  virtual const schema::OutputRecord& record() const = 0;
  using DataTo = std::move_only_function<void(Result<std::string>)>;
  // Any thread; one read at a time. Calls `data_to` once, on a worker thread, or immediately with
  // `overloaded`. Returns at most `bytes_max` bytes; fewer only at the end of the output.
  virtual void read(std::uint64_t offset, std::size_t bytes_max, DataTo data_to) = 0;
};

// An upload in progress. Destroying it before finish() discards the bytes.
class OutputUpload {
 public:
  virtual ~OutputUpload() = default;
  using Done = std::move_only_function<void(Result<void>)>;
  // Any thread; call it again only after `done` was called. `done` runs on a worker thread, or
  // immediately with `overloaded`. too_large: the upload exceeds the limit.
  virtual void put(std::string bytes, Done done) = 0;
  // Replies after the bytes and the fact that names them are durable.
  virtual void finish(Caller caller, ReplyTo reply_to) = 0;
};

class Outputs {
 public:
  virtual ~Outputs() = default;
  using OpenTo = std::move_only_function<void(Result<std::shared_ptr<OpenOutput>>)>;
  // Any thread; `open_to` is called once, on a worker thread or immediately. With `only`, outputs
  // of other sessions are not found, unless that session is a fork and its inherited turns name
  // them. Errors: not_found, expired, internal (the bytes are damaged),
  // overloaded.
  virtual void open(std::string ref, std::optional<SessionId> only, OpenTo open_to) = 0;
  // Errors: overloaded (too many uploads in progress); too_large (`size` is known and exceeds the
  // limit).
  virtual Result<std::shared_ptr<OutputUpload>> upload(SessionId session, std::string media_type,
                                                       std::optional<std::uint64_t> size) = 0;
};

}  // namespace agentrt::ports
