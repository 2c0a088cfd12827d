// validate/story_test.cc: parses the stories and validates them: every rule is broken by its own
// stories, and by no near miss.
#include "validate/testing/story.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <simdjson.h>

#include "base/check.h"
#include "schema/catalogue.h"
#include "schema/json.h"
#include "validate/judge.h"

namespace agentrt::validate {
Members members_of(std::string_view object) {
  simdjson::dom::parser parser;
  simdjson::dom::object parsed;
  INFO(object);
  REQUIRE(parser.parse(object.data(), object.size()).get(parsed) == simdjson::SUCCESS);
  Members out;
  for (const auto& [key, value] : parsed)
    out.emplace_back(std::string(key), simdjson::minify(value));
  return out;
}

void put(Members& members, const std::string& name, std::string value) {
  const auto found = std::ranges::find(members, name, &Members::value_type::first);
  if (found == members.end())
    members.emplace_back(name, std::move(value));
  else
    found->second = std::move(value);
}

std::string object_of(const Members& members) {
  std::string out;
  for (const auto& [name, value] : members)
    out += fmt::format("{}\"{}\":{}", out.empty() ? "" : ",", name, value);
  return "{" + out + "}";
}

namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Removes the first word from `text` and returns it.
std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::size_t space = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, space);
  text = trimmed(text.substr(space));
  return word;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  REQUIRE_MESSAGE(file.good(), path.string());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    if (!lines.empty() && lines.back().ends_with('\\')) {
      lines.back().pop_back();
      lines.back() += text;
    } else {
      lines.emplace_back(text);
    }
  }
  return lines;
}

// The short names of event ids in stories, with their default values.
struct ShortId {
  std::string_view word, wire, usual;
};
constexpr ShortId kIds[] = {
    {"session", "sessionId", "s"},   {"thread", "threadId", "t"},
    {"turn", "turnId", "u"},         {"task", "taskId", "k"},
    {"run", "runId", "r"},           {"attempt", "attemptId", "a"},
    {"step", "stepId", "i"},         {"call", "toolCallId", "c"},
    {"action", "actionId", "x"},     {"subagent", "subagentId", "g"},
    {"process", "processId", "p"},   {"channel", "channelId", "h"},
    {"job", "jobId", "j"},           {"item", "jobItemId", "n"},
    {"artifact", "artifactId", "f"}, {"evidence", "evidenceId", "e"},
    {"mreq", "modelRequestId", "m"},
};

class Teller {
 public:
  explicit Teller(const fs::path& stories) {
    for (std::string& line : lines_of(stories / "payloads.txt")) {
      std::string_view rest = line;
      const std::string type(take_word(rest));
      usual_[type] = rest;
    }
    std::string scene;
    for (std::string& line : lines_of(stories / "scenes.txt")) {
      if (line.starts_with("scene:"))
        scene = std::string(trimmed(std::string_view(line).substr(6)));
      else
        scenes_[scene].push_back(line);
    }
  }

  void begin() {
    sequence_ = 0;
    together_.clear();
  }

  void tell(const std::string& line, std::vector<std::string>& out) {
    if (line.starts_with('@')) {
      const auto scene = scenes_.find(line.substr(1));
      REQUIRE_MESSAGE(scene != scenes_.end(), line);
      for (const std::string& part : scene->second) tell(part, out);
    } else if (line.starts_with("let ")) {
      std::string_view rest = std::string_view(line).substr(4);
      const std::string named(take_word(rest));
      together_[named] = rest;
    } else if (line.starts_with("raw ")) {
      out.push_back(line.substr(4));
    } else {
      out.push_back(event(line));
    }
  }

