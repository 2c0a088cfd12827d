// Checks that the handwritten docs/events.md and docs/commands.md match the declarations.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include <doctest/doctest.h>

#include "schema/testing/samples.h"

namespace agentrt::schema {
namespace {

std::string page(std::string_view name) {
  std::ifstream in(std::filesystem::path(AGENTRT_SOURCE_DIR) / "docs" / name);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The text from `from` up to the next `to`; empty if `from` is not found.
std::string section(const std::string& text, const std::string& from, const std::string& to) {
  const std::size_t begin = text.find(from);
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find(to, begin + from.size()) - begin);
}

struct Member {
  std::string_view name;
  bool optional;
};

template <class T>
std::vector<Member> members_of() {
  std::vector<Member> members;
  boost::mp11::mp_for_each<codec::Members<T>>([&](auto d) {
    using M = std::remove_cvref_t<decltype(std::declval<T&>().*d.pointer)>;
    members.push_back({codec::kWireName<decltype(d)>.view(), codec::kIs<M, std::optional>});
  });
  return members;
}

// Not a template: one copy of the checks for all types keeps this file quick to compile.
void check_members(const std::string& text, const std::vector<Member>& members) {
  for (const Member& member : members) {
    const std::string name = "`" + std::string(member.name) + "`";
    CAPTURE(name);
    REQUIRE(text.contains(name));
    CHECK(text.contains(name + "?") == member.optional);
  }
}

void check_row(const std::string& text, std::string_view type, const std::vector<Member>& members) {
  CAPTURE(type);
  const std::string row = section(text, "| `" + std::string(type) + "` |", "\n");
  REQUIRE_FALSE(row.empty());
  check_members(row, members);
}

// A command that only reads documents its reply in prose: pass no members.
void check_command(const std::string& text, const CommandTraits& traits,
                   const std::vector<Member>& params,
                   const std::optional<std::vector<Member>>& reply) {
  CAPTURE(traits.name);
  const std::string part = section(text, "### `" + std::string(traits.name) + "`", "\n#");
  REQUIRE_FALSE(part.empty());
  CHECK(part.contains("Scope " + std::string(name_of(traits.scope)) + "."));
  check_members(section(part, "- Params:", "\n"), params);
  if (reply) check_members(section(part, "- Reply:", "\n"), *reply);
}

TEST_CASE("docs/events.md has a row for every type, with every member") {
  const std::string text = page("events.md");
  samples::for_each_fact_type(
      [&]<class P>(std::type_identity<P>) { check_row(text, P::kType, members_of<P>()); });
}

TEST_CASE("docs/commands.md has a section for every command, with scope and every param") {
  const std::string text = page("commands.md") + "\n#";
  samples::for_each_command_type([&]<class C>(std::type_identity<C>) {
    if constexpr (C::kTraits.effect == CommandEffect::mutates)
      check_command(text, C::kTraits, members_of<C>(), members_of<typename C::Reply>());
    else
      check_command(text, C::kTraits, members_of<C>(), std::nullopt);
  });
}

TEST_CASE("docs/commands.md names every error code with its status") {
  const std::string text = section(page("commands.md"), "## Errors", "## Sessions");
  for (int i = 0; i <= static_cast<int>(Code::storage_full); ++i) {
    const Code code = static_cast<Code>(i);
    CAPTURE(code_name(code));
    CHECK(text.contains("`" + std::string(code_name(code)) + "`"));
    CHECK(text.contains(std::to_string(http_status(code))));
  }
}

}  // namespace
}  // namespace agentrt::schema
