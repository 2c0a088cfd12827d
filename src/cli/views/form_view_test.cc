// cli/views/form_view_test.cc: forms of MCP servers, and the answers typed into them.
#include "cli/views/form_view.h"

#include <doctest/doctest.h>

namespace agentrt::cli {
namespace {

using schema::Json;

const Json kOne{R"({"type":"object","properties":{"name":{"type":"string","title":"Your name"}}})"};
const Json kTwo{R"({"type":"object","required":["size"],"properties":{"colour":{"type":"string",)"
                R"("enum":["red","blue"]},"size":{"type":"integer","description":"how big"}}})"};

std::string typed(const Json& schema, std::string_view line) {
  const auto answer = read_form(form_fields(schema), line);
  return answer ? answer->text : answer.error().message;
}

}  // namespace

TEST_CASE("a form asks first for what it must have") {
  const auto fields = form_fields(kTwo);
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].name == "size");
  CHECK(fields[0].required);
  CHECK(fields[0].description == "how big");
  CHECK(fields[1].choices == std::vector<FormChoice>{{"red", "red"}, {"blue", "blue"}});
  CHECK(form_fields(Json{R"({"type":"object"})"}).empty());
  CHECK(form_fields(Json{"7"}).empty());
}

TEST_CASE("a form asks in the order of its server") {
  const auto names = [](const char* properties) {
    std::vector<std::string> out;
    for (const FormField& field :
         form_fields(Json{std::string(R"({"properties":)") + properties + "}"}))
      out.push_back(field.name);
    return out;
  };
  CHECK(names(R"({"street":{},"city":{},"age":{}})") ==
        std::vector<std::string>{"street", "city", "age"});
  CHECK(names(R"({"b\u0061":{},"a":null})") == std::vector<std::string>{"ba", "a"});
}

TEST_CASE("the only member takes the line as it is") {
  CHECK(typed(kOne, "Ann O'Hara, esq.") == R"({"name":"Ann O'Hara, esq."})");
  CHECK(typed(kOne, R"({"name":"x"})") == R"({"name":"x"})");
  CHECK(typed(kOne, "{broken") == "that starts like a JSON object but is not valid JSON");
}

TEST_CASE("several members are named, and each is of its type") {
  CHECK(typed(kTwo, "size=3, colour=red") == R"({"size":3,"colour":"red"})");
  CHECK(typed(kTwo, "size=3") == R"({"size":3})");
}

TEST_CASE("of titled choices the number, the title or the constant is typed") {
  const Json titled{R"({"type":"object","properties":{"tier":{"type":"string","oneOf":[)"
                    R"({"const":"b","title":"Basic, free"},{"const":"p","title":"Paid"}]}}})"};
  const Json older{R"({"type":"object","properties":{"tier":{"type":"string",)"
                   R"("enum":["b","p"],"enumNames":["Basic, free","Paid"]}}})"};
  for (const Json& each : {titled, older}) {
    const std::vector<FormChoice> expected{{"b", "Basic, free"}, {"p", "Paid"}};
    CHECK(form_fields(each).front().choices == expected);
    CHECK(typed(each, "2") == R"({"tier":"p"})");
    CHECK(typed(each, "Basic, free") == R"({"tier":"b"})");
    CHECK(typed(each, "p") == R"({"tier":"p"})");
    CHECK(typed(each, "3") == "tier must be one of Basic, free, Paid");
  }
  // If there are not as many names as constants, the names are ignored.
  const Json odd{R"({"properties":{"tier":{"enum":["b","p"],"enumNames":["Basic"]}}})"};
  CHECK(form_fields(odd).front().choices == std::vector<FormChoice>{{"b", "b"}, {"p", "p"}});
}

TEST_CASE("where several may be chosen, each is named once") {
  const Json titled{R"({"type":"object","properties":{"days":{"type":"array","items":{"anyOf":[)"
                    R"({"const":"mo","title":"Monday"},{"const":"tu","title":"Tuesday"}]}}}})"};
  CHECK(typed(titled, "2, 1, Tuesday") == R"({"days":["tu","mo"]})");
  CHECK(typed(titled, "Monday") == R"({"days":["mo"]})");
  CHECK(typed(titled, "") == R"({"days":[]})");
  CHECK(typed(titled, "1, 9") == "days must be some of Monday, Tuesday");
  const Json beside{R"({"type":"object","properties":{"days":{"type":"array","items":)"
                    R"({"type":"string","enum":["mo","tu"]}},"size":{"type":"integer"}}})"};
  CHECK(typed(beside, "days=1, tu, size=4") == R"({"days":["mo","tu"],"size":4})");
  CHECK(typed(beside, "size=4, days=2") == R"({"size":4,"days":["tu"]})");
}

TEST_CASE("an invalid answer gets an error") {
  CHECK(typed(kTwo, "size=big") == "size must be a whole number");
  CHECK(typed(kTwo, "size=3.5") == "size must be a whole number");
  CHECK(typed(kTwo, "colour=green") == "colour must be one of red, blue");
  CHECK(typed(kTwo, "weight=3") == "there is no field weight; the server asks for size, colour");
  CHECK(typed(kTwo, "3") == "write size=… for each value, separated by commas");
  CHECK(typed(kTwo, "") == "nothing was typed; the server asks for size, colour");
}

TEST_CASE("where nothing is asked for, the empty line is the answer") {
  CHECK(typed(Json{R"({"type":"object"})"}, "") == "{}");
}

}  // namespace agentrt::cli
