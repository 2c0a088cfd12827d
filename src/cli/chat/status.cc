#include "cli/chat/status.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace agentrt::cli {
namespace {

constexpr std::string_view kGap = " · ";

struct Part {
  std::string text;
  int weight = 0;  // parts with a lower weight are omitted first
  Paint how = Paint::dim;
  std::string brief{};  // where there is less room; empty: the same
};

std::vector<Part> parts_of(const StatusFacts& facts) {
  std::vector<Part> parts;
  if (!facts.link.empty()) parts.push_back({facts.link, 10, Paint::yellow});
  if (!facts.waiting.empty()) parts.push_back({facts.waiting, 9, Paint::yellow});
  parts.push_back({facts.model.empty() ? "model by routing" : facts.model, 5});
  if (!facts.mode.empty()) parts.push_back({"mode " + facts.mode, 8, Paint::dim, facts.mode});
  if (!facts.sandbox.empty())
    parts.push_back(facts.sandbox == "full_access"
                        ? Part{"NO SANDBOX", 7, Paint::red}
                        : Part{"sandbox " + facts.sandbox, 7, Paint::dim, facts.sandbox});
  if (facts.context_tokens && facts.context_max && *facts.context_max > 0)
    parts.push_back(
        {fmt::format("context {}%", std::min<std::uint64_t>(
                                        *facts.context_tokens * 100 / *facts.context_max, 999)),
         4});
  if (facts.input_tokens + facts.output_tokens > 0)
    parts.push_back({fmt::format("{} in {} out", spoken_count(facts.input_tokens),
                                 spoken_count(facts.output_tokens)),
                     2});
  if (facts.cost_micros) parts.push_back({"cost " + spoken_cost(*facts.cost_micros), 3});
  if (facts.queued > 0) parts.push_back({fmt::format("{} queued", facts.queued), 6});
  return parts;
}

std::size_t width_of_all(const std::vector<Part>& parts) {
  std::size_t width = 0;
  for (const Part& part : parts) width += width_of(part.text) + (width > 0 ? 3 : 0);
  return width;
}

}  // namespace

std::string notification(config::Notify notify, std::string_view what) {
  if (notify == config::Notify::off) return {};
  if (notify == config::Notify::bell) return "\a";
  return fmt::format("\x1b]9;agentrt: {}\a\a", one_line(what));
}

std::string spoken_count(std::uint64_t number) {
  if (number < 1'000) return std::to_string(number);
  if (number < 1'000'000) return fmt::format("{}.{}k", number / 1'000, number % 1'000 / 100);
  return fmt::format("{}.{}M", number / 1'000'000, number % 1'000'000 / 100'000);
}

std::string spoken_cost(std::int64_t micros) {
  if (micros >= 10'000 || micros <= 0)
    return fmt::format("{}.{:02}", std::max<std::int64_t>(micros, 0) / 1'000'000,
                       std::max<std::int64_t>(micros, 0) / 10'000 % 100);
  return fmt::format("0.{:06}", std::max<std::int64_t>(micros, 0))
      .substr(0, micros >= 1'000 ? 6 : 8);
}

std::string status_text(const StatusFacts& facts, std::size_t width, Colour colour) {
  std::vector<Part> parts = parts_of(facts);
  for (Part& part : parts) part.text = one_line(part.text);
  if (width_of_all(parts) > width)
    for (Part& part : parts)
      if (!part.brief.empty()) part.text = one_line(part.brief);
  while (parts.size() > 1 && width_of_all(parts) > width)
    parts.erase(std::ranges::min_element(parts, {}, &Part::weight));
  std::string out;
  for (const Part& part : parts) {
    if (!out.empty()) out += paint(kGap, Paint::dim, colour);
    out += paint(fit(part.text, width), part.how, colour);
  }
  return out;
}

}  // namespace agentrt::cli
