// adapters/files/skills.h: finds the skills of a turn: SKILL.md files that begin with a name and a
// description.
//
// Only this header is parsed; the model reads the rest when needed. A workspace's skill is plain
// text and grants no permission.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/files/open_file.h"
#include "ports/workspace.h"

namespace agentrt::adapters {

inline constexpr std::size_t kSkillsMax = 64;             // offered per turn
inline constexpr std::size_t kSkillFoldersMax = 256;      // searched per place
inline constexpr std::size_t kSkillBytesMax = 64 * 1024;  // per file
inline constexpr std::size_t kSkillDescriptionBytesMax = 1'024;
inline constexpr std::size_t kSkillIndexBytesMax = 16 * 1024;  // all names and descriptions
inline constexpr std::size_t kSkillTextBytesMax = 16 * 1024;   // all skills included in full

struct SkillHead {
  std::string name;
  std::string description;
  std::string_view text;  // the text after the header
};
// Parses the header of a SKILL.md. Pure. Errors: invalid_params, with the reason.
Result<SkillHead> read_skill_head(std::string_view text);

// A place to search for skills: `root`/`folder`/NAME/SKILL.md.
struct SkillPlace {
  std::string root;
  std::string folder;
  Links links = Links::beneath;
  bool told_whole = false;  // include the full text, because tools cannot read it
  Owners owners = {};
};

// Adds the skills found, in the order of the places. The first of two skills with the same name
// wins. Skills that are not used are listed in omitted or missing. Blocks.
void find_skills(const std::vector<SkillPlace>& places, ports::Instructions& out);

}  // namespace agentrt::adapters
