// ports/hooks.h: the port that runs hooks: user-configured commands that run at fixed points of a
// turn.
//
// A hook receives one JSON object on its standard input. Its exit status and its output are the
// answer. This port only runs hooks; the caller decides what a failure means (on_failure).
#pragma once

#include <memory>
#include <string>

#include "schema/hooks.h"

namespace agentrt::ports {

struct HookRequest {
  std::string id;  // the hookRunId of its facts; unique among running hooks
  schema::HookSpec hook;
  schema::HookInput input;
};

class HookListener {
 public:
  virtual ~HookListener() = default;
  // Called once, on the core.
  virtual void on_ended(schema::HookOutcome outcome) = 0;
};

class Hooks {
 public:
  virtual ~Hooks() = default;
  // start() and cancel(): core only. Neither calls the listener before it returns.
  virtual void start(HookRequest request, std::shared_ptr<HookListener> listener) = 0;
  // Kills the hook and every process it started. Its listener is not called again. Unknown ids are
  // ignored.
  virtual void cancel(const std::string& id) = 0;
};

}  // namespace agentrt::ports
