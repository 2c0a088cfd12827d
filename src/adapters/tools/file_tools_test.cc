// adapters/tools/file_tools_test.cc: tests parallel calls on real threads.
#include "adapters/tools/file_tools.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "adapters/tools/testing/file_tools_fixture.h"
#include "tools/registry.h"

namespace agentrt::adapters::tools {
namespace {

// A loop whose steps any thread may post; the test runs them.
class PostedLoop final : public ports::Loop {
 public:
  void post(ports::Step step) override {
    const std::scoped_lock lock(mutex_);
    steps_.push_back(std::move(step));
    more_.notify_one();
  }
  Timestamp now() const override { return {0}; }
  TimerId after(std::int64_t, ports::Step) override { return 0; }
  void cancel(TimerId) override {}

  void run_one() {
    std::unique_lock lock(mutex_);
    more_.wait(lock, [this] { return !steps_.empty(); });
    ports::Step step = std::move(steps_.front());
    steps_.pop_front();
    lock.unlock();
    step();
  }

 private:
  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<ports::Step> steps_;
};

// One thread per task.
struct Threads final : ports::Worker {
  bool run(ports::Step task) override {
    all.emplace_back(std::move(task));
    return true;
  }
  std::vector<std::jthread> all;
};

struct LockedKeeper final : ports::OutputKeeper {
  Result<schema::KeptOutput> keep_file(const std::string&, const ports::OutputMeta&) override {
    return fail(Code::unavailable, "not here");
  }
  Result<schema::KeptOutput> keep_bytes(std::string_view bytes,
                                        const ports::OutputMeta& meta) override {
    const std::scoped_lock lock(mutex);
    return kept.keep_bytes(bytes, meta);
  }
  KeptBytes& kept;
  std::mutex mutex;
  explicit LockedKeeper(KeptBytes& bytes) : kept(bytes) {}
};

// Releases an announced change immediately.
struct Releasing final : ports::ToolListener {
  Releasing(FileTools& all, ToolCallId id) : tools(all), call(std::move(id)) {}
  void on_change(schema::FileChange, schema::KeptOutput,
                 std::optional<schema::KeptOutput>) override {
    tools.release(call);
  }
  void on_progress(std::string) override {}
  void on_warning(std::string, std::string) override {}
  void on_question(ports::ToolQuestion) override {}
  void on_ended(ports::ToolEnd how) override { end = std::move(how); }
  FileTools& tools;
  ToolCallId call;
  std::optional<ports::ToolEnd> end;
};

}  // namespace

TEST_CASE("the tools that are run as file tools are those that are implemented here") {
  for (const agentrt::tools::Tool& tool : agentrt::tools::all()) {
    CAPTURE(tool.name);
    CHECK(FileTools::serves(tool.name) == (tool.runs == agentrt::tools::Runner::file));
  }
  CHECK_FALSE(FileTools::serves("mcp__s__act"));
}

TEST_CASE("many calls run side by side, and of edits of one file none is lost") {
  constexpr int kCalls = 24;
  FileKit kit;
  std::string text;
  for (int i = 0; i < kCalls; ++i) text += fmt::format("line {} old\n", i);
  kit.put("ws/a.txt", text);
  PostedLoop loop;
  Threads threads;
  LockedKeeper keeper(kit.kept);
  FileTools tools({.loop = loop,
                   .worker = threads,
                   .keeper = keeper,
                   .outputs = kit.kept,
                   .redactor = &kit.redactor,
                   .profile = [](const ports::ToolRequest&) {
                     return Result<schema::SandboxProfile>(schema::SandboxProfile{});
                   }});
  std::vector<std::shared_ptr<Releasing>> editing, reading;
  for (int i = 0; i < kCalls; ++i) {
    ports::ToolRequest request = kit.request;
    request.call = ToolCallId{fmt::format("edit_{}", i)};
    request.tool = "edit_file";
    request.args = {
        fmt::format(R"({{"path":"a.txt","oldText":"line {} old","newText":"line {} new"}})", i, i)};
    editing.push_back(std::make_shared<Releasing>(tools, request.call));
    tools.start(request, editing.back());
    request.call = ToolCallId{fmt::format("search_{}", i)};
    request.tool = "search_files";
    request.args = {R"({"pattern":"^line 0 (old|new)$"})"};
    reading.push_back(std::make_shared<Releasing>(tools, request.call));
    tools.start(request, reading.back());
  }
  const auto over = [](const auto& calls) {
    return std::ranges::all_of(calls, [](const auto& call) { return call->end.has_value(); });
  };
  while (!over(editing) || !over(reading)) loop.run_one();
  threads.all.clear();
  std::string now = kit.get("ws/a.txt");
  int made = 0;
  for (int i = 0; i < kCalls; ++i) {
    const auto& failure = editing[static_cast<std::size_t>(i)]->end->failure;
    made += !failure;
    CHECK(now.contains(fmt::format("line {} {}\n", i, failure ? "old" : "new")));
    if (failure) CHECK(failure->message.contains("changed while the call was waiting"));
    // A reader sees either the old or the new file, never a mix.
    CHECK(reading[static_cast<std::size_t>(i)]->end->text.starts_with("a.txt:1:line 0 "));
  }
  CHECK(made > 0);
  CHECK(kit.entries("ws") == 1);
  MESSAGE(made, " of ", kCalls, " edits were made");
}

}  // namespace agentrt::adapters::tools
