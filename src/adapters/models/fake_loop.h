// adapters/models/fake_loop.h: test doubles: a loop in virtual time, a recording listener, and a
// script on disk. Included only by tests.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "ports/loop.h"
#include "ports/models.h"

namespace agentrt::adapters {

// Runs steps by due time, then in the order posted. Worker tasks run as steps.
class FakeLoop final : public ports::Loop {
 public:
  struct FakeWorker final : ports::Worker {
    explicit FakeWorker(FakeLoop& owner) : loop(owner) {}
    bool run(ports::Step task) override {
      if (!full) loop.post(std::move(task));
      return !full;
    }
    FakeLoop& loop;
    bool full = false;
  };

  void post(ports::Step step) override {
    steps_.emplace(std::pair{now_ms_, ++last_}, std::move(step));
  }
  Timestamp now() const override { return {now_ms_}; }
  TimerId after(std::int64_t delay_ms, ports::Step step) override {
    steps_.emplace(std::pair{now_ms_ + delay_ms, ++last_}, std::move(step));
    return last_;
  }
  void cancel(TimerId timer) override {
    std::erase_if(steps_, [&](const auto& entry) { return entry.first.second == timer; });
  }
  FakeWorker& worker() { return worker_; }

  void run() {
    while (!steps_.empty()) run_first();
  }
  void run_for(std::int64_t ms) {
    const std::int64_t end = now_ms_ + ms;
    while (!steps_.empty() && steps_.begin()->first.first <= end) run_first();
    now_ms_ = end;
  }

 private:
  void run_first() {
    auto first = steps_.extract(steps_.begin());
    now_ms_ = first.key().first;
    first.mapped()();
  }

  std::int64_t now_ms_ = 0;
  TimerId last_ = 0;
  std::map<std::pair<std::int64_t, TimerId>, ports::Step> steps_;
  FakeWorker worker_{*this};
};

// Records the calls of a listener as "t:TEXT", "r:REASONING", "c:NAME ARGS", "completed", "failed".
struct Heard final : ports::ModelListener {
  void on_text(std::string_view text) override { said.push_back("t:" + std::string(text)); }
  void on_reasoning(std::string_view text) override { said.push_back("r:" + std::string(text)); }
  void on_call(std::string name, schema::Json args) override {
    said.push_back("c:" + name + " " + args.text);
  }
  void on_completed(schema::StopReason, const schema::Usage&) override {
    said.emplace_back("completed");
  }
  void on_failed(const ports::ModelFault& why) override {
    said.emplace_back("failed");
    fault = why;
  }
  std::vector<std::string> said;
  ports::ModelFault fault;
};

// A script in a temporary folder, deleted with the object.
class ScriptFile {
 public:
  explicit ScriptFile(const std::string& text) {
    std::string folder = (std::filesystem::temp_directory_path() / "agentrt_XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = folder;
    std::ofstream(path()) << text;
  }
  ~ScriptFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  ScriptFile(const ScriptFile&) = delete;
  ScriptFile& operator=(const ScriptFile&) = delete;

  std::string path() const { return (folder_ / "play.jsonl").string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace agentrt::adapters
