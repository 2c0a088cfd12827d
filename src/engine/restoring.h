// engine/restoring.h: the effect that finds the next files of a turn that restores files, and the
// policy that judges their calls.
#pragma once

#include "engine/effects.h"

namespace agentrt::engine {

inline constexpr std::size_t kRestoresTogether = 32;  // files per report

// Reads the files and reports them once.
class Engine::Restoring final : public Running {
 public:
  Restoring(const Parts& parts, const state::Session& view, const RestoreFiles& what);
  ~Restoring() override;
  bool over() const override;

 private:
  struct Shared;
  static schema::ReportRestoreFiles read(const Shared& shared);

  std::shared_ptr<Shared> shared_;  // core only
};

}  // namespace agentrt::engine
