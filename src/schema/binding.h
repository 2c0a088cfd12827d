// schema/binding.h: the environment that an approval is bound to, in addition to the call itself:
// names and digests of the state that the approver saw. It is compared again just before the call
// runs.
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
