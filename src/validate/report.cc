#include "validate/report.h"

#include <algorithm>

#include <fmt/format.h>

#include "schema/json.h"

namespace agentrt::validate {
namespace {

std::string quoted(std::string_view text) {
  std::string out;
  schema::write_string(out, text);
  return out;
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::uint64_t times_of(const Report& report, std::string_view rule) {
  const auto found = std::ranges::find(report.counts, rule, &Report::Count::rule);
  return found == report.counts.end() ? 0 : found->times;
}

// Replaces control characters of a foreign stream (ASCII and U+0080 to U+009F) with "?": they must
// not reach a terminal.
std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool wide =
        byte == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    out += byte < 0x20 || byte == 0x7f || wide ? '?' : text[i];
    if (wide) ++i;
  }
  return out;
}

std::string place_of(const Finding& finding) {
  if (finding.line == 0) return "the stream as a whole";
  std::string out = fmt::format("line {}", finding.line);
  if (!finding.type.empty()) out += ", " + printable(finding.type);
  if (finding.sequence > 0) out += fmt::format(" (sequence {})", finding.sequence);
  return out;
}

std::string summary_line(const Report& report) {
  std::string out = fmt::format("{} in {}, profile {}", plural(report.events, "event"),
                                plural(report.sessions, "session"), name_of(report.profile));
  if (report.vendor_events > 0) out += fmt::format("; {} of vendor types", report.vendor_events);
  if (report.unfinished > 0)
    out += fmt::format("; {} unfinished", plural(report.unfinished, "turn"));
  if (report.skipped > 0)
    out += fmt::format("; {} too long to check", plural(report.skipped, "line"));
  if (report.unjudged > 0)
    out += fmt::format("; {} not checked because their objects ended too long ago",
                       plural(report.unjudged, "fact"));
  return out;
}

std::string text_of(const Report& report, std::string_view source) {
  std::string out = fmt::format("{}: {}\n", printable(source), summary_line(report));
  if (report.counts.empty()) return out + "conformant: no violations\n";
  const Finding& first = report.findings.front();
  out += fmt::format("first: {} {}: {}\n\n", first.rule, place_of(first), printable(first.what));
  for (const Report::Count& count : report.counts) {
    const Rule& rule = *find_rule(count.rule);
    out += fmt::format("{:<6} {:<20} {:>6} x  {}\n", name_of(rule.severity), rule.id, count.times,
                       rule.protects);
    for (const Finding& finding : report.findings)
      if (finding.rule == rule.id)
        out += fmt::format("         {}: {}\n", place_of(finding), printable(finding.what));
    if (count.times > kFindingsPerRule)
      out += fmt::format("         and {} more\n", count.times - kFindingsPerRule);
  }
  out +=
      fmt::format("\n{}: violated {} must and {} should rules; --explain RULE describes a rule\n",
                  report.conformant() ? "conformant" : "not conformant",
                  report.broken(Severity::must), report.broken(Severity::should));
  return out;
}

std::string finding_json(const Finding& finding) {
  const Rule& rule = *find_rule(finding.rule);
  return fmt::format(
      R"({{"rule":{},"severity":"{}","line":{},"sequence":{},"sessionId":{},"type":{},)"
      R"("eventId":{},"message":{},"link":{}}})",
      quoted(finding.rule), name_of(finding.severity), finding.line, finding.sequence,
      quoted(finding.session), quoted(finding.type), quoted(finding.event_id), quoted(finding.what),
      quoted(link_of(rule)));
}

std::string json_of(const Report& report, std::string_view source) {
  std::string out = fmt::format(
      R"({{"source":{},"conformant":{},"profile":"{}","events":{},"sessions":{},)"
      R"("vendorEvents":{},"unfinishedTurns":{},"skippedLines":{},"unjudgedFacts":{},"rules":[)",
      quoted(source), report.conformant(), name_of(report.profile), report.events, report.sessions,
      report.vendor_events, report.unfinished, report.skipped, report.unjudged);
  for (const Report::Count& count : report.counts) {
    const Rule& rule = *find_rule(count.rule);
    if (&count != &report.counts.front()) out += ',';
    out += fmt::format(R"({{"rule":{},"severity":"{}","count":{},"protects":{},"link":{}}})",
                       quoted(rule.id), name_of(rule.severity), count.times, quoted(rule.protects),
                       quoted(link_of(rule)));
  }
  out += R"(],"findings":[)";
  for (const Finding& finding : report.findings) {
    if (&finding != &report.findings.front()) out += ',';
    out += finding_json(finding);
  }
  return out + "]}\n";
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

bool judged(const Rule& rule, Profile profile) {
  return profile == Profile::full || rule.profile == Profile::core;
}

// One test case per rule; a broken `should` is reported but does not fail its case.
std::string junit_of(const Report& report, std::string_view source) {
  std::string cases;
  std::size_t tests = 0;
  for (const Rule& rule : rules()) {
    if (!judged(rule, report.profile)) continue;
    ++tests;
    cases += fmt::format(R"(  <testcase classname="agentrt.validate" name="{}")", rule.id);
    if (times_of(report, rule.id) == 0) {
      cases += "/>\n";
      continue;
    }
    std::string details;
    for (const Finding& finding : report.findings)
      if (finding.rule == rule.id)
        details += xml(fmt::format("{}: {}", place_of(finding), finding.what)) + '\n';
    const bool must = rule.severity == Severity::must;
    cases += must ? fmt::format(">\n    <failure message=\"{}\">{}</failure>\n  </testcase>\n",
                                xml(rule.protects), details)
                  : fmt::format(">\n    <system-out>{}</system-out>\n  </testcase>\n", details);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n{}</testsuite>\n",
      xml(source), tests, report.broken(Severity::must), cases);
}

}  // namespace

std::uint64_t Report::broken(Severity severity) const {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      counts, [&](const Count& count) { return find_rule(count.rule)->severity == severity; }));
}

std::string render(const Report& report, Format format, std::string_view source) {
  if (format == Format::json) return json_of(report, source);
  return format == Format::junit ? junit_of(report, source) : text_of(report, source);
}

}  // namespace agentrt::validate
