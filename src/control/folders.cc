#include "control/folders.h"

#include <algorithm>

#include <fmt/format.h>

#include "policy/folders.h"
#include "schema/codec.h"

namespace agentrt::control {
namespace {

// The resolved folders, or the folders as named if nothing was resolved.
const schema::FolderChoice& resolved(const schema::FolderChoice& asked, const Inputs& inputs) {
  return inputs.named.folders ? inputs.named.folders->folders : asked;
}

bool has_root(const state::Session& view, const std::string& given, const std::string& real) {
  const auto own = view.additional_roots.value_or(std::vector<std::string>{});
  return std::ranges::any_of(
      own, [&](const std::string& root) { return root == given || root == real; });
}

bool are_its_own(const state::Session& view, const schema::FolderChoice& asked,
                 const schema::FolderChoice& real) {
  if (asked.cwd && *asked.cwd != view.cwd && *real.cwd != view.cwd) return false;
  for (std::size_t i = 0; i < asked.additional_roots.size(); ++i)
    if (!has_root(view, asked.additional_roots[i], real.additional_roots[i])) return false;
  return true;
}

Error fixed(const state::Session& view, const schema::FolderChoice& asked,
            const schema::FolderChoice& real) {
  if (asked.cwd && *asked.cwd != view.cwd && *real.cwd != view.cwd)
    return {Code::conflict,
            fmt::format("the workspace of a session cannot change; that of this session is {}",
                        view.cwd),
            fmt::format(R"({{"cwd":{}}})", schema::to_json(view.cwd))};
  return {
      Code::conflict,
      "the folders of a session cannot change: give additionalRoots when the session is created",
      {}};
}

}  // namespace

std::optional<Error> wrong_folders(const state::Session& view, std::string_view prefix,
                                   const schema::FolderChoice& asked, const Inputs& inputs) {
  if (auto error = policy::wrong_folders(prefix, asked)) return error;
  const schema::FolderChoice& real = resolved(asked, inputs);
  if (view.exists() && are_its_own(view, asked, real)) return std::nullopt;
  if (inputs.named.folders && inputs.named.folders->refusal) return inputs.named.folders->refusal;
  if (view.exists()) return fixed(view, asked, real);
  return std::nullopt;
}

schema::FolderChoice folders_of_new(const schema::FolderChoice& asked, const Inputs& inputs) {
  schema::FolderChoice out = resolved(asked, inputs);
  if (!out.cwd) out.cwd = inputs.settings->default_cwd;
  return out;
}

}  // namespace agentrt::control
