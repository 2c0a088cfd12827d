#include "base/base64.h"

#include <doctest/doctest.h>

using namespace agentrt;

TEST_CASE("base64 pads what does not divide by three") {
  CHECK(base64("") == "");
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64("\xff\xfe\xfd\xfc") == "//79/A==");
}

TEST_CASE("base64 for URLs has another alphabet and no padding") {
  CHECK(base64url("\xff\xfe\xfd\xfc") == "__79_A");
}

TEST_CASE("base64 is read in both alphabets") {
  CHECK(from_base64("") == "");
  CHECK(from_base64("-_-_") == from_base64("+/+/"));
  CHECK(from_base64("aGk=\n") == std::nullopt);  // padding only at the very end
  CHECK(from_base64("aGk=") == "hi");
  CHECK(!from_base64("a"));
  CHECK(!from_base64("a b"));
}
