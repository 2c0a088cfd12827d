// adapters/models/faults_test.cc: tests the category and retry decision of failures, and that
// messages never contain the key. docs/models.md lists the messages.
#include "adapters/models/faults.h"

#include <doctest/doctest.h>

namespace agentrt::adapters {

using namespace schema;

namespace {

const Subject kSubject{.name = "main",
                       .model = "m",
                       .model_setting = "OPENAI_MODEL",
                       .address = "http://host",
                       .key_env = "OPENAI_API_KEY",
                       .key = "secret-key"};

}  // namespace

TEST_CASE("a status given as a number is accepted") {
  const ports::ModelFault fault =
      told_fault(read_provider_words(R"({"error":{"message":"no credits","code":402}})"), {});
  CHECK(fault.error.category == schema::Category::denied);
  CHECK_FALSE(fault.error.retryable);
  CHECK(told_fault(read_provider_words(R"({"error":{"message":"x","code":503}})"), {})
            .error.retryable);
}

TEST_CASE("an error is read in the shapes that providers use") {
  CHECK(read_provider_words(R"({"error":{"type":"t","code":"c","message":"m"}})").code == "c");
  CHECK(read_provider_words(R"({"type":"error","error":{"type":"t","message":"m"}})").type == "t");
  CHECK(read_provider_words(R"({"error":"just text"})").message == "just text");
  CHECK(read_provider_words(R"({"error":{"code":429,"message":"m"}})").code == "429");
  CHECK(read_provider_words(R"({"object":"error","message":"m"})").message == "m");
  CHECK(read_provider_words(R"({"detail":"d"})").message == "d");
  for (const char* text : {"", "<html>", "[1]", "5", "null", R"({"a":1})"})
    CHECK(read_provider_words(text).empty());
}

TEST_CASE("the key is cut out of the provider's words, which stay one short line") {
  const std::string text = "no secret-key\nhere, secret-key " + std::string(1'000, 'x');
  const auto fault = status_fault(401, {"", "", text}, {}, kSubject);
  CHECK_FALSE(fault.error.message.contains("secret-key"));
  CHECK(fault.error.message.contains("no [key] here, [key] xxx"));
  CHECK(fault.error.message.contains("OPENAI_API_KEY"));
  CHECK(fault.error.message.size() < kProviderWordsBytesMax + 200);
}

TEST_CASE("every failure has a cause, by its words before its status") {
  const auto cause = [](std::uint64_t status, const char* code) {
    return status_fault(status, {"", code, ""}, {}, kSubject).cause;
  };
  CHECK(cause(500, "") == FaultCause::server);
  CHECK(cause(529, "") == FaultCause::overloaded);
  CHECK(cause(429, "") == FaultCause::rate_limit);
  CHECK(cause(429, "insufficient_quota") == FaultCause::no_credit);
  CHECK(cause(401, "") == FaultCause::credential);
  CHECK(cause(404, "") == FaultCause::unknown_model);
  CHECK(cause(400, "context_length_exceeded") == FaultCause::context_size);
  CHECK(cause(400, "content_filter") == FaultCause::content);
  CHECK(cause(400, "") == FaultCause::invalid);
  CHECK(cause(302, "") == FaultCause::connection);
}

TEST_CASE("an error told within an answer is judged by its words") {
  struct Row {
    const char* word;
    Category category;
    bool retryable;
  };
  for (const Row& row : {Row{"overloaded_error", Category::provider, true},
                         Row{"rate_limit_exceeded", Category::rate_limited, true},
                         Row{"insufficient_quota", Category::rate_limited, false},
                         Row{"authentication_error", Category::denied, false},
                         Row{"context_length_exceeded", Category::invalid_input, false},
                         Row{"something_new", Category::provider, true}}) {
    CAPTURE(row.word);
    const auto fault = told_fault({row.word, "", ""}, kSubject);
    CHECK(fault.error.category == row.category);
    CHECK(fault.error.retryable == row.retryable);
    CHECK(fault.ended_by_provider);
    CHECK_FALSE(fault.provider_status.has_value());
  }
}

TEST_CASE("a full context is recognised by any of its messages, and never retried") {
  for (const char* text : {"This model's maximum context length is 8192 tokens",
                           "prompt is too long: 9 tokens", "exceeds the available context size"}) {
    const auto fault = status_fault(400, {"invalid_request_error", "", text}, {}, kSubject);
    CHECK(fault.error.message.contains("longer than the model's context"));
    CHECK_FALSE(fault.error.retryable);
  }
}

TEST_CASE("a model that is not known is named with the place where it is set") {
  const auto fault = status_fault(404, {}, {}, kSubject);
  CHECK(fault.error.category == Category::not_found);
  CHECK(fault.error.message.contains("does not know the model m"));
  CHECK(fault.error.message.contains("correct OPENAI_MODEL"));
}

TEST_CASE("the provider's wish to wait is kept") {
  CHECK(status_fault(429, {}, 700, kSubject).retry_after_ms == 700);
}

}  // namespace agentrt::adapters
