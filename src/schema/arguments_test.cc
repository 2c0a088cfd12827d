// Validation of arguments against schemas: each row is a schema, a value and the expected message.
#include "schema/arguments.h"

#include <ctime>

#include <doctest/doctest.h>

using namespace agentrt;
using namespace agentrt::schema;

namespace {

std::string judged(std::string_view schema, std::string_view args) {
  return wrong_arguments({std::string(schema)}, {std::string(args)}).value_or("");
}

struct Row {
  const char* schema;
  const char* args;
  const char* sentence;  // empty: valid
};

}  // namespace

TEST_CASE("errors say what is wrong in the arguments and where") {
  const Row rows[] = {
      {R"({"type":"object"})", "{}", ""},
      {R"({"type":"object"})", "[]", "the arguments: expected an object, but got an array"},
      {R"({"properties":{"a":{"type":"string"}}})", R"({"a":1})",
       "a: expected a string, but got a number"},
      {R"({"properties":{"a":{"type":["string","null"]}}})", R"({"a":null})", ""},
      {R"({"properties":{"a":{"type":"integer"}}})", R"({"a":2.0})", ""},
      {R"({"properties":{"a":{"type":"integer"}}})", R"({"a":2.5})",
       "a: expected a whole number, but got a number"},
      {R"({"required":["path"]})", "{}", "path: is required and missing"},
      {R"({"properties":{"a":{"items":{"properties":{"b":{"type":"boolean"}}}}}})",
       R"({"a":[{},{"b":"x"}]})", "a[1].b: expected true or false, but got a string"},
      {R"({"properties":{"a":{}},"additionalProperties":false})", R"({"b":1})",
       "b: is not a known argument; known ones are a"},
      {R"({"additionalProperties":{"type":"number"}})", R"({"b":"x"})",
       "b: expected a number, but got a string"},
      {R"({"properties":{"a":{"enum":["x","y"]}}})", R"({"a":"z"})",
       R"(a: must be one of "x", "y")"},
      {R"({"properties":{"a":{"const":{"b":1,"c":2}}}})", R"({"a":{"c":2,"b":1.0}})", ""},
      {R"({"properties":{"a":{"minimum":1,"maximum":3}}})", R"({"a":4})", "a: must be at most 3"},
      {R"({"properties":{"a":{"exclusiveMinimum":1}}})", R"({"a":1})", "a: must be more than 1"},
      {R"({"properties":{"a":{"multipleOf":0.1}}})", R"({"a":0.3})", ""},
      {R"({"properties":{"a":{"maxLength":2}}})", R"({"a":"äö"})", ""},
      {R"({"properties":{"a":{"minLength":3}}})", R"({"a":"äö"})",
       "a: must have at least 3 characters"},
      {R"({"properties":{"a":{"pattern":"^[a-z]+$"}}})", R"({"a":"A"})",
       "a: must match the pattern ^[a-z]+$"},
      {R"({"properties":{"a":{"prefixItems":[{"type":"string"}],"items":false}}})",
       R"({"a":["x",1]})", "a[1]: no value is allowed here"},
      {R"({"properties":{"a":{"items":[{"type":"string"}]}}})", R"({"a":[1]})",
       "a[0]: expected a string, but got a number"},
      {R"({"properties":{"a":{"uniqueItems":true}}})", R"({"a":[1,1]})", "a: contains 1 twice"},
      {R"({"properties":{"a":{"contains":{"const":1}}}})", R"({"a":[2]})",
       "a: does not contain the required number of matching entries"},
      {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})", "b: is required and missing"},
      {R"({"propertyNames":{"maxLength":1}})", R"({"ab":1})", "ab: must have at most 1 characters"},
      {R"({"not":{"required":["a"]}})", R"({"a":1})",
       "the arguments: matches a schema that is not allowed"},
      {R"({"if":{"required":["a"]},"then":{"required":["b"]}})", R"({"a":1})",
       "b: is required and missing"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.schema);
    CAPTURE(row.args);
    CHECK(judged(row.schema, row.args) == row.sentence);
  }
}

TEST_CASE("references within a schema are followed, also in circles") {
  const auto tree = R"({"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":)"
                    R"({"next":{"$ref":"#/$defs/node"},"n":{"type":"integer"}}}}})";
  CHECK(judged(tree, R"({"next":{"next":{"n":1}}})").empty());
  CHECK(judged(tree, R"({"next":{"next":{"n":"x"}}})") ==
        "next.next.n: expected a whole number, but got a string");
  CHECK(judged(R"({"$ref":"#/definitions/a%20b~1c","definitions":{"a b/c":{"type":"array"}}})",
               "{}") == "");  // escaped pointers are not supported, so the reference is ignored
  CHECK(judged(R"({"$ref":"#"})", "{}") ==
        "the arguments: the schema of this tool is too complex to check them");
  CHECK(judged(R"({"$ref":"https://example.com/x"})", "{}").empty());
}

TEST_CASE("words that cannot be judged leave the others in force") {
  const auto schema = R"({"type":"object","properties":{"a":{"type":"string","format":"email",)"
                      R"("pattern":"(?=x)y"}},"unevaluatedProperties":false,"$dynamicRef":"#n"})";
  CHECK(judged(schema, R"({"a":"b","c":1})").empty());
  CHECK(judged(schema, R"({"a":1})") == "a: expected a string, but got a number");
}

TEST_CASE("one of several forms says why each does not fit") {
  const auto schema = R"({"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}})";
  CHECK(judged(schema, R"({"a":1})") ==
        "a: matches none of the allowed schemas (a: expected a string, but got a number; or a: "
        "expected null, but got a number)");
  CHECK(judged(R"({"oneOf":[{},{}]})", "{}") ==
        "the arguments: matches more than one schema, but must match exactly one");
}

TEST_CASE("no schema takes long, whatever is in it") {
  const std::clock_t began = std::clock();  // processor time: other programs do not count
  std::string wide = R"({"$ref":"#/$defs/l0","$defs":{)";
  for (int i = 0; i < 30; ++i)
    wide += R"("l)" + std::to_string(i) + R"(":{"allOf":[{"$ref":"#/$defs/l)" +
            std::to_string(i + 1) + R"("},{"$ref":"#/$defs/l)" + std::to_string(i + 1) + R"("}]},)";
  wide += R"("l30":{}}})";
  CHECK(judged(wide, "{}").find("too complex") != std::string::npos);
  const std::string many(100'000, 'a');
  CHECK(judged(R"({"properties":{"a":{"pattern":"^(a+)+$"}}})", R"({"a":")" + many + R"(!"})") ==
        "a: must match the pattern ^(a+)+$");
  CHECK(std::clock() - began < 2 * CLOCKS_PER_SEC);
}

TEST_CASE("a schema that is none of an object is not usable") {
  CHECK(unusable_schema({"[]"}) == "its schema is not an object");
  CHECK(unusable_schema({R"({"type":"string"})"}) ==
        "its schema requires a string as arguments, but arguments are always an object");
  CHECK(!unusable_schema({R"({"type":"object"})"}));
  CHECK(!unusable_schema({"{}"}));
}
