// sim/fakes/fickle_models.h: models that stall, break, lie and repeat themselves, as the plan says.
//
// A Provider outlives boots, as a provider does: it holds how the next requests will go. Each boot
// has its own FickleModels, which plays every request as a list of beats. A beat that lies breaks
// the port's contract on purpose: text after the end, a second end, deafness to cancel. Core only.
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

struct Mood {
  Kind kind = Kind::quiet;  // one of the model_ kinds; any other is good
  std::int64_t stall_ms = 0;
  std::uint64_t draw = 0;
};

struct Provider {
  std::deque<Mood> next;
  std::size_t absent = 0;  // how often choice() will name no model
  std::uint64_t requests = 0;
  std::function<void(const ports::ModelRequest&)> on_start;
};

class FickleModels final : public ports::Models {
 public:
  FickleModels(ports::Loop& loop, Provider& provider) : loop_(loop), provider_(provider) {}

  ports::ModelChoice choice(const std::optional<std::string>& requested) override;
  void start(ports::ModelRequest request, std::shared_ptr<ports::ModelListener> listener) override;
  void cancel(const ModelRequestId& request) override;

  // Ends every silence.
  void hurry();

 private:
  struct Beat {
    enum class Does { text, reasoning, calls, completes, fails };
    Does does = Does::text;
    std::int64_t gap_ms = 1;
    std::string text;
    ports::ModelFault fault = {};
    schema::Usage usage = {};
  };
  struct Playing {
    std::vector<Beat> beats;
    std::shared_ptr<ports::ModelListener> listener;
    std::size_t at = 0;
    bool deaf = false;  // goes on after a cancel
    ports::Loop::TimerId timer = 0;
  };

  static std::vector<Beat> beats_of(const Mood& mood);
  static void add_lies(std::vector<Beat>& beats, std::uint64_t draw);
  void wait(const ModelRequestId& id, Playing& playing, std::int64_t gap_ms);
  void play(const ModelRequestId& id);

  ports::Loop& loop_;
  Provider& provider_;
  std::map<ModelRequestId, Playing> playing_;
};

}  // namespace agentrt::sim
