// engine/compacting.h: the effects of a compaction: planning it, assembling a request for a piece
// of the summary, and storing the result.
#pragma once

#include "conversation/compaction.h"
#include "engine/effects.h"

namespace agentrt::engine {

// What a compaction reads: the turn's conversation, with the window of the model that writes.
struct CompactionQuery {
  conversation::MaterialQuery material;
  std::uint64_t window_tokens = 0;
  std::string instructions;  // of the user
  std::uint64_t piece = 0;   // that is written next, from 0
};

// REQUIRES: the view contains the turn. `model`: the name of the model that writes the summary.
CompactionQuery compaction_query(const Engine::Parts& parts, const state::Session& view,
                                 const schema::TurnIds& turn, const std::string& model);

// What was read: the covered part, and the summary so far.
struct CompactionMaterial {
  conversation::Covered covered;
  Sequence covers_through = 0;
  std::string so_far;
};

// Blocks; on a worker.
Result<CompactionMaterial> read_compaction(const Engine::Parts& parts,
                                           const CompactionQuery& query);

// The request for the next piece. Blocks; on a worker.
Result<ports::ModelRequest> summary_request(const Engine::Parts& parts,
                                            const CompactionQuery& query);

// Plans a compaction, or completes one whose summary is written, and reports that.
class Engine::Compacting final : public Running {
 public:
  Compacting(const Parts& parts, const state::Session& view, const Compact& what);
  ~Compacting() override;
  bool over() const override;

 private:
  struct Shared;
  static schema::ReportCompactionPlanned plan(const Shared& shared);
  static schema::ReportCompacted complete(const Shared& shared);

  std::shared_ptr<Shared> shared_;  // core only
};

}  // namespace agentrt::engine
