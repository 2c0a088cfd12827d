// sim/planted.h: planted defects, which prove that the simulation detects such defects.
//
// Each is planted at an existing interface of the runtime (store, feed, ports), so the product
// contains no trace of it; only the simulation program links this folder. Each states within how
// many seeds it must be found.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "ports/control_plane.h"
#include "sim/fakes/fake_governance.h"
#include "sim/fakes/fake_processes.h"
#include "sim/fakes/fake_tools.h"
#include "sim/model_checks.h"
#include "sim/virtual_time.h"
#include "store/memory/memory_store.h"

namespace agentrt::sim {

enum class Plant {
  none,
  publish_before_append,
  forget_idempotency_record,
  drop_last_queue_entry_on_restart,
  fold_differently_on_replay,
  lose_the_sync,
  skip_a_sequence,
  answer_a_repeat_with_new_facts,
  break_a_check,
  run_hooks_twice,
  approve_another_world,
  let_go_too_early,
  write_unannounced,
  forget_the_turn_before,
  forget_no_op_key,
  hang_reads_on_full_disk,
  drop_spool_tail,
  forget_exit_record,
  cancel_on_hangup,
  approve_typed_ahead,
  leak_client_environment,
  exit_with_open_work,
  wider_child,
  orphaned_child,
  past_shows_present_rows,
  past_off_by_one,
  session_row_lags,
};

struct PlantedDefect {
  Plant plant;
  std::string_view name;
  std::string_view what;    // describes the defect in a sentence
  std::uint64_t seeds_max;  // it is found with a seed from 1 to this
};

// All of them.
std::span<const PlantedDefect> planted_defects();
const PlantedDefect* find_defect(std::string_view name);

using Publish = std::function<void(const ports::FeedBatch&)>;

// `inner` with the defect. REQUIRES: `disk` is the disk of `inner`.
std::unique_ptr<store::Store> plant_in_store(Plant plant, store::Store& inner,
                                             store::MemoryDisk& disk, Publish publish);
// Plants the defects of hooks, inspections, processes and files.
void plant_in_ports(Plant plant, FakeGovernance& governance, FakeMachine& machine,
                    FakeFiles& files);
// Plants the defect of reads on a full disk. Called before every step.
void plant_in_readers(Plant plant, bool disk_full, VirtualWorker& readers);
// Reads of the past with the defect.
Ask plant_in_past(Plant plant, Ask ask);
// The batch with the defect; may be empty.
ports::FeedBatch plant_in_feed(Plant plant, const ports::FeedBatch& batch);

}  // namespace agentrt::sim