 private:
  std::string event(const std::string& line) {
    std::string_view rest = line;
    const std::string type(take_word(rest));
    std::map<std::string, std::string, std::less<>> given;
    std::vector<std::string> dropped;
    Members envelope;
    while (!rest.empty() && rest.front() != '{' && rest.front() != '!') {
      const std::string_view word = take_word(rest);
      if (word.starts_with('-')) {
        dropped.emplace_back(word.substr(1));
        continue;
      }
      const std::size_t equals = word.find('=');
      if (word.starts_with('^') && equals != word.npos) {
        envelope.emplace_back(word.substr(1, equals - 1), word.substr(equals + 1));
        continue;
      }
      REQUIRE_MESSAGE(equals != word.npos, line);
      given[std::string(word.substr(0, equals))] = word.substr(equals + 1);
    }
    for (const auto& [word, value] : std::map(given)) {
      std::string_view with = together_[fmt::format("{}={}", word, value)];
      while (!with.empty()) {
        const std::string_view id = take_word(with);
        given.try_emplace(std::string(id.substr(0, id.find('='))), id.substr(id.find('=') + 1));
      }
    }
    const auto said = [&](std::string_view word, std::string usual) {
      const auto found = given.find(word);
      return found == given.end() ? usual : found->second;
    };
    ++sequence_;
    if (given.contains("seq")) sequence_ = std::stoull(given["seq"]);
    Members head{{"type", quoted(type)},
                 {"eventId",
                  quoted(said("event", fmt::format("evt_{}_{}", said("session", "s"), sequence_)))},
                 {"schemaVersion", quoted("0.4.0")},
                 {"timestamp", quoted(said("at", instant()))},
                 {"sequence", std::to_string(sequence_)},
                 {"runtimeId", quoted("rt")}};
    const schema::EventType* known = schema::find_event_type(type);
    for (const ShortId& id : kIds) {
      const bool needed = id.word == "session" ||
                          (known && std::ranges::find(known->ids, id.wire) != known->ids.end());
      const std::string value = said(id.word, needed ? std::string(id.usual) : "");
      if (!value.empty()) head.emplace_back(id.wire, quoted(value));
    }
    Members filled;
    if (given.contains("fill")) filled.push_back(fill(given["fill"]));
    head.emplace_back("payload", payload(type, rest, dropped, filled));
    for (const auto& [name, value] : envelope) put(head, name, value);
    std::erase_if(head, [](const auto& member) { return member.second.empty(); });
    return object_of(head);
  }

  std::string payload(const std::string& type, std::string_view text,
                      const std::vector<std::string>& dropped, const Members& filled) {
    if (text.starts_with('!')) return std::string(text.substr(1));
    const auto usual = usual_.find(type);
    Members members = usual == usual_.end() ? Members{} : members_of(usual->second);
    if (!text.empty())
      for (auto& [name, value] : members_of(text)) put(members, name, std::move(value));
    for (const auto& [name, value] : filled) put(members, name, value);
    std::erase_if(members, [&](const auto& member) {
      return std::ranges::find(dropped, member.first) != dropped.end();
    });
    return object_of(members);
  }

  // Parses NAME:COUNT or NAME:COUNT:PIECE: a text of COUNT repetitions of PIECE, which is written
  // as JSON.
  static Members::value_type fill(const std::string& word) {
    const std::size_t first = word.find(':'), second = word.find(':', first + 1);
    const std::string piece = second == word.npos ? "a" : word.substr(second + 1);
    std::string text;
    for (std::uint64_t left = std::stoull(word.substr(first + 1)); left > 0; --left) text += piece;
    return {word.substr(0, first), '"' + text + '"'};
  }
  std::string instant() const {
    return fmt::format("2026-05-08T{:02}:{:02}:{:02}.000Z", sequence_ / 3600 % 24,
                       sequence_ / 60 % 60, sequence_ % 60);
  }
  static std::string quoted(std::string_view text) {
    std::string out;
    schema::write_string(out, text);
    return out;
  }

  std::map<std::string, std::string> usual_;
  std::map<std::string, std::vector<std::string>> scenes_;
  std::map<std::string, std::string> together_;  // "turn=u2": its related ids
  std::uint64_t sequence_ = 0;
};

