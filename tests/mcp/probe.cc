// tests/mcp/probe.cc: the MCP client as a program, for tests against third-party MCP servers.
//
//   mcp_probe [--call TOOL ARGS]... [--pause MS] [--at-once] [--answer JSON]
//             ([--sse] URL | -- PROGRAM ARGUMENTS...)
//
// Lists the tools, makes the calls one after the other with a pause in between, or all at once,
// accepts every question with the given answer, and prints one JSON object per line for everything
// it receives. Exit status 1: a result is missing.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "adapters/mcp/mcp_tools.h"
#include "base/real_path.h"

using namespace agentrt;

namespace {

struct Wanted {
  std::vector<std::pair<std::string, std::string>> calls;
  std::chrono::milliseconds pause{0};
  bool at_once = false;
  std::string answer = "{}";
  adapters::McpServer server;
};

void print(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

std::string as_text(const std::string& text) {
  std::string out;
  schema::write_string(out, text);
  return out;
}

// Discards outputs; returns only their metadata.
class CountingKeeper final : public ports::OutputKeeper {
 public:
  Result<schema::KeptOutput> keep_file(const std::string&, const ports::OutputMeta&) override {
    return fail(Code::unavailable, "no file is kept here");
  }
  Result<schema::KeptOutput> keep_bytes(std::string_view bytes,
                                        const ports::OutputMeta& meta) override {
    schema::KeptOutput out;
    out.ref = OutputRef{fmt::format("{}", ++count_)};
    out.size = bytes.size();
    out.media_type = meta.media_type;
    return out;
  }

 private:
  int count_ = 0;
};

class LoopWorker final : public ports::Worker {
 public:
  bool run(ports::Step task) override {
    loop_.post(std::move(task));
    return true;
  }

 private:
  adapters::IoLoop loop_{"probe-worker"};
};

class Printer final : public ports::ToolListener {
 public:
  Printer(ports::Tools& tools, ToolCallId call, std::string answer, std::promise<void>& ended)
      : tools_(tools), call_(std::move(call)), answer_(std::move(answer)), ended_(ended) {}

  void on_change(schema::FileChange, schema::KeptOutput,
                 std::optional<schema::KeptOutput>) override {}
  void on_progress(std::string text) override {
    print(fmt::format(R"({{"progress":{}}})", as_text(text)));
  }
  void on_warning(std::string code, std::string message) override {
    print(fmt::format(R"({{"warning":{},"message":{}}})", as_text(code), as_text(message)));
  }
  void on_question(ports::ToolQuestion question) override {
    print(fmt::format(R"({{"question":{},"schema":{}}})", as_text(question.prompt),
                      question.schema.text));
    tools_.answer(call_, question.id, ports::QuestionAnswer::accept, schema::Json{answer_});
  }
  void on_ended(ports::ToolEnd end) override {
    std::string media;
    for (const auto& output : end.outputs)
      media += fmt::format("{}{}", media.empty() ? "" : ",", as_text(output.media_type));
    print(fmt::format(R"({{"text":{},"isError":{},"outputs":[{}],"structured":{},"failure":{}}})",
                      as_text(end.text), end.is_error, media, end.structured.has_value(),
                      as_text(end.failure ? end.failure->message : "")));
    ended_.set_value();
  }

 private:
  ports::Tools& tools_;
  const ToolCallId call_;
  const std::string answer_;
  std::promise<void>& ended_;
};

bool list(adapters::IoLoop& core, ports::Tools& tools, const std::string& cwd) {
  std::promise<bool> listed;
  core.post([&] {
    tools.list(SessionId{"probe"}, cwd, {}, [&](ports::ToolListing listing) {
      std::string names, missing;
      for (const auto& tool : listing.tools)
        names += fmt::format("{}{}", names.empty() ? "" : ",", as_text(tool.tool_name));
      for (const auto& each : listing.missing)
        missing += fmt::format("{}{}", missing.empty() ? "" : ",", as_text(each.reason));
      print(fmt::format(R"({{"tools":[{}],"missing":[{}]}})", names, missing));
      listed.set_value(listing.missing.empty());
    });
  });
  return listed.get_future().get();
}

void call_all(adapters::IoLoop& core, ports::Tools& tools, const std::string& cwd,
              const Wanted& wanted) {
  std::vector<std::promise<void>> ended(wanted.calls.size());
  for (std::size_t i = 0; i < wanted.calls.size(); ++i) {
    if (i > 0) std::this_thread::sleep_for(wanted.pause);
    core.post([&, i] {
      ports::ToolRequest request;
      request.session = SessionId{"probe"};
      request.call = ToolCallId{fmt::format("call{}", i)};
      request.tool = "mcp__probed__" + wanted.calls[i].first;
      request.args = {wanted.calls[i].second};
      request.workspace = cwd;
      auto printer = std::make_shared<Printer>(tools, request.call, wanted.answer, ended[i]);
      tools.start(std::move(request), std::move(printer));
    });
    if (!wanted.at_once) ended[i].get_future().wait();
  }
  if (wanted.at_once)
    for (auto& each : ended) each.get_future().wait();
}

Wanted wanted_of(std::vector<std::string> words, const std::string& cwd) {
  Wanted out;
  out.server.name = "probed";
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--call" && i + 2 < words.size()) {
      out.calls.emplace_back(words[i + 1], words[i + 2]);
      i += 2;
    } else if (words[i] == "--answer" && i + 1 < words.size()) {
      out.answer = words[++i];
    } else if (words[i] == "--pause" && i + 1 < words.size()) {
      out.pause = std::chrono::milliseconds(std::stoi(words[++i]));
    } else if (words[i] == "--at-once") {
      out.at_once = true;
    } else if (words[i] == "--sse" && i + 1 < words.size()) {
      out.server.way = adapters::McpHttp{words[++i], {}, adapters::McpHttpKind::older};
    } else if (words[i] == "--") {
      adapters::McpStdio program;
      program.command.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      program.profile.mode = schema::SandboxMode::full_access;
      program.profile.network = schema::CommandNetwork::host;
      program.profile.cwd = cwd;
      program.profile.roots = {cwd};
      program.profile.environment = {fmt::format("PATH={}", std::getenv("PATH"))};
      out.server.way = program;
      return out;
    } else {
      out.server.way = adapters::McpHttp{words[i], {}, adapters::McpHttpKind::streamable};
    }
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string cwd = real_path(std::filesystem::current_path().string());
  const Wanted wanted = wanted_of({argv + 1, argv + argc}, cwd);
  CountingKeeper keeper;
  adapters::IoLoop core("probe-core");
  LoopWorker worker;
  adapters::McpTools tools(
      {.core = core, .worker = worker, .keeper = keeper, .servers = [&](const std::string&) {
         return std::vector<adapters::McpServer>{wanted.server};
       }});
  const bool whole = list(core, tools, cwd);
  if (whole) call_all(core, tools, cwd, wanted);
  tools.stop();
  core.stop();
  return whole ? 0 : 1;
}
