// sim/fakes/fickle_models.h: models that stall, fail, violate the protocol and repeat themselves,
// as the plan says.
//
// A Provider outlives boots, like a real provider: it holds the behaviour of the next requests.
// Each boot has its own FickleModels, which plays every request as a list of beats. A lying model
// violates the port's contract on purpose: it sends text after the end, ends twice, or ignores
// cancel. Core thread only.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ports/loop.h"
#include "ports/models.h"
#include "sim/plan.h"

namespace agentrt::sim {

class Random;

struct Mood {
  Kind kind = Kind::quiet;  // one of the model_ kinds; any other behaves well
  std::int64_t stall_ms = 0;
  std::uint64_t draw = 0;
};

struct Provider {
  std::deque<Mood> next;
  std::size_t absent = 0;  // how many more times choice() names no model
  std::uint64_t requests = 0;
  std::function<void(const ports::ModelRequest&)> on_start;
};

class FickleModels final : public ports::Models {
 public:
  FickleModels(ports::Loop& loop, Provider& provider) : loop_(loop), provider_(provider) {}

  ports::ModelChoice choice(const TurnId& turn, const std::vector<std::string>& named) override;
  void start(ports::ModelRequest request, std::shared_ptr<ports::ModelListener> listener) override;
  void cancel(const ModelRequestId& request) override;

  // Ends every stall.
  void hurry();

 private:
  struct Beat {
    enum class Does { text, reasoning, writes, calls, completes, fails };
    Does does = Does::text;
    std::int64_t gap_ms = 1;
    std::string text;        // the text, or the keyword of a call
    std::size_t number = 0;  // of the call that it writes a piece of
    ports::ModelFault fault = {};
    schema::Usage usage = {};
  };
  struct Playing {
    std::vector<Beat> beats;
    std::shared_ptr<ports::ModelListener> listener;
    std::size_t at = 0;
    bool deaf = false;  // continues after a cancel
    ports::Loop::TimerId timer = 0;
  };

  static std::vector<Beat> beats_of(const Mood& mood);
  static void add_writing(std::vector<Beat>& beats, Random random);
  static void add_lies(std::vector<Beat>& beats, std::uint64_t draw);
  void wait(const ModelRequestId& id, Playing& playing, std::int64_t gap_ms);
  void play(const ModelRequestId& id);

  ports::Loop& loop_;
  Provider& provider_;
  std::map<ModelRequestId, Playing> playing_;
};

}  // namespace agentrt::sim
