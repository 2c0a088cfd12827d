// channels/output_access.h: the outputs as transports reach them: with checked tokens only.
#pragma once

#include <memory>

#include "channels/authorization.h"
#include "ports/outputs.h"

namespace agentrt::channels {

// An upload in progress, with the caller that began it. Destroying it before finish() discards the
// bytes.
class AuthorizedUpload {
 public:
  AuthorizedUpload(std::shared_ptr<ports::OutputUpload> upload, ports::Caller caller)
      : upload_(std::move(upload)), caller_(std::move(caller)) {}

  void put(std::string bytes, ports::OutputUpload::Done done) {
    upload_->put(std::move(bytes), std::move(done));
  }
  void finish(ports::ReplyTo reply_to) { upload_->finish(caller_, std::move(reply_to)); }

 private:
  std::shared_ptr<ports::OutputUpload> upload_;
  const ports::Caller caller_;
};

// Any thread.
class OutputAccess {
 public:
  explicit OutputAccess(ports::Outputs& outputs) : outputs_(outputs) {}

  // To a token that is bound to a session, outputs of other sessions are not_found.
  void open(ports::Authorized<OutputQuery> query, ports::Outputs::OpenTo open_to) {
    auto [asked, caller] = std::move(query).take();
    outputs_.open(std::move(asked.ref), std::move(caller.session), std::move(open_to));
  }
  Result<std::shared_ptr<AuthorizedUpload>> upload(ports::Authorized<NewUpload> wanted) {
    auto [target, caller] = std::move(wanted).take();
    TRY_ASSIGN(auto upload, outputs_.upload(std::move(target.session), std::move(target.media_type),
                                            target.size));
    return std::make_shared<AuthorizedUpload>(std::move(upload), std::move(caller));
  }

 private:
  ports::Outputs& outputs_;
};

}  // namespace agentrt::channels
