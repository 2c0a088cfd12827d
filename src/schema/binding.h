// schema/binding.h: what an approval is bound to, beside the call itself: the state of the world
// that a person saw, in names and digests. Compared again when the call is about to run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/facts/permission.h"

namespace agentrt::schema {

struct Binding {
  std::string cwd;           // absolute, without symlinks
  std::string cwd_identity;  // device and inode
  std::vector<std::string> environment_names;
  std::string environment_digest;
  std::string profile_digest;  // of the sandbox profile
  std::vector<ExecutedFile> files;

  bool operator==(const Binding&) const = default;
};
BOOST_DESCRIBE_STRUCT(Binding, (),
                      (cwd, cwd_identity, environment_names, environment_digest, profile_digest,
                       files))

}  // namespace agentrt::schema
