// validate/compare_json.cc: compares two read models.
#include <algorithm>

#include <fmt/format.h>
#include <simdjson.h>

#include "validate/replay.h"
#include "validate/wire.h"

namespace agentrt::validate {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Members that a stream does not determine: the runtime, the generation, and page cursors.
constexpr std::string_view kNotOfTheStream[] = {"schemaVersion", "runtimeId",   "generation",
                                                "historyCursor", "resumeToken", "asOfSequence",
                                                "threadsCursor"};
constexpr std::string_view kWindows[] = {"turns",    "tasks",    "history", "incidents",
                                         "traceIds", "attempts", "threads", "jobs"};
constexpr std::string_view kIdNames[] = {"turnId", "threadId", "taskId", "actionId", "attemptId"};

template <class Words>
bool among(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

// The key that identifies an entry of a list; nullopt for lists of plain values.
std::optional<std::string> id_of(const element& value, std::string_view list) {
  object members;
  if (value.get(members)) return std::nullopt;
  std::uint64_t sequence = 0;
  if (list == "incidents" && !members["sequence"].get(sequence)) return std::to_string(sequence);
  std::string_view id;
  if (list == "attempts" && !members["attemptId"].get(id)) return std::string(id);
  for (const std::string_view name : kIdNames)
    if (!members[name].get(id)) return std::string(id);
  return std::nullopt;
}

std::string short_text(const element& value) {
  std::string text = simdjson::minify(value);
  constexpr std::size_t kShown = 60;
  return text.size() <= kShown ? text : std::string(schema::utf8_prefix(text, kShown)) + "…";
}

bool same_instant(const element& a, const element& b) {
  std::string_view left, right;
  if (a.get(left) || b.get(right)) return false;
  const auto first = read_utc(left), second = read_utc(right);
  return first && second && *first == *second;
}

// A thread that is idle here may be shown with the status of its last turn.
bool rests(std::string_view name, const element& given, const element& replayed) {
  std::string_view said, ours;
  if (name != "status" || given.get(said) || replayed.get(ours)) return false;
  return ours == "idle" && (said == "completed" || said == "failed" || said == "cancelled");
}

class Comparison {
 public:
  explicit Comparison(std::vector<std::string>& out) : out_(out) {}

  void values(const std::string& path, std::string_view name, const element& given,
              const element& replayed) {
    if (given.is_object() && replayed.is_object())
      return objects(path, given.get_object(), replayed.get_object());
    if (given.is_array() && replayed.is_array())
      return arrays(path, name, given.get_array(), replayed.get_array());
    if (simdjson::minify(given) == simdjson::minify(replayed) || same_instant(given, replayed) ||
        rests(name, given, replayed))
      return;
    differ(fmt::format("{} is {} in the snapshot, {} in the replayed stream", path,
                       short_text(given), short_text(replayed)));
  }

 private:
  void objects(const std::string& path, const object& given, const object& replayed) {
    for (const auto& [key, value] : given) {
      element ours;
      if (among(kNotOfTheStream, key) || replayed[key].get(ours)) continue;
      values(path.empty() ? std::string(key) : fmt::format("{}.{}", path, key), key, value, ours);
    }
  }

  void arrays(const std::string& path, std::string_view name, const array& given,
              const array& replayed) {
    const bool window = among(kWindows, name);
    for (const element& value : given) {
      const auto id = id_of(value, name);
      if (!id) continue;
      const auto same = std::ranges::find_if(
          replayed, [&](const element& ours) { return id_of(ours, name) == id; });
      const std::string at = fmt::format("{}[{}]", path, *id);
      if (same != replayed.end())
        values(at, "", value, *same);
      else if (!window)
        differ(fmt::format("{} is in the snapshot only", at));
    }
    if (window) return;
    if (given.size() != replayed.size())
      differ(fmt::format("{} has {} entries in the snapshot, {} in the replayed stream", path,
                         given.size(), replayed.size()));
    else if (given.size() > 0 && !id_of(given.at(0), name) &&
             simdjson::minify(given) != simdjson::minify(replayed))
      differ(fmt::format("{} differs from the replayed stream", path));
  }

  void differ(std::string what) {
    if (out_.size() < kDifferencesMax) out_.push_back(std::move(what));
  }

  std::vector<std::string>& out_;
};

}  // namespace

void compare_json(std::string_view given, std::string_view replayed,
                  std::vector<std::string>& differences) {
  simdjson::dom::parser given_parser, replayed_parser;
  element one, other;
  if (given_parser.parse(given.data(), given.size()).get(one) ||
      replayed_parser.parse(replayed.data(), replayed.size()).get(other)) {
    differences.emplace_back("the snapshot cannot be decoded");
    return;
  }
  Comparison(differences).values("", "", one, other);
}

}  // namespace agentrt::validate
