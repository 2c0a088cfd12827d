// ports/inspection.h: the port that reads the state which an approval is bound to: folder,
// environment and executed files.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ports/processes.h"
#include "schema/binding.h"

namespace agentrt::ports {

class Inspector {
 public:
  virtual ~Inspector() = default;
  // What the request would run in and with, and the workspace files that it executes, by digest.
  // invalid_params: it could not run at all. unavailable: a file cannot be read now. Blocks; called
  // on a Worker.
  virtual Result<schema::Binding> inspect(const ProcessRequest& request,
                                          const std::vector<std::string>& executes) = 0;
  // Whether nothing exists at this absolute path. Blocks; called on a Worker.
  virtual bool is_absent(const std::string& path) = 0;
  // Copies these files for the process, so that it executes exactly these bytes (HeldFiles).
  // Blocks; called on a Worker.
  virtual Result<std::shared_ptr<const HeldFiles>> hold(
      const ProcessRequest& request, const std::vector<std::string>& executes) = 0;
};

}  // namespace agentrt::ports
