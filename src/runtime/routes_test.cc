// runtime/routes_test.cc: the served routes equal the published routes.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "channels/routes.h"
#include "schema/commands.h"
#include "schema/publish.h"

namespace agentrt::runtime {
namespace {

// Replaces names: /v1/sessions/{id} -> /v1/sessions/{}
std::string without_names(std::string_view pattern) {
  std::string out;
  bool inside = false;
  for (const char c : pattern) {
    if (c == '}') inside = false;
    if (!inside) out += c;
    if (c == '{') inside = true;
  }
  return out;
}

// The keys of `paths` in the document, which all have the same depth in the pretty-printed text.
std::set<std::string> published_paths() {
  std::set<std::string> out;
  const std::string text = schema::published_openapi();
  for (std::size_t at = 0; (at = text.find("\"/", at)) != std::string::npos; ++at) {
    const std::size_t end = text.find('"', at + 1);
    if (text.compare(end, 2, "\":") == 0)
      out.insert(without_names(std::string_view(text).substr(at + 1, end - at - 1)));
  }
  return out;
}

std::set<std::string> served_paths() {
  std::set<std::string> out;
  for (const channels::Route& route : channels::routes()) {
    if (route.access != channels::Access::by_command) {
      out.insert(without_names(route.pattern));
      continue;
    }
    const std::string pattern = without_names(route.pattern);
    for (const schema::CommandTraits& command : schema::known_commands())
      out.insert(pattern.substr(0, pattern.find("{}")) + std::string(command.name));
  }
  return out;
}

}  // namespace

TEST_CASE("every route that is served is published, and no other") {
  CHECK(served_paths() == published_paths());
}

}  // namespace agentrt::runtime
