// runtime/inspection.h: reads the state of this machine that an approval is bound to.
#pragma once

#include <functional>

#include "ports/inspection.h"
#include "schema/sandbox.h"

namespace agentrt::runtime {

// Larger files, and anything that is not a regular file, are not hashed, so their content is not
// bound.
inline constexpr std::size_t kExecutedFileBytesMax = 8 << 20;
inline constexpr std::size_t kHeldBytesMax = 64 << 20;  // all files of one command
inline constexpr std::size_t kLinksMax = 16;            // symlinks on the path to one file

class DiskInspector final : public ports::Inspector {
 public:
  using Profile =
      std::function<Result<schema::SandboxProfile>(const ports::ProcessRequest& request)>;

  // `profile`: the sandbox profile that a process of the request gets.
  explicit DiskInspector(Profile profile) : profile_(std::move(profile)) {}

  Result<schema::Binding> inspect(const ports::ProcessRequest& request,
                                  const std::vector<std::string>& executes) override;
  bool is_absent(const std::string& path) override;
  Result<std::shared_ptr<const ports::HeldFiles>> hold(
      const ports::ProcessRequest& request, const std::vector<std::string>& executes) override;

 private:
  Profile profile_;
};

}  // namespace agentrt::runtime
