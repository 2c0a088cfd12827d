// adapters/files/skills.h: the skills that a turn is told of: SKILL.md files with a name and a
// description at their head.
//
// Only the head counts here; the model reads the rest itself when it needs it. A skill of a
// workspace is text of that workspace and nothing more: it grants nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/files/open_file.h"
#include "ports/workspace.h"

namespace agentrt::adapters {

inline constexpr std::size_t kSkillsMax = 64;             // that are told of
inline constexpr std::size_t kSkillFoldersMax = 256;      // that are looked into, of one place
inline constexpr std::size_t kSkillBytesMax = 64 * 1024;  // of one file
inline constexpr std::size_t kSkillDescriptionBytesMax = 1'024;
inline constexpr std::size_t kSkillIndexBytesMax = 16 * 1024;  // of names and descriptions together
inline constexpr std::size_t kSkillTextBytesMax =
    16 * 1024;  // of those that are told whole, together

struct SkillHead {
  std::string name;
  std::string description;
  std::string_view text;  // below the head
};
// The head of a SKILL.md. Pure. Errors: invalid_params, with what is wrong with it.
Result<SkillHead> read_skill_head(std::string_view text);

// A place that has skills: `root`/`folder`/NAME/SKILL.md.
struct SkillPlace {
  std::string root;
  std::string folder;
  Links links = Links::beneath;
  bool told_whole = false;  // tools cannot read it
  Owners owners = {};
};

// Adds what the places hold, the first one's before the next one's; of two with the same name the
// first is taken. What is not told of stands in omitted or missing. Blocks.
void find_skills(const std::vector<SkillPlace>& places, ports::Instructions& out);

}  // namespace agentrt::adapters
