// conversation/material_test.cc: tests how a model request is assembled from files and history.
#include "conversation/material.h"

#include <doctest/doctest.h>

#include <map>

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

TEST_CASE("earlier turns, the question and its results so far are in that order") {
  Files files;
  files.told.text = "Use tabs.";
  Past past;
  past.given->messages = {message(ports::Role::user, "old"),
                          message(ports::Role::assistant, "answer")};
  past.given->input = {text("what"), text("now?")};
  past.given->so_far = {message(ports::Role::assistant, "calling"),
                        message(ports::Role::tool, "result")};
  past.given->tools = {{"shell", "runs", Json{"{}"}}};
  ports::ModelRequest request;
  put_material(gather(files, past, kQuery), "/w", request);
  std::vector<std::string> texts;
  for (const ports::Message& each : request.messages) texts.push_back(each.text);
  CHECK(texts == std::vector<std::string>{"old", "answer", "what\nnow?", "calling", "result"});
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
  const Material material = gather(files, past, query);
  REQUIRE(material.files->given.size() == 3);
  CHECK(material.files->given[0].ref.reason.has_value());
  CHECK(material.files->given[0].text.empty());
  CHECK(material.files->given[1].ref.reason.has_value());
  CHECK(material.files->given[2].text == "inside");
}

TEST_CASE("files stand where the input has them, as text, attached, or with why they are not") {
  Files files;
  files.files["a.txt"].text = "inside";
  files.files["b.png"].attachment = ports::Attachment{"b.png", "image/png", "bytes"};
  files.files["c"].ref = {.ref = "file:c", .reason = "it is too large"};
  Past past;
  past.given->input = {text("see"), file("a.txt"), file("b.png"), file("c"), text("?")};
  const Material material = gather(files, past, kQuery);
  ContextResolved context;
  describe(material, context);
  CHECK(context.workspace_refs.size() == 2);
  REQUIRE(context.missing.size() == 1);
  CHECK(context.missing[0].reason == "it is too large");
  ports::ModelRequest request;
  put_material(material, "/w", request);
  const ports::Message& question = request.messages.back();
  CHECK(question.text ==
        "see\n[file a.txt]\ninside\n[end of file a.txt]\n[file b.png: attached]\n"
        "[file c: not attached, it is too large]\n?");
  REQUIRE(question.attachments.size() == 1);
  CHECK(question.attachments[0].bytes == "bytes");
}

namespace {

ports::GivenFile read_as(const std::string& path, const std::string& text,
                         const std::string& digest) {
  ports::GivenFile out;
  out.text = text;
  out.ref = {.ref = "file:" + path, .digest = digest, .size = text.size()};
  return out;
}

// Two earlier turns: the first was given b.png, the second a.txt and gone.txt, and not c.
Past with_earlier_files() {
  Past past;
  past.given->messages = {message(ports::Role::user, "names b.png"),
                          message(ports::Role::assistant, "seen"),
                          message(ports::Role::user, "names others")};
  past.given->with_files = {
      {3, 0, {text("look"), file("b.png")}, {{.ref = "file:b.png", .digest = "sha256:b"}}},
      {9,
       2,
       {file("a.txt"), file("gone.txt"), file("c")},
       {{.ref = "file:a.txt", .digest = "sha256:a"},
        {.ref = "file:gone.txt", .digest = "sha256:g"}}}};
  past.given->input = {text("and now?")};
  return past;
}

Files with_files() {
  Files files;
  files.files["a.txt"] = read_as("a.txt", "inside", "sha256:a");
  files.files["b.png"].ref = {.ref = "file:b.png", .digest = "sha256:b"};
  files.files["b.png"].attachment = ports::Attachment{"b.png", "image/png", "bytes"};
  files.files["gone.txt"].ref = {.ref = "file:gone.txt", .reason = "there is no such file"};
  files.files["c"] = read_as("c", "never given", "sha256:c");
  return files;
}

}  // namespace

TEST_CASE("outputs of the session are attached like files, also those of earlier turns") {
  Files files;
  files.files["s out_1"].text = "uploaded";
  files.files["s out_1"].ref = {.ref = "output:out_1", .digest = "sha256:1"};
  files.files["s out_2"].ref = {.ref = "output:out_2", .reason = "it has expired"};
  Past past;
  past.given->messages = {message(ports::Role::user, "old"),
                          message(ports::Role::assistant, "answer")};
  past.given->with_files = {
      {3, 0, {output("out_1")}, {{.ref = "output:out_1", .digest = "sha256:1"}}}};
  past.given->input = {output("out_1"), output("out_2")};
  const Material material = gather(files, past, kQuery);
  ports::ModelRequest request;
  put_material(material, "/w", request);
  CHECK(request.messages.front().text == "[output out_1]\nuploaded\n[end of output out_1]");
  CHECK(request.messages.back().text ==
        "[output out_1]\nuploaded\n[end of output out_1]\n[output out_2: not attached, it has "
        "expired]");
  ContextResolved context;
  describe(material, context);
  CHECK(context.missing.size() == 1);
}

TEST_CASE("files of earlier turns are attached again, or it is said why they are not") {
  Files files = with_files();
  Past past = with_earlier_files();
  const Material material = gather(files, past, kQuery);
  ports::ModelRequest request;
  put_material(material, "/w", request);
  CHECK(request.messages[0].text == "look\n[file b.png: attached]");
  REQUIRE(request.messages[0].attachments.size() == 1);
  CHECK(request.messages[0].attachments[0].bytes == "bytes");
  CHECK(request.messages[1].text == "seen");
  CHECK(request.messages[2].text ==
        "[file a.txt]\ninside\n[end of file a.txt]\n[file gone.txt: not attached, it was attached "
        "to this message, and now: there is no such file]\n[file c: not attached, it was not "
        "attached to this message either]");
  ContextResolved context;
  describe(material, context);
  CHECK(context.workspace_refs.size() == 2);
  CHECK(context.omitted.size() == 2);
  CHECK(context.missing.empty());

  files.files["a.txt"] = read_as("a.txt", "other", "sha256:other");
  past = with_earlier_files();
  put_material(gather(files, past, kQuery), "/w", request);
  CHECK(request.messages[2].text.starts_with(
      "[file a.txt: not attached, it has changed since this message]"));
}