StoryFile read_file(const fs::path& path, Teller& teller) {
  StoryFile file{.rule = path.stem().string(), .stories = {}};
  for (const std::string& line : lines_of(path)) {
    const auto after = [&](std::string_view word) {
      return std::string(trimmed(std::string_view(line).substr(word.size())));
    };
    if (line.starts_with("breaks:") || line.starts_with("near:")) {
      const bool breaks = line.starts_with("breaks:");
      file.stories.push_back({.kind = breaks ? Story::Kind::breaks : Story::Kind::near,
                              .name = after(breaks ? "breaks:" : "near:"),
                              .also = {},
                              .lines = {}});
      teller.begin();
    } else if (line.starts_with("also:")) {
      file.stories.back().also.push_back(after("also:"));
    } else {
      teller.tell(line, file.stories.back().lines);
    }
  }
  return file;
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

Report judged(const std::vector<std::string>& lines, Profile profile = Profile::full) {
  Judge judge({.profile = profile});
  for (const std::string& line : lines) judge.line(line);
  return judge.finish();
}

}  // namespace

std::string stories_folder() { return fs::path(AGENTRT_SOURCE_DIR) / "tests/conformance"; }

std::vector<StoryFile> read_stories(const std::string& where) {
  Teller teller(where);
  std::vector<StoryFile> files;
  for (const fs::path& path : files_of(where))
    if (path.stem() != "scenes" && path.stem() != "payloads")
      files.push_back(read_file(path, teller));
  return files;
}

std::vector<Stream> read_streams(const std::string& where) {
  Teller teller(where);
  std::vector<Stream> streams;
  for (const fs::path& path : files_of(fs::path(where) / "good")) {
    teller.begin();
    Stream& stream = streams.emplace_back(path.stem().string());
    for (const std::string& line : lines_of(path)) teller.tell(line, stream.lines);
  }
  return streams;
}

TEST_CASE("each rule is broken by its own streams and by no near miss") {
  for (const StoryFile& file : read_stories(stories_folder())) {
    CAPTURE(file.rule);
    REQUIRE(find_rule(file.rule) != nullptr);
    for (const Story& story : file.stories) {
      CAPTURE(story.name);
      const Report report = judged(story.lines);
      std::set<std::string> broken;
      for (const Report::Count& count : report.counts) broken.emplace(count.rule);
      std::set<std::string> expected;
      if (story.kind == Story::Kind::breaks) expected.insert(file.rule);
      expected.insert(story.also.begin(), story.also.end());
      INFO(render(report, Format::text, file.rule));
      CHECK(broken == expected);
    }
  }
}

TEST_CASE("a near miss breaks nothing of the core either") {
  for (const StoryFile& file : read_stories(stories_folder()))
    for (const Story& story : file.stories) {
      CAPTURE(file.rule);
      CAPTURE(story.name);
      const Report full = judged(story.lines);
      const Report core = judged(story.lines, Profile::core);
      INFO(render(core, Format::text, file.rule));
      for (const Report::Count& count : core.counts) {
        CHECK(find_rule(count.rule)->profile == Profile::core);
        CHECK(std::ranges::find(full.counts, count.rule, &Report::Count::rule) !=
              full.counts.end());
      }
    }
}

TEST_CASE("there is a rule for every file and a file for every rule") {
  std::set<std::string> told;
  for (const StoryFile& file : read_stories(stories_folder())) {
    CAPTURE(file.rule);
    told.insert(file.rule);
    const auto count = [&](Story::Kind kind) {
      return std::ranges::count(file.stories, kind, &Story::kind);
    };
    CHECK(count(Story::Kind::breaks) >= 1);
    CHECK(count(Story::Kind::near) >= 1);
  }
  for (const Rule& rule : rules()) {
    if (rule.id == "replay.snapshot") continue;  // needs a snapshot; tested in replay_test.cc
    CAPTURE(rule.id);
    CHECK(told.contains(std::string(rule.id)));
  }
}

TEST_CASE("long good streams break nothing, whole or in their core") {
  const auto streams = read_streams(stories_folder());
  CHECK(streams.size() >= 5);
  for (const Stream& stream : streams) {
    CAPTURE(stream.name);
    CHECK(stream.lines.size() >= 60);
    for (const Profile profile : {Profile::full, Profile::core}) {
      const Report report = judged(stream.lines, profile);
      INFO(render(report, Format::text, stream.name));
      CHECK(report.counts.empty());
    }
  }
}

}  // namespace agentrt::validate
