// ports/hooks.h: commands of the user that are asked at a point of a turn.
//
// A hook is told one JSON object on its standard input and answers with its exit status and what it
// writes. Running it decides nothing: what a failure means (on_failure) is the caller's business.
#pragma once

#include <memory>
#include <string>

#include "schema/hooks.h"

namespace agentrt::ports {

struct HookRequest {
  std::string id;  // the hookRunId of its facts; no two run at once under the same one
  schema::HookSpec hook;
  schema::HookInput input;
};

class HookListener {
 public:
  virtual ~HookListener() = default;
  // Once, on the core.
  virtual void on_ended(schema::HookOutcome outcome) = 0;
};

class Hooks {
 public:
  virtual ~Hooks() = default;
  // Both: core only; the listener is never called before they return.
  virtual void start(HookRequest request, std::shared_ptr<HookListener> listener) = 0;
  // Ends it and all that it started; its listener hears nothing more. Unknown ids are ignored.
  virtual void cancel(const std::string& id) = 0;
};

}  // namespace agentrt::ports
