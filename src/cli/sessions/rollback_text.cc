#include "cli/sessions/rollback_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/views/layout.h"

namespace agentrt::cli {

using namespace schema;

namespace {

std::string words_of(EffectState state) {
  switch (state) {
    case EffectState::not_undoable:
      return "cannot be undone";
    case EffectState::running:
      return "keeps running";
    case EffectState::restorable:
      return "can be restored";
    case EffectState::changed_since:
      return "changed since, stays";
    case EffectState::unknown:
      return "unknown, stays";
  }
  return "unknown";
}

std::string_view words_of(EffectKind kind) {
  switch (kind) {
    case EffectKind::command:
      return "command";
    case EffectKind::mcp_call:
      return "call";
    case EffectKind::process:
      return "process";
    case EffectKind::file:
      return "file";
  }
  return "";
}

std::string line(std::string_view state, std::string_view text, std::size_t width) {
  constexpr std::size_t kStateCells = 22;
  const std::size_t room = width > kStateCells + 12 ? width - kStateCells - 4 : 60;
  return fmt::format("  {:<{}}{}\n", state, kStateCells, fit(one_line(text), room));
}

// "… and 20 more", if a list was cut.
std::string more(std::uint64_t total, std::size_t shown) {
  return total > shown ? fmt::format("  … and {} more\n", total - shown) : "";
}

}  // namespace

std::string rollback_text(const RollbackThreadReply& reply, std::size_t width, Colour colour) {
  std::string out =
      paint(fmt::format("{} turn{} of thread {} leave{} the conversation\n",
                        reply.removed_turn_count, reply.removed_turn_count == 1 ? "" : "s",
                        one_line(reply.thread_id.text()), reply.removed_turn_count == 1 ? "s" : ""),
            Paint::bold, colour);
  for (const TurnId& turn : reply.removed_turns) out += "  " + one_line(turn.text()) + "\n";
  out += more(reply.removed_turn_count, reply.removed_turns.size());
  std::string effects;
  std::size_t shown = 0;
  for (const RollbackEffect& effect : reply.effects) {
    if (effect.kind == EffectKind::file) continue;
    const std::string what = effect.text.value_or(effect.tool_name.value_or(""));
    effects +=
        line(words_of(effect.state), fmt::format("{} {}", words_of(effect.kind), what), width);
    ++shown;
  }
  const std::uint64_t others =
      reply.effect_count - std::min<std::uint64_t>(reply.effect_count, reply.file_count);
  if (!effects.empty())
    out += paint("what they did otherwise\n", Paint::bold, colour) + effects + more(others, shown);
  if (!reply.files.empty()) out += paint("files that they changed\n", Paint::bold, colour);
  for (const RollbackFile& file : reply.files) out += line(words_of(file.state), file.path, width);
  return out + more(reply.file_count, reply.files.size());
}

bool removes_nothing(const RollbackThreadReply& reply) {
  return reply.removed_turn_count == 0 &&
         std::ranges::none_of(reply.files, [](const RollbackFile& file) {
           return file.state == EffectState::restorable;
         });
}

}  // namespace agentrt::cli
