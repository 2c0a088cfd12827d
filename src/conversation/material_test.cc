// conversation/material_test.cc: tests how a model request is assembled from files and history.
#include "conversation/material.h"

#include <doctest/doctest.h>

#include <map>

#include "base/tokens.h"
#include "conversation/stored_parts.h"
#include "conversation/system_prompt.h"
#include "policy/rules.h"

namespace agentrt::conversation {

using namespace schema;

namespace {

struct Files final : ports::Workspace {
  ports::Instructions instructions(const std::string&) override { return told; }
  ports::GivenFile given_file(const std::string&, const std::string& path) override {
    return files.at(path);
  }
  ports::GivenFile given_output(const SessionId& session, const std::string& ref) override {
    return files.at(session.text() + " " + ref);
  }
  ports::Instructions told;
  std::map<std::string, ports::GivenFile> files;
};

struct Past final : ports::History {
  Result<ports::HistoryWindow> window(const ports::HistoryQuery& query) override {
    asked = query;
    return given;
  }
  ports::HistoryQuery asked;
  Result<ports::HistoryWindow> given;
};

struct Keeper final : ports::OutputKeeper {
  Result<KeptOutput> keep_file(const std::string&, const ports::OutputMeta&) override {
    return fail(Code::unavailable, "not used");
  }
  Result<KeptOutput> keep_bytes(std::string_view bytes, const ports::OutputMeta& meta) override {
    if (full) return fail(Code::storage_full, "the disk is full");
    KeptOutput out;
    out.ref = OutputRef{"out_" + std::to_string(kept.size() + 1)};
    out.size = bytes.size();
    out.media_type = meta.media_type;
    kept[out.ref.text()] = std::string(bytes);
    return out;
  }
  ReadOutput reader() {
    return [this](const SessionId&, const std::string& ref) -> Result<std::string> {
      const auto found = kept.find(ref);
      if (found == kept.end()) return fail(Code::not_found, "there is no such output");
      return found->second;
    };
  }
  std::map<std::string, std::string> kept;
  bool full = false;
};

ports::Message message(ports::Role role, const std::string& text) {
  ports::Message out;
  out.role = role;
  out.text = text;
  return out;
}

InputPart text(const std::string& text) { return {InputKind::text, text, {}}; }
InputPart file(const std::string& path) { return {InputKind::file, {}, path}; }
InputPart output(const std::string& ref) { return {InputKind::output, {}, {}, ref}; }

const MaterialQuery kQuery{
    SessionId{"s"}, {.thread = ThreadId{"t"}, .turn = TurnId{"u"}}, "/w", {}};

}  // namespace

TEST_CASE("a request has the instructions, the tools and the conversation") {
  Files files;
  files.told.files = {{{.ref = "file:AGENTS.md"}, "Use tabs."}};
  Past past;
  past.given->messages = {message(ports::Role::user, "old"),
                          message(ports::Role::assistant, "answer")};
  past.given->tools = {{"shell", "runs", Json{"{}"}}};
  ports::ModelRequest request;
  put_material(gather(files, past, kQuery), kQuery, request);
  CHECK(request.messages == past.given->messages);
  CHECK(request.tools.size() == 1);
  CHECK(request.instructions.starts_with(system_prompt("/w")));
  CHECK(request.instructions.ends_with("Use tabs."));
}

TEST_CASE("a file that a rule keeps from the model is not given, wherever its path leads from") {
  Files files;
  for (const char* path : {"secrets/key", "link", "open"}) files.files[path].text = "inside";
  files.files["secrets/key"].real_path = files.files["link"].real_path = "/w/secrets/key";
  files.files["open"].real_path = "/w/open";
  Past past;
  past.given->input = {file("secrets/key"), file("link"), file("open")};
  MaterialQuery query = kQuery;
  query.policy.rules = std::make_shared<const policy::Rules>(
      *policy::compile({{RuleEffect::deny, "read_file(./secrets/**)", RuleOrigin::user}}));
  Material material = gather(files, past, query);
  Keeper keeper;
  CHECK(give_files(files, &keeper, query, material).size() == 1);
  REQUIRE(material.given.size() == 3);
  CHECK(material.given[0].ref.reason.has_value());
  CHECK(material.given[1].ref.reason.has_value());
  CHECK(material.given[2].text == "inside");
  CHECK(keeper.kept.size() == 1);
}

TEST_CASE("the files of an input are stored, and the context names the copies") {
  Files files;
  files.files["a.txt"].text = "inside";
  files.files["a.txt"].ref.ref = "file:a.txt";
  files.files["b.png"].attachment = ports::Attachment{"b.png", "image/png", "bytes"};
  files.files["b.png"].ref.ref = "file:b.png";
  files.files["c"].ref = {.ref = "file:c", .reason = "it is too large"};
  files.files["s out_9"].text = "uploaded";
  files.files["s out_9"].ref.ref = "output:out_9";
  Past past;
  past.given->input = {text("see"), file("a.txt"), file("b.png"), file("c"), output("out_9")};
  past.given->own_bytes = past.given->bytes = 3;
  Material material = gather(files, past, kQuery);
  Keeper keeper;
  const auto kept = give_files(files, &keeper, kQuery, material);
  REQUIRE(kept.size() == 3);
  ReportPrepared report;
  describe(material, kQuery, report);
  REQUIRE(report.context.workspace_refs.size() == 3);
  CHECK(report.context.workspace_refs[0].output_ref == "out_1");
  CHECK_FALSE(report.context.workspace_refs[0].media_type.has_value());
  CHECK(report.context.workspace_refs[1].media_type == "image/png");
  REQUIRE(report.context.missing.size() == 1);
  CHECK(report.context.missing[0].reason == "it is too large");
  CHECK(report.new_bytes == 3 + 6 + kImageCountedBytes + 8);
  CHECK(report.request_bytes == report.new_bytes + system_prompt("/w").size());
  CHECK(report.context.instructions_digest.has_value());

  Material again = gather(files, past, kQuery);
  keeper.full = true;
  CHECK(give_files(files, &keeper, kQuery, again).empty());
  CHECK(again.given[0].ref.reason == "it cannot be stored: the disk is full");
  past.given->answered = true;  // what a model has answered stays as it was sent
  Material answered = gather(files, past, kQuery);
  CHECK(give_files(files, &keeper, kQuery, answered).empty());
  CHECK(answered.given.empty());
}

TEST_CASE("stored parts are put where they belong, and what cannot be read is named") {
  Keeper keeper;
  keeper.kept = {{"out_1", "one"}, {"out_2", "PNG"}, {"out_3", "three"}};
  ports::Message question;
  question.text = "a[]b[]c";
  question.parts = {{.session = {}, .ref = "out_1", .media_type = {}, .name = {}, .offset = 2},
                    {.session = {}, .ref = "out_2", .media_type = "image/png", .name = "p.png"},
                    {.session = {}, .ref = "out_3", .media_type = {}, .name = {}, .offset = 5},
                    {.session = {}, .ref = "out_x", .media_type = {}, .name = {}, .offset = 7}};
  std::vector<ports::Message> messages{question};
  CHECK(put_stored_parts(messages, ImagesSent::all, keeper.reader()) == 1);
  CHECK(messages[0].text ==
        "a[one]b[three]c[output:out_x is not available: there is no such output]");
  REQUIRE(messages[0].attachments.size() == 1);
  CHECK(messages[0].attachments[0] == ports::Attachment{"p.png", "image/png", "PNG"});
  messages = {question};
  put_stored_parts(messages, ImagesSent::none, keeper.reader());
  CHECK(messages[0].attachments.empty());
  CHECK(messages[0].text.contains("[The image p.png is not shown"));
}

TEST_CASE("the room for messages is what instructions and tools leave of the window") {
  CHECK(messages_bytes_max(1'000, 0) == 2'400);
  CHECK(messages_bytes_max(1'000, 500) == 1'900);
  CHECK(messages_bytes_max(1'000, 3'000) == 0);
  CHECK(messages_bytes_max(std::nullopt, 0) == 153'600);
  Files files;
  files.told.files = {{{.ref = "file:AGENTS.md"}, std::string(100, 'x')}};
  Past past;
  MaterialQuery query = kQuery;
  query.context_tokens = 10'000;
  query.tool_bytes = 5'000;
  gather(files, past, query);
  CHECK_FALSE(past.asked.fit_bytes.has_value());
  query.history.fit_bytes = 0;
  const Material material = gather(files, past, query);
  CHECK(past.asked.fit_bytes == 24'000 - instructions_text(*material.files, query).size() - 5'000);
}

TEST_CASE("turns that do not fit are reported with what is omitted") {
  Files files;
  Past past;
  past.given->turns_omitted = 3;
  past.given->omitted_through = 70;
  ReportPrepared report;
  describe(gather(files, past, kQuery), kQuery, report);
  REQUIRE(report.context.omitted.size() == 1);
  CHECK(report.context.omitted[0].reason == "the oldest turns do not fit: 3 of them are not sent");
  CHECK(report.context.omitted_through == 70);
  past.given = fail(Code::unavailable, "not stored yet");
  ReportPrepared none;
  describe(gather(files, past, kQuery), kQuery, none);
  REQUIRE(none.context.missing.size() == 1);
  CHECK(none.context.missing[0].reason == "not stored yet");
}

TEST_CASE("the question of a job's item is its instruction and its input") {
  Files files;
  Past past;
  past.given->messages = {message(ports::Role::user, "")};
  past.given->question = 0;
  MaterialQuery query = kQuery;
  query.instruction = "Translate.";
  query.item = [] { return Result<std::string>{R"({"a":1})"}; };
  ports::ModelRequest request;
  put_material(gather(files, past, query), query, request);
  CHECK(request.messages.back().text == "Translate.\nThe input, as JSON:\n{\"a\":1}");
}

}  // namespace agentrt::conversation
