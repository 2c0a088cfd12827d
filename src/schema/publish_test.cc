// Compares the generated documents with schema/. AGENTRT_UPDATE_SCHEMA=1 rewrites the copies there.
#include "schema/publish.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>
#include <simdjson.h>

#include "schema/json.h"
#include "schema/publish_text.h"
#include "schema/testing/samples.h"

namespace agentrt::schema {
namespace {

namespace fs = std::filesystem;

fs::path committed(std::string_view file) { return fs::path(AGENTRT_SOURCE_DIR) / "schema" / file; }

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void compare(std::string_view file, const std::string& text) {
  CAPTURE(file);
  const fs::path path = committed(file);
  if (std::getenv("AGENTRT_UPDATE_SCHEMA")) {
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  }
  const bool same = read_file(path) == text;
  INFO("schema/" << file << " is not what this build publishes; if that is meant, run "
                 << "AGENTRT_UPDATE_SCHEMA=1 schema_test and review the difference");
  CHECK(same);
}

// Every "$ref":"…" in the text.
std::vector<std::string> refs_of(const std::string& text) {
  static constexpr std::string_view kKey = R"("$ref": ")";
  std::vector<std::string> refs;
  for (auto i = text.find(kKey); i != std::string::npos; i = text.find(kKey, i)) {
    i += kKey.size();
    refs.push_back(text.substr(i, text.find('"', i) - i));
  }
  return refs;
}

TEST_CASE("the committed schemas are what this build publishes") {
  for (const PublishedDocument& document : published_documents())
    compare(document.file, document.text());
}

TEST_CASE("the committed list of what is missing is the catalogue less this build") {
  compare("missing.txt", missing_vocabulary());
}

TEST_CASE("every published document is valid JSON and its references lead somewhere") {
  for (const PublishedDocument& document : published_documents()) {
    CAPTURE(document.name);
    const std::string text = document.text();
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    REQUIRE_FALSE(parser.parse(text).get(root));
    for (const std::string& ref : refs_of(text)) {
      CAPTURE(ref);
      if (ref.starts_with('#'))
        CHECK_FALSE(root.at_pointer(ref.substr(1)).error());
      else
        CHECK(ref == "events.schema.json");
    }
  }
}

TEST_CASE("events have a payload schema for each type of this build") {
  simdjson::dom::parser parser;
  const std::string text = published_events();
  const simdjson::dom::element root = parser.parse(text);
  for (const auto type : known_types()) {
    CAPTURE(type);
    CHECK_FALSE(root["$defs"][type].error());
  }
  CHECK(simdjson::dom::array(root["allOf"]).size() == known_types().size());
}

TEST_CASE("commands name scope, effect, params and reply of each command") {
  simdjson::dom::parser parser;
  const std::string text = published_commands();
  const simdjson::dom::element root = parser.parse(text);
  for (const CommandTraits& command : known_commands()) {
    CAPTURE(command.name);
    const simdjson::dom::element entry = root["x-commands"][command.name];
    CHECK(std::string_view(entry["scope"]) == name_of(command.scope));
    CHECK(bool(entry["mutates"]) == (command.effect == CommandEffect::mutates));
    CHECK(bool(root["$defs"][std::string(command.name) + ".params"]["additionalProperties"]) ==
          false);
  }
}

TEST_CASE("pretty keeps what fits on one line and breaks what does not") {
  CHECK(pretty(R"({"a":[1,2],"b":"x:y,{"})") == "{\"a\": [1, 2], \"b\": \"x:y,{\"}\n");
  CHECK(pretty("{}") == "{}\n");
  CHECK(pretty(R"("\"")") == "\"\\\"\"\n");
  const std::string wide(90, 'w');
  CHECK(pretty(R"({"a":[],"b":[")" + wide + R"(",{"c":1}]})") ==
        "{\n  \"a\": [],\n  \"b\": [\n    \"" + wide + "\",\n    {\"c\": 1}\n  ]\n}\n");
}

}  // namespace
}  // namespace agentrt::schema
