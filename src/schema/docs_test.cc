// Checks that the handwritten docs/events.md and docs/commands.md match the declarations.
#include <filesystem>
#include <fstream>
#include <iterator>

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

template <class T>
void check_members(const std::string& text) {
  boost::mp11::mp_for_each<codec::Members<T>>([&](auto d) {
    using M = std::remove_cvref_t<decltype(std::declval<T&>().*d.pointer)>;
    const std::string name = "`" + std::string(codec::kWireName<decltype(d)>.view()) + "`";
    CAPTURE(name);
    REQUIRE(text.contains(name));
    CHECK(text.contains(name + "?") == codec::kIs<M, std::optional>);
  });
}

TEST_CASE("docs/events.md has a row for every type, with every member") {
  const std::string text = page("events.md");
  samples::for_each_fact_type([&]<class P>(std::type_identity<P>) {
    CAPTURE(P::kType);
    const std::string row = section(text, "| `" + std::string(P::kType) + "` |", "\n");
    REQUIRE_FALSE(row.empty());
    check_members<P>(row);
  });
}

TEST_CASE("docs/commands.md has a section for every command, with scope and every param") {
  const std::string text = page("commands.md") + "\n#";
  samples::for_each_command_type([&]<class C>(std::type_identity<C>) {
    CAPTURE(C::kTraits.name);
    const std::string part = section(text, "### `" + std::string(C::kTraits.name) + "`", "\n#");
    REQUIRE_FALSE(part.empty());
    CHECK(part.contains("Scope " + std::string(name_of(C::kTraits.scope)) + "."));
    check_members<C>(section(part, "- Params:", "\n"));
    if constexpr (C::kTraits.effect == CommandEffect::mutates)
      check_members<typename C::Reply>(section(part, "- Reply:", "\n"));
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
