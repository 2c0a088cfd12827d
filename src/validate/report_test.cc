// validate/report_test.cc: reports are rendered safely, whatever the stream contains.
#include "validate/report.h"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <simdjson.h>

#include "validate/judge.h"

namespace agentrt::validate {
namespace {

// A line whose type, ids and texts attack terminals and XML parsers.
std::string hostile_line() {
  return R"({"type":"turn.\u001b[31m<b>&\"'\u009b]]>\u0007","eventId":"e\u0000\n1",)"
         R"("schemaVersion":"1","timestamp":"yester\u001bday","sequence":1,"runtimeId":"r",)"
         R"("sessionId":"s\u007f<&>\"","payload":{}})";
}

Report of(const std::vector<std::string>& lines, Profile profile = Profile::full) {
  Judge judge({.profile = profile});
  for (const std::string& line : lines) judge.line(line);
  return judge.finish();
}

bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte < 0x20 && byte != '\n') || byte == 0x7f) return true;
    if (byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0) return true;
  }
  return false;
}

bool is_entity(std::string_view text) {
  return text.starts_with("&amp;") || text.starts_with("&lt;") || text.starts_with("&gt;") ||
         text.starts_with("&quot;");
}

// Whether tags are balanced and no bare < or & occurs between them.
bool well_formed(std::string_view xml) {
  std::vector<std::string> open;
  for (std::size_t i = 0; i < xml.size(); ++i) {
    if (xml[i] == '&' && !is_entity(xml.substr(i))) return false;
    if (xml[i] != '<') continue;
    const std::size_t end = xml.find('>', i);
    if (end == xml.npos) return false;
    const std::string_view tag = xml.substr(i + 1, end - i - 1);
    if (tag.find('<') != tag.npos || std::ranges::count(tag, '"') % 2 != 0) return false;
    const std::string name(tag.substr(0, tag.find(' ')));
    if (name.starts_with('/')) {
      if (open.empty() || "/" + open.back() != name) return false;
      open.pop_back();
    } else if (!name.starts_with('?') && !tag.ends_with('/')) {
      open.push_back(name);
    }
    i = end;
  }
  return open.empty();
}

}  // namespace

TEST_CASE("a stream without findings is reported in two lines") {
  const Report report = of({});
  CHECK(render(report, Format::text, "none.jsonl") ==
        "none.jsonl: 0 events in 0 sessions, profile full\nconformant: no violations\n");
  CHECK(report.conformant());
}

TEST_CASE("the first offence is reported first, with its line, and the rest is counted") {
  std::vector<std::string> lines(kFindingsPerRule + 5, "not json");
  lines.insert(lines.begin(), "");
  const Report report = of(lines);
  CHECK(report.findings.size() == kFindingsPerRule);
  CHECK(!report.conformant());
  const std::string text = render(report, Format::text, "f");
  CHECK(text.find("first: envelope.json line 2") != text.npos);
  CHECK(text.find("and 5 more") != text.npos);
  CHECK(text.find("not conformant: violated 1 must and 0 should rules") != text.npos);
}

TEST_CASE("a violated should is reported and does not make a stream not conformant") {
  const Report report = of({R"({"type":"session.created","eventId":"e1","schemaVersion":"1",)"
                            R"("timestamp":"2026-05-08T00:00:00.000Z","sequence":1,)"
                            R"("sessionId":"s","payload":{}})"});
  CHECK(report.conformant());
  CHECK(report.broken(Severity::should) == 1);
  CHECK(render(report, Format::text, "f").find("\nconformant: violated 0 must and 1 should") !=
        std::string::npos);
  CHECK(render(report, Format::junit, "f").find("failures=\"0\"") != std::string::npos);
}

TEST_CASE("no control character of a stream or of its name reaches a terminal") {
  const Report report = of({hostile_line()});
  REQUIRE(report.counts.size() >= 2);
  CHECK(!has_control(render(report, Format::text, "a\x1b]0;b\x07\xc2\x9b")));
  CHECK(!has_control(render(report, Format::junit, "a\x1b]0;b\x07\xc2\x9b")));
}

TEST_CASE("the report for machines is JSON and repeats texts as they were") {
  const Report report = of({hostile_line()});
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const std::string text = render(report, Format::json, "a \"b\".jsonl");
  REQUIRE(parser.parse(text).get(root) == simdjson::SUCCESS);
  CHECK(std::string_view(root["source"]) == "a \"b\".jsonl");
  CHECK(!bool(root["conformant"]));
  CHECK(root["findings"].get_array().size() == report.findings.size());
  CHECK(root["rules"].get_array().size() == report.counts.size());
  const auto first = root["findings"].at(0);
  CHECK(std::string_view(first["type"]) == report.findings.front().type);
  CHECK(std::string_view(first["eventId"]) == std::string_view("e\0\n1", 4));
  CHECK(std::uint64_t(first["line"]) == 1);
}

TEST_CASE("the report for test runners is well-formed XML with a case for each rule") {
  for (const Profile profile : {Profile::core, Profile::full}) {
    const Report report = of({hostile_line(), "", "broken", hostile_line()}, profile);
    const std::string text = render(report, Format::junit, "<&\">.jsonl");
    CHECK(well_formed(text));
    const auto cases = std::ranges::count_if(rules(), [&](const Rule& rule) {
      return profile == Profile::full || rule.profile == Profile::core;
    });
    CHECK(text.find(fmt::format("tests=\"{}\" failures=\"{}\"", cases,
                                report.broken(Severity::must))) != text.npos);
    CHECK(text.find("&lt;b&gt;&amp;&quot;") != text.npos);
    CHECK(text.find("<failure") != text.npos);
  }
}

TEST_CASE("each finding has its own line in the report for test runners") {
  const std::string text = render(of({"broken", "broken"}), Format::junit, "f");
  CHECK(text.find("line 1: ") != text.npos);
  CHECK(text.find("\nline 2: ") != text.npos);
}

TEST_CASE("an id of any length is cut short in a finding") {
  const std::string id(100'000, 'x');
  const Report report =
      of({fmt::format(R"({{"type":"{}\u00e9","eventId":"{}","sessionId":"{}"}})", id, id, id)});
  REQUIRE(!report.findings.empty());
  for (const Finding& finding : report.findings) {
    CHECK(finding.what.size() <= kFindingTextMax + 3);
    CHECK(finding.type.size() <= kFindingTextMax + 3);
    CHECK(finding.session.size() <= kFindingTextMax + 3);
    CHECK(finding.event_id.size() <= kFindingTextMax + 3);
  }
}

TEST_CASE("a line that was too long is counted and the next one keeps its number") {
  Judge judge;
  judge.skip_line();
  judge.line("broken");
  const Report& report = judge.finish();
  CHECK(report.skipped == 1);
  CHECK(report.findings.front().line == 2);
  CHECK(render(report, Format::text, "f").find("1 line too long to check") != std::string::npos);
}

}  // namespace agentrt::validate
