#include "adapters/tools/list_files.h"

#include <unistd.h>

#include <array>
#include <climits>

#include <fmt/format.h>

#include "adapters/tools/glob.h"
#include "adapters/tools/text.h"
#include "adapters/tools/walk.h"

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

constexpr std::string_view kNarrower = "list a subfolder, or use a narrower pattern";

std::string target_of(const Walked& seen) {
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlinkat(seen.folder->get(), std::string(seen.name).c_str(),
                                    target.data(), target.size());
  return {target.data(), static_cast<std::size_t>(size < 0 ? 0 : size)};
}

std::string line_of(const Walked& seen, const std::string& shown) {
  switch (seen.kind) {
    case EntryKind::folder:
      return path_words(shown + "/") + "\n";
    case EntryKind::link:
      return fmt::format("{} -> {}\n", path_words(shown), path_words(target_of(seen)));
    case EntryKind::file:
    case EntryKind::other:
      break;
  }
  return path_words(shown) + "\n";
}

}  // namespace

Outcome<std::string> list_files(const Grounds& grounds, const agentrt::tools::ListFilesArgs& args,
                                std::string_view excludes, const Until& until) {
  const std::string path = args.path.value_or(".");
  TRY_ASSIGN(const Opened start, grounds.open_any(path));
  if (!start.is_folder())
    return refuse(Category::invalid_input, fmt::format("{} is not a folder.", path));
  std::optional<Glob> glob;
  if (args.pattern) {
    TRY_ASSIGN(glob, Glob::read(*args.pattern));
  }
  WalkLimits limits;
  limits.depth = std::min(args.depth.value_or(glob ? kWalkDepthMax : 1), kWalkDepthMax);
  if (args.ignored.value_or(false)) limits.ignored = Ignored::seen;
  limits.excludes = excludes;
  BoundedText out;
  std::size_t told = 0;
  const WalkReport report = walk_folder(grounds, start, limits, until, [&](const Walked& seen) {
    if (glob && !glob->fits(seen.path)) return Next::go_on;
    const std::string line = line_of(seen, grounds.shown(seen.real_path));
    if (told == kListEntriesMax || !out.add(line)) return Next::stop;
    ++told;
    return Next::go_on;
  });
  if (told == 0 && report.end == WalkEnd::all_seen && (args.pattern || report.ignored == 0))
    out.note(args.pattern ? fmt::format("Nothing in {} matches {}.", path, *args.pattern)
                          : fmt::format("{} is empty.", path));
  note_walk(report, kNarrower, out);
  return out.take();
}

}  // namespace agentrt::adapters::tools
