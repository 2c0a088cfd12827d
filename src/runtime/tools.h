// runtime/tools.h: combines the built-in file and web tools and the tools of MCP servers behind one
// port.
//
// Dispatches each call to the owner of its tool. Core thread only, except objection().
#pragma once

#include "adapters/mcp/mcp_tools.h"
#include "adapters/tools/file_tools.h"
#include "adapters/web/web_tools.h"
#include "ports/tools.h"

namespace agentrt::runtime {

class JoinedTools final : public ports::Tools {
 public:
  JoinedTools(adapters::tools::FileTools& files, adapters::WebTools& web,
              adapters::McpTools& servers)
      : files_(files), web_(web), servers_(servers) {}

  void list(const SessionId& session, const std::string& cwd,
            const std::vector<std::string>& additional_roots,
            std::move_only_function<void(ports::ToolListing)> listing_to) override {
    servers_.list(session, cwd, additional_roots, std::move(listing_to));
  }
  std::optional<schema::Failure> objection(const ports::ToolRequest& request,
                                           ports::Sight sight) override {
    if (adapters::WebTools::serves(request.tool)) return web_.objection(request);
    return adapters::tools::FileTools::serves(request.tool) ? files_.objection(request, sight)
                                                            : servers_.objection(request, sight);
  }
  void start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener) override {
    if (adapters::tools::FileTools::serves(request.tool))
      files_.start(std::move(request), std::move(listener));
    else if (adapters::WebTools::serves(request.tool))
      web_.start(std::move(request), std::move(listener));
    else
      servers_.start(std::move(request), std::move(listener));
  }
  void release(const ToolCallId& call) override { files_.release(call); }
  void answer(const ToolCallId& call, const std::string& question, ports::QuestionAnswer answer,
              std::optional<schema::Json> content) override {
    servers_.answer(call, question, answer, std::move(content));
  }
  void cancel(const ToolCallId& call) override {
    files_.cancel(call);
    web_.cancel(call);
    servers_.cancel(call);
  }

 private:
  adapters::tools::FileTools& files_;
  adapters::WebTools& web_;
  adapters::McpTools& servers_;
};

}  // namespace agentrt::runtime
