// engine/effects.h: the effects under way, one class a kind. Each starts in its constructor, ends
// in its destructor, and reports at most once after it was destroyed: never.
#pragma once

#include <map>
#include <memory>

#include "engine/conversation.h"
#include "engine/engine.h"

namespace agentrt::engine {

class Engine::Running {
 public:
  virtual ~Running() = default;
  // It has said all it will say, and that is stored: where its effect is still called for, it is
  // called for anew.
  virtual bool over() const { return false; }
  // It was begun while the view that calls for it was being stored, and now that is.
  virtual void stored() {}
  // It is still called for, by a view that a commit has just left.
  virtual void called_again(const Effect&) {}
};

// The call, which the view holds. REQUIRES: it does.
const state::ToolCall& call_of(const state::Session& view, const TurnId& turn,
                               const ToolCallId& call);

// Every rule that the session is under: of its files, and given to it alone.
std::vector<schema::PolicyRule> rules_of(const state::Session& view);
schema::PermissionMode mode_of(const state::Session& view, const state::Turn& turn);

// What an answer about the call is bound to, as the world is now. Blocks; on a worker.
Result<schema::Binding> look_at(ports::Inspector& inspector, const ports::ProcessRequest& request,
                                const std::vector<std::string>& files);

// Runs `task` on the worker as soon as it has room.
void run_soon(ports::Loop& loop, ports::Worker& worker, std::shared_ptr<ports::Step> task);

// Reads instructions, history and policy on a worker and asks servers for their tools, then reports
// the turn prepared.
class Engine::Preparing final : public Running {
 public:
  // `keep` is given, on the core, the files that the turn is prepared with.
  using Keep = std::move_only_function<void(std::shared_ptr<const TurnFiles>)>;
  Preparing(const Parts& parts, const state::Session& view, const Prepare& what, Log log,
            Keep keep);
  ~Preparing() override;
  bool over() const override;
  void stored() override;

 private:
  struct Shared;
  static void read(const std::shared_ptr<Shared>& shared);
  static void read_all(const Parts& parts, MaterialQuery query,
                       const ports::ProcessRequest& commands, schema::ReportPrepared& read,
                       std::shared_ptr<const TurnFiles>& files);
  static void ask_servers(const std::shared_ptr<Shared>& shared);
  static void arrived(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // core only
};

// Waits for an instant, then reports it.
class Engine::Waiting final : public Running {
 public:
  Waiting(const Parts& parts, const state::Session& view, const AwaitRetry& what);
  ~Waiting() override;

 private:
  const Parts& parts_;
  ports::Loop::TimerId timer_ = 0;
};

// A model request: gathers its fragments and reports them, then its end.
class Engine::Asking final : public Running {
 public:
  // `files`: what the turn was prepared with; none: they are read again.
  Asking(const Parts& parts, const state::Session& view, const Ask& what, Log log,
         std::shared_ptr<const TurnFiles> files);
  ~Asking() override;
  void stored() override;

 private:
  class Listener;
  struct Shared;
  static void gather_all(const std::shared_ptr<Shared>& shared);
  static void ask(const std::shared_ptr<Shared>& shared, Result<ports::ModelRequest> request);

  std::shared_ptr<Shared> shared_;  // core only
};

}  // namespace agentrt::engine
