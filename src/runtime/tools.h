// runtime/tools.h: the runtime's own file tools and the tools of servers behind one port.
//
// A call goes to whoever has its tool. Core only.
#pragma once

#include "adapters/tools/file_tools.h"
#include "ports/tools.h"

namespace agentrt::runtime {

class JoinedTools final : public ports::Tools {
 public:
  explicit JoinedTools(adapters::tools::FileTools& files) : files_(files) {}

  void list(const SessionId&, const std::string&,
            std::move_only_function<void(ports::ToolListing)> listing_to) override {
    listing_to({});
  }
  void start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener) override {
    files_.start(std::move(request), std::move(listener));
  }
  void release(const ToolCallId& call) override { files_.release(call); }
  void answer(const ToolCallId&, const std::string&, ports::QuestionAnswer,
              std::optional<schema::Json>) override {}
  void cancel(const ToolCallId& call) override { files_.cancel(call); }

 private:
  adapters::tools::FileTools& files_;
};

}  // namespace agentrt::runtime
