// channels/testing/fake_outputs.h: in-memory outputs for channel tests, served from a separate
// thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "channels/testing/fake_control_plane.h"
#include "ports/outputs.h"

namespace agentrt::channels {

class FakeOutputs final : public ports::Outputs {
 public:
  // Adds a readable ref to session "s".
  void add(const std::string& ref, std::string bytes, const std::string& media_type) {
    const std::scoped_lock lock(mutex_);
    stored_[ref] = {media_type, std::move(bytes)};
  }
  // Reads at or after this offset fail.
  void break_at(std::uint64_t offset) { break_at_ = offset; }
  std::uint64_t reads() const { return reads_; }
  std::size_t uploads_open() const { return uploads_; }
  std::size_t part_bytes_max() const { return part_bytes_max_; }

  void open(std::string ref, std::optional<SessionId> only, OpenTo open_to) override {
    worker_.post([this, ref = std::move(ref), only = std::move(only),
                  open_to = std::move(open_to)]() mutable {
      const std::scoped_lock lock(mutex_);
      const auto found = stored_.find(ref);
      if (found == stored_.end() || (only && *only != SessionId{"s"}))
        return open_to(fail(Code::not_found, "there is no such output"));
      open_to(std::make_shared<Opened>(*this, ref, found->second));
    });
  }
  Result<std::shared_ptr<ports::OutputUpload>> upload(SessionId session, std::string media_type,
                                                      std::optional<std::uint64_t> size) override {
    if (size.value_or(0) > kUploadMax) return fail(Code::too_large, "too large");
    return std::make_shared<Upload>(*this, std::move(session), std::move(media_type));
  }

  static constexpr std::uint64_t kUploadMax = 8 << 20;

 private:
  struct Stored {
    std::string media_type;
    std::string bytes;
  };

  class Opened final : public ports::OpenOutput, public std::enable_shared_from_this<Opened> {
   public:
    Opened(FakeOutputs& outputs, const std::string& ref, Stored stored)
        : outputs_(outputs), stored_(std::move(stored)) {
      record_.output_ref = ref;
      record_.size = stored_.bytes.size();
      record_.digest = "sha256:abc";
      record_.media_type = stored_.media_type;
      record_.encoding = "utf-8";
    }
    const schema::OutputRecord& record() const override { return record_; }
    // A read keeps the output open, as in OutputDesk: its reader may close it in the meantime.
    void read(std::uint64_t offset, std::size_t bytes_max, DataTo data_to) override {
      ++outputs_.reads_;
      outputs_.worker_.post(
          [self = shared_from_this(), offset, bytes_max, data_to = std::move(data_to)]() mutable {
            if (offset >= self->outputs_.break_at_) return data_to(fail(Code::internal, "broken"));
            data_to(self->stored_.bytes.substr(offset, bytes_max));
          });
    }

   private:
    FakeOutputs& outputs_;
    Stored stored_;
    schema::OutputRecord record_;
  };

  class Upload final : public ports::OutputUpload {
   public:
    Upload(FakeOutputs& outputs, SessionId session, std::string media_type)
        : outputs_(outputs), session_(std::move(session)), media_type_(std::move(media_type)) {
      ++outputs_.uploads_;
    }
    ~Upload() override { --outputs_.uploads_; }
    void put(std::string bytes, Done done) override {
      outputs_.part_bytes_max_ = std::max(outputs_.part_bytes_max_.load(), bytes.size());
      bytes_ += bytes;
      outputs_.worker_.post([large = bytes_.size() > kUploadMax, done = std::move(done)]() mutable {
        done(large ? Result<void>(fail(Code::too_large, "too large")) : Result<void>{});
      });
    }
    void finish(ports::Caller caller, ports::ReplyTo reply_to) override {
      outputs_.add("out_" + caller.principal, bytes_, media_type_);
      outputs_.worker_.post([size = bytes_.size(), session = session_.text(), media = media_type_,
                             reply_to = std::move(reply_to)]() mutable {
        reply_to(R"({"sessionId":")" + session + R"(","mediaType":")" + media + R"(","size":)" +
                 std::to_string(size) + "}");
      });
    }

   private:
    FakeOutputs& outputs_;
    SessionId session_;
    std::string media_type_;
    std::string bytes_;
  };

  std::mutex mutex_;
  std::map<std::string, Stored> stored_;
  std::atomic<std::uint64_t> break_at_{UINT64_MAX};
  std::atomic<std::uint64_t> reads_{0};
  std::atomic<std::size_t> uploads_{0};
  std::atomic<std::size_t> part_bytes_max_{0};
  TestThread worker_;
};

}  // namespace agentrt::channels
