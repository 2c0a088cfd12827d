#include "cli/views/trust_view.h"

#include <algorithm>

#include "cli/views/layout.h"

namespace agentrt::cli {
namespace {

using Texts = std::vector<std::string>;

bool has(const Texts& texts, const std::string& text) {
  return std::ranges::find(texts, text) != texts.end();
}

std::string state_of(const schema::PolicyFile& file) {
  if (file.trusted) return "trusted";
  return file.changed ? "changed since it was trusted" : "not trusted";
}

}  // namespace

std::string trust_files_text(const std::vector<schema::PolicyFile>& files, Paper paper) {
  std::string out;
  for (const schema::PolicyFile& file : files) {
    add_paragraph(out, file.path + " (" + state_of(file) + ")",
                  file.changed ? Paint::yellow : Paint::bold, paper);
    const Texts now = file.effects.value_or(Texts{});
    const Texts before = file.trusted_effects.value_or(Texts{});
    const bool compare = file.changed && file.trusted_effects.has_value();
    for (const std::string& effect : now) {
      const bool added = compare && !has(before, effect);
      add_block(out,
                (added     ? "+ "
                 : compare ? "  "
                           : "· ") +
                    effect,
                added ? Paint::green : Paint::plain, paper);
    }
    if (compare)
      for (const std::string& effect : before)
        if (!has(now, effect)) add_block(out, "- " + effect, Paint::red, paper);
    if (compare && now == before)
      add_block(out, "  what it does is the same; only other parts of the file changed", Paint::dim,
                paper);
    if (file.changed && !compare)
      add_block(out, "  what it did when it was trusted is not recorded", Paint::dim, paper);
  }
  return out;
}

}  // namespace agentrt::cli
