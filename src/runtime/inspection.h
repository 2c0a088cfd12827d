// runtime/inspection.h: what an approval is bound to, looked up on this machine.
#pragma once

#include <functional>

#include "ports/inspection.h"
#include "schema/sandbox.h"

namespace agentrt::runtime {

// Files larger than this, and what is no file, are not hashed: then nobody can say what they are.
inline constexpr std::size_t kExecutedFileBytesMax = 8 << 20;
inline constexpr std::size_t kHeldBytesMax = 64 << 20;  // of all files of one command
inline constexpr std::size_t kLinksMax = 16;            // on the way to one file

class DiskInspector final : public ports::Inspector {
 public:
  using Profile =
      std::function<Result<schema::SandboxProfile>(const ports::ProcessRequest& request)>;

  // `profile` is what the request would be given: the same that a process gets.
  explicit DiskInspector(Profile profile) : profile_(std::move(profile)) {}

  Result<schema::Binding> inspect(const ports::ProcessRequest& request,
                                  const std::vector<std::string>& executes) override;
  Result<std::shared_ptr<const ports::HeldFiles>> hold(
      const ports::ProcessRequest& request, const std::vector<std::string>& executes) override;

 private:
  Profile profile_;
};

}  // namespace agentrt::runtime
