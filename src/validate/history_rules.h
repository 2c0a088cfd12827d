// validate/history_rules.h: rules for compaction, rollback, snapshots, refs to the log, evidence.
#pragma once

#include "schema/provisional.h"
#include "validate/call_rules.h"
#include "validate/turn_rules.h"

namespace agentrt::validate {

class HistoryRules {
 public:
  HistoryRules(RuleContext& hearing, const TurnRules& turns, const CallRules& calls)
      : hearing_(hearing), turns_(turns), calls_(calls) {}

  void operator()(const schema::CompactionStarted& p);
  void operator()(const schema::CompactionCompleted& p);
  void operator()(const schema::CompactionFailed& p);
  void operator()(const schema::RollbackStarted& p);
  void operator()(const schema::RollbackCompleted& p);
  void operator()(const schema::SnapshotUpdated& p);
  void operator()(const schema::SnapshotRepaired& p);
  void operator()(const schema::HistoryReconstructed& p);
  void operator()(const schema::HistoryWindowLoaded& p);
  void operator()(const schema::ModelRequested& p);
  void operator()(const schema::ModelCompleted& p);
  void operator()(const schema::ItemCompleted& p);
  void operator()(const schema::ToolResult& p);
  void operator()(const schema::EvidenceChanged& p);
  void operator()(const schema::TurnStarted& p);
  void operator()(const schema::TurnCompleted& p);
  void operator()(const schema::TurnFailed& p);

 private:
  struct Rollback {
    bool under_way = false;
    std::string target = {};
  };

  void compaction_ends();
  void kept(const schema::RollbackCompleted& p);
  void turn_ended();
  void as_of(Sequence sequence);
  void log_ref(std::string_view ref);

  RuleContext& hearing_;
  const TurnRules& turns_;
  const CallRules& calls_;
  Table<bool> compacting_;        // by turn
  Table<Rollback> rolling_back_;  // by thread
};

}  // namespace agentrt::validate
