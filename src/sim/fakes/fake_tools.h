// sim/fakes/fake_tools.h: simulated files and a simulated MCP server that outlive the runtime.
//
// Written files survive a crash of the runtime, and a request to the server may have been carried
// out before the crash. The server has two tools: `mcp__sim__look` only reads; `mcp__sim__act`
// acts, and asks a person first if its arguments say so.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "ports/loop.h"
#include "ports/tools.h"

namespace agentrt::sim {

struct FakeFiles {
  std::map<std::string, std::string> bytes;         // by path
  std::map<ToolCallId, std::size_t> written;        // writes per call
  std::map<ToolCallId, std::size_t> acted;          // actions of the server per call
  std::function<void(const ToolCallId&)> on_write;  // called before a call writes
  bool waits = true;  // false: plants a defect: files are written before the change is stored
};

class FakeTools final : public ports::Tools {
 public:
  FakeTools(ports::Loop& loop, FakeFiles& files) : loop_(loop), files_(files) {}

  void list(const SessionId& session, const std::string& cwd,
            const std::vector<std::string>& additional_roots,
            std::move_only_function<void(ports::ToolListing)> listing_to) override;
  std::optional<schema::Failure> objection(const ports::ToolRequest&, ports::Sight) override {
    return {};
  }
  void start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener) override;
  void release(const ToolCallId& call) override;
  void answer(const ToolCallId& call, const std::string& question, ports::QuestionAnswer answer,
              std::optional<schema::Json> content) override;
  void cancel(const ToolCallId& call) override { calls_.erase(call); }

 private:
  struct Call {
    ports::ToolRequest request;
    std::shared_ptr<ports::ToolListener> listener;
  };

  void write(const ToolCallId& call);
  void act(const ToolCallId& call);
  void end_soon(const ToolCallId& call, ports::ToolEnd end);

  ports::Loop& loop_;
  FakeFiles& files_;
  std::map<ToolCallId, Call> calls_;
  std::size_t listings_ = 0;  // every third begins while the server is starting
};

}  // namespace agentrt::sim
