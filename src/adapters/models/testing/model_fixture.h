// adapters/models/testing/model_fixture.h: a listener that records an answer, and a script on disk.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "ports/models.h"

namespace agentrt::adapters {

// Records the calls of a listener as "t:TEXT", "r:REASONING", "c:NAME ARGS", "completed", "failed".
struct RecordingListener final : ports::ModelListener {
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
