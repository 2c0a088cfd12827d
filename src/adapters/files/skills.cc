#include "adapters/files/skills.h"

#include <dirent.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "schema/json.h"

namespace agentrt::adapters {
namespace {

constexpr std::string_view kFence = "---";
constexpr std::string_view kSkillFile = "SKILL.md";
constexpr std::size_t kNameBytesMax = 64;

std::string_view next_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string_view unquoted(std::string_view text) {
  if (text.size() > 1 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    return text.substr(1, text.size() - 2);
  return text;
}

// Control characters would break the one-line-per-skill list.
std::string one_line(std::string_view text) {
  std::string out(text);
  std::ranges::replace_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return out;
}

bool well_formed_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == ':';
  });
}

// The sorted names in the folder, at most kSkillFoldersMax.
std::vector<std::string> names_in(int fd, bool& cut) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir{::fdopendir(fd), ::closedir};
  if (!dir) return names;
  while (const dirent* entry = ::readdir(dir.get())) {
    const std::string name = entry->d_name;
    if (name.starts_with('.')) continue;
    cut = names.size() == kSkillFoldersMax;
    if (cut) break;
    names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

class Finder {
 public:
  explicit Finder(ports::Instructions& out) : out_(out) {}

  void look_in(const SkillPlace& place) {
    const int fd = open_in(place.root, place.folder, place.links);
    if (fd < 0) return;
    bool cut = false;
    for (const std::string& name : names_in(fd, cut))
      take(place, fmt::format("{}/{}/{}", place.folder, name, kSkillFile));
    if (cut)
      out_.omitted.push_back(
          {.ref = fmt::format("file:{}/{}", place.root, place.folder),
           .reason = fmt::format("only {} of its folders are searched", kSkillFoldersMax)});
  }

 private:
  void take(const SkillPlace& place, const std::string& path) {
    ContextFile file =
        read_context_file(place.root, path, place.links, kSkillBytesMax, place.owners);
    if (file.what == ContextFile::What::absent) return;
    if (file.what == ContextFile::What::read) {
      auto head = read_skill_head(file.text);
      if (head) return list(place, std::move(*head), std::move(file.ref));
      file.ref.reason = head.error().message;
    }
    out_.missing.push_back(std::move(file.ref));
  }

  void list(const SkillPlace& place, SkillHead head, schema::ContextRef ref) {
    std::optional<std::string> reason;
    const std::string path = ref.ref.substr(std::string_view("file:").size());
    const std::size_t bytes = head.name.size() + head.description.size() + path.size();
    const auto [same, is_new] = taken_.try_emplace(head.name, path);
    if (!is_new)
      reason = "the skill of the same name in " + same->second + " is used instead";
    else if (out_.skills.size() == kSkillsMax)
      reason = fmt::format("there are more than {} skills", kSkillsMax);
    else if (bytes_ + bytes > kSkillIndexBytesMax)
      reason = fmt::format("the list of skills is longer than {} bytes", kSkillIndexBytesMax);
    else if (place.told_whole && text_bytes_ + head.text.size() > kSkillTextBytesMax)
      reason = fmt::format(
          "the user's skills have more than {} bytes in total; move it to the workspace, where it "
          "is read only when needed",
          kSkillTextBytesMax);
    if (reason) {
      ref.reason = std::move(reason);
      out_.omitted.push_back(std::move(ref));
      return;
    }
    bytes_ += bytes;
    std::optional<std::string> text;
    if (place.told_whole) text_bytes_ += text.emplace(head.text).size();
    out_.skills.push_back(
        {std::move(head.name), std::move(head.description), path, ref, std::move(text)});
  }

  ports::Instructions& out_;
  std::map<std::string, std::string> taken_;  // skill name to its file
  std::size_t bytes_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace

Result<SkillHead> read_skill_head(std::string_view text) {
  std::string_view rest = text;
  if (trimmed(next_line(rest)) != kFence)
    return fail(Code::invalid_params, "it does not start with a header between two lines of ---");
  SkillHead head;
  std::string* last = nullptr;  // the value that the next line may continue
  while (true) {
    if (rest.empty())
      return fail(Code::invalid_params, "its header is not closed by a line of ---");
    const std::string_view line = next_line(rest);
    if (line == kFence) break;
    if (line.starts_with(' ') || line.starts_with('\t')) {
      const std::string_view more = trimmed(line);
      if (last != nullptr && !more.empty()) *last += (last->empty() ? "" : " ") + one_line(more);
      continue;
    }
    const std::size_t colon = line.find(':');
    const std::string_view key = line.substr(0, colon);
    last = key == "name" ? &head.name : key == "description" ? &head.description : nullptr;
    if (last == nullptr || colon == std::string_view::npos) continue;
    const std::string_view value = trimmed(line.substr(colon + 1));
    const bool follows = value == ">" || value == "|" || value == ">-" || value == "|-";
    *last = follows ? std::string() : one_line(unquoted(value));
  }
  head.text = rest;
  if (!well_formed_name(head.name))
    return fail(Code::invalid_params,
                "its header has no valid name (1 to 64 of the characters A-Z a-z 0-9 - _ . :)");
  if (head.description.empty()) return fail(Code::invalid_params, "its header has no description");
  if (head.description.size() > kSkillDescriptionBytesMax)
    head.description =
        std::string(schema::utf8_prefix(head.description, kSkillDescriptionBytesMax)) + "…";
  return head;
}

void find_skills(const std::vector<SkillPlace>& places, ports::Instructions& out) {
  Finder finder(out);
  for (const SkillPlace& place : places) finder.look_in(place);
}

}  // namespace agentrt::adapters
