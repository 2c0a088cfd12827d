// sim/fakes/fake_world.h: fake ports: models with scripted answers, and a workspace without files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "ports/loop.h"
#include "ports/models.h"
#include "ports/workspace.h"

namespace agentrt::sim {

// A tool call as a model writes it.
struct FakeCall {
  std::string tool;
  std::string args;
};

// The answer to a request: chunks of text, `gap_ms` apart, then an end.
struct FakeAnswer {
  std::vector<std::string> pieces;
  std::int64_t gap_ms = 10;
  std::optional<ports::ModelFault> fault;  // ends the answer instead of success
  std::vector<std::string> commands = {};  // shell calls, sent with the end
  std::vector<FakeCall> calls = {};        // calls of other tools, after the shell calls
};

// Plays the answers in order, one per ended request of the turn; after the last one, "done". Counts
// started requests.
class FakeModels final : public ports::Models {
 public:
  FakeModels(ports::Loop& loop, std::vector<FakeAnswer> answers)
      : loop_(loop), answers_(std::move(answers)) {}

  ports::ModelChoice choice(const TurnId& turn, const std::vector<std::string>& named) override;
  void start(ports::ModelRequest request, std::shared_ptr<ports::ModelListener> listener) override;
  void cancel(const ModelRequestId& request) override { playing_.erase(request); }

  std::size_t started() const { return started_; }

 private:
  struct Playing {
    FakeAnswer answer;
    std::shared_ptr<ports::ModelListener> listener;
    std::size_t at = 0;
  };
  void next(const ModelRequestId& id);

  ports::Loop& loop_;
  std::vector<FakeAnswer> answers_;
  std::map<ModelRequestId, Playing> playing_;
  std::size_t started_ = 0;
};

class NoFiles final : public ports::Workspace {
 public:
  ports::Instructions instructions(const std::string&) override { return {}; }
  ports::GivenFile given_file(const std::string&, const std::string& path) override {
    ports::GivenFile file;
    file.ref.ref = "file:" + path;
    file.ref.reason = "there are no files here";
    return file;
  }
  ports::GivenFile given_output(const SessionId&, const std::string& ref) override {
    ports::GivenFile output;
    output.ref.ref = "output:" + ref;
    output.ref.reason = "there are no outputs here";
    return output;
  }
  // Another branch is checked out now and then.
  std::optional<ports::GitState> git(const std::string&) override {
    ports::GitState state;
    state.branch = fmt::format("branch_{}", ++reads_ / 3);
    return state;
  }

 private:
  std::uint64_t reads_ = 0;
};

// The arguments of a shell call; a trailing " &" means in the background.
schema::Json shell_args(std::string_view command);

}  // namespace agentrt::sim