TEST_CASE("files of earlier turns take what the conversation leaves, the newest first") {
  Files files = with_files();
  Past past = with_earlier_files();
  MaterialQuery query = kQuery;
  query.context_tokens = 10'000;
  past.given->bytes = messages_bytes_max(10'000, system_prompt("/w").size()) - 5;
  ports::ModelRequest request;
  put_material(gather(files, past, query), "/w", request);
  CHECK(request.messages[2].text.starts_with(
      "[file a.txt: not attached, its 6 bytes do not fit again]"));
  files.files["b.png"].attachment->bytes.assign(kEarlierFileBytesMax - 5, 'x');
  put_material(gather(files, past, kQuery), "/w", request);
  CHECK(request.messages[2].text.starts_with("[file a.txt]\ninside"));
  CHECK(request.messages[0].attachments.empty());
}

TEST_CASE("a turn is asked with the files it was prepared with, whatever became of them") {
  Files files;
  files.told.text = "Use tabs.";
  files.files["a.txt"].text = "before";
  Past past;
  past.given->input = {file("a.txt")};
  MaterialQuery query = kQuery;
  query.files = gather(files, past, query).files;
  CHECK(size_of(*query.files) == std::string("Use tabs.before").size());
  files.told.text = "Use blanks.";
  files.files["a.txt"].text = "after";
  ports::ModelRequest request;
  put_material(gather(files, past, query), "/w", request);
  CHECK(request.instructions.ends_with("Use tabs."));
  CHECK(request.messages.back().text.contains("before"));
}

TEST_CASE("three quarters of the context, at three bytes per token, are for what is said") {
  CHECK(messages_bytes_max(1'000, 0) == 2'250);
  CHECK(messages_bytes_max(1'000, 500) == 1'750);
  CHECK(messages_bytes_max(1'000, 4'000) == 0);
  Files files;
  files.told.text = std::string(100, 'x');
  Past past;
  MaterialQuery query = kQuery;
  gather(files, past, query);
  CHECK_FALSE(past.asked.bytes_max.has_value());
  query.context_tokens = 10'000;
  gather(files, past, query);
  CHECK(past.asked.bytes_max == 22'500 - system_prompt("/w").size() - 100);
}

TEST_CASE(
    "files that are given take their part of the context, and those that do not fit are named") {
  Files files;
  files.files["a.txt"].text = std::string(1'000, 'a');
  files.files["b.txt"].text = std::string(50'000, 'b');
  Past past;
  past.given->input = {file("a.txt"), file("b.txt")};
  MaterialQuery query = kQuery;
  query.context_tokens = 10'000;
  const Material material = gather(files, past, query);
  const std::size_t left = 22'500 - system_prompt("/w").size() - 1'000;
  CHECK(past.asked.bytes_max == left);
  REQUIRE(material.files->given.size() == 2);
  CHECK(material.files->given[0].text.size() == 1'000);
  CHECK(material.files->given[1].text.empty());
  CHECK(material.files->given[1].ref.reason ==
        "its 50000 bytes do not fit into the context of the model");
  query.files = material.files;
  gather(files, past, query);
  CHECK(past.asked.bytes_max == left);
}

TEST_CASE("history that cannot be read is missing, and what did not fit is omitted") {
  Files files;
  Past past;
  past.given->omitted.push_back({.ref = "history", .reason = "too long"});
  ContextResolved context;
  describe(gather(files, past, kQuery), context);
  REQUIRE(context.omitted.size() == 1);
  CHECK(context.omitted[0].reason == "too long");
  past.given = fail(Code::internal, "damaged");
  context = {};
  describe(gather(files, past, kQuery), context);
  REQUIRE(context.missing.size() == 1);
  CHECK(context.missing[0].reason == "damaged");
}

TEST_CASE("skills are listed by name, what they are for and where they lie") {
  Files files;
  files.told.text = "Use tabs.\n";
  files.told.skills = {{"deploy",
                        "how to deploy",
                        "/w/.agentrt/skills/deploy/SKILL.md",
                        {.ref = "file:/w/.agentrt/skills/deploy/SKILL.md", .digest = "sha256:1"},
                        {}}};
  files.told.missing = {{.ref = "file:/w/broken", .reason = "no head"}};
  Past past;
  past.given->input = {text("hi")};
  Material material = gather(files, past, kQuery);
  ContextResolved context;
  describe(material, context);
  CHECK(context.workspace_refs.at(0).digest == "sha256:1");
  CHECK(context.missing.at(0).reason == "no head");
  ports::ModelRequest request;
  put_material(std::move(material), "/w", request);
  CHECK(request.instructions.ends_with(
      "Use tabs.\n" +
      skills_index({{"deploy", "how to deploy", "/w/.agentrt/skills/deploy/SKILL.md", {}, {}}})));
  CHECK(request.instructions.contains(
      "- deploy: how to deploy (/w/.agentrt/skills/deploy/SKILL.md)\n"));
  CHECK(skills_index({}).empty());
  CHECK(
      skills_index({{"own", "mine", "/c/own/SKILL.md", {}, "Do it."}})
          .ends_with("- own: mine (its text follows)\n[skill own]\nDo it.\n[end of skill own]\n"));
}

}  // namespace agentrt::conversation
