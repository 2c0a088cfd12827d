// engine/preparing.h: the effect that prepares a turn before its first request: its context and its
// tools.
#pragma once

#include "engine/effects.h"

namespace agentrt::engine {

// Reads instructions, history and policy on a worker, lists the tools of MCP servers, then reports
// the turn as prepared. Tools of a server that is ready only later are reported then.
class Engine::Preparing final : public Running {
 public:
  // `keep` receives, on the core, the files that the turn is prepared with.
  using Keep = std::move_only_function<void(std::shared_ptr<const conversation::TurnFiles>)>;
  Preparing(const Parts& parts, const state::Session& view, const Prepare& what, Log log,
            Keep keep);
  ~Preparing() override;
  bool over() const override;
  void stored() override;

 private:
  struct Shared;
  static void read(const std::shared_ptr<Shared>& shared);
  // Uses only what Shared never changes. Blocks; on a worker.
  static void read_all(const Shared& shared, schema::ReportPrepared& read,
                       std::shared_ptr<const conversation::TurnFiles>& files);
  static void describe_surroundings(const Shared& shared, const policy::Effective& policy,
                                    const conversation::Material& material,
                                    schema::ReportPrepared& read);
  static void ask_servers(const std::shared_ptr<Shared>& shared);
  static void listed(const std::shared_ptr<Shared>& shared, ports::ToolListing listing);
  static void arrived(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;  // core only
};

}  // namespace agentrt::engine
