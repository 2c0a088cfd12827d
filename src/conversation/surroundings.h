// conversation/surroundings.h: the message that describes to the model where it works: date,
// system, folder, git, sandbox, network, permissions.
//
// The first turn of a thread gets all of it. A later turn gets the lines that have changed, so that
// the messages of earlier turns stay as they were and providers can reuse their prompt caches. The
// texts are stored in context.resolved; requests repeat what is stored.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "policy/effective.h"
#include "ports/workspace.h"
#include "schema/environment.h"

namespace agentrt::conversation {

struct Scene {
  Timestamp now;
  std::string cwd;
  const std::vector<std::string>& additional_roots;
  const schema::ExecutionEnvironment* environment = nullptr;  // null: it could not be read
  std::optional<ports::GitState> git;
  const policy::Effective& policy;
};

schema::Surroundings surroundings_of(const Scene& scene);

// The message for a turn whose model knows `known`; nullopt: nothing has changed.
std::optional<std::string> surroundings_message(const std::optional<schema::Surroundings>& known,
                                                const schema::Surroundings& now);

}  // namespace agentrt::conversation
