#include "adapters/tools/restore.h"

#include <fmt/format.h>

#include "adapters/tools/edit_text.h"
#include "adapters/tools/line_diff.h"
#include "adapters/tools/lines.h"

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

std::unexpected<schema::Failure> not_known(const Grounds& grounds, const std::string& path) {
  return refuse(Category::unavailable,
                fmt::format("The earlier content of {} is not known; it stays as it is.",
                            grounds.shown(path)));
}

Outcome<std::string> output_bytes(ports::Outputs& outputs, const std::string& ref,
                                  const SessionId& session) {
  TRY_ASSIGN(const auto source, OutputBytes::open(outputs, ref, session));
  std::string out;
  for (bool more = true; more;) {
    TRY_ASSIGN(more, source->read(out));
    if (out.size() > 2 * kFileBytesMax)
      return refuse(Category::unavailable, fmt::format("The output {} is too large.", ref));
  }
  return out;
}

// The content that the file had, before it is checked.
Outcome<std::string> earlier_content(const agentrt::tools::RestoreFileArgs& args,
                                     const Grounds& grounds, std::string now,
                                     ports::Outputs& outputs, const SessionId& session) {
  std::string out = std::move(now);
  if (args.bytes) {
    TRY_ASSIGN(out, output_bytes(outputs, *args.bytes, session));
  }
  for (const std::string& ref : args.diffs.value_or(std::vector<std::string>{})) {
    TRY_ASSIGN(const std::string diff, output_bytes(outputs, ref, session));
    auto before = unpatched(out, diff);
    if (!before) return not_known(grounds, args.path);
    out = *std::move(before);
  }
  return out;
}

}  // namespace

Outcome<StagedChange> stage(const Grounds& grounds, const agentrt::tools::RestoreFileArgs& args,
                            ports::Outputs& outputs, const SessionId& session) {
  TRY_ASSIGN(Target target, grounds.open_target(args.path));
  std::optional<std::string> now;
  if (target.present) {
    TRY_ASSIGN(now, read_whole(*target.present));
  }
  const auto digest = now ? std::optional(digest_of(*now)) : std::nullopt;
  if (target.path != args.path || digest != args.from)
    return refuse(Category::invalid_input,
                  fmt::format("{} was changed by something else since; it stays as it is.",
                              grounds.shown(args.path)));
  std::optional<std::string> then;
  if (args.to) {
    TRY_ASSIGN(then, earlier_content(args, grounds, now.value_or(""), outputs, session));
    if (digest_of(*then) != *args.to) return not_known(grounds, args.path);
  }
  StagedChange out = staged_change(grounds, std::move(target), std::move(now), std::move(then));
  out.change.kind = schema::FileChangeKind::restore;
  return out;
}

}  // namespace agentrt::adapters::tools
