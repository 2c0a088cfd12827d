#include "cli/views/checkup.h"

#include <algorithm>

#include <fmt/format.h>

#include "schema/codec.h"

namespace agentrt::cli {
namespace {

struct CheckRow {
  std::string name;
  bool ok = false;
  std::string finding;
  std::optional<std::string> remedy;
};
BOOST_DESCRIBE_STRUCT(CheckRow, (), (name, ok, finding, remedy))
struct Checkup {
  bool ok = false;
  std::vector<CheckRow> checks;
};
BOOST_DESCRIBE_STRUCT(Checkup, (), (ok, checks))

}  // namespace

bool all_good(const std::vector<Check>& checks) {
  return std::all_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.health == Health::good; });
}

std::string checks_text(const std::vector<Check>& checks, Colour colour) {
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, width_of(check.name));
  std::string out;
  for (const Check& check : checks) {
    const bool good = check.health == Health::good;
    out += fmt::format(
        "{}  {}{}  {}\n",
        good ? paint("ok    ", Paint::green, colour) : paint("not ok", Paint::red, colour),
        check.name, std::string(width - width_of(check.name), ' '), one_line(check.finding));
    if (!good)
      out += fmt::format("        {}{}\n", std::string(width + 2, ' '),
                         paint("→ " + one_line(check.remedy), Paint::yellow, colour));
  }
  return out;
}

std::string checks_json(const std::vector<Check>& checks) {
  Checkup checkup{all_good(checks), {}};
  for (const Check& check : checks) {
    CheckRow row{check.name, check.health == Health::good, check.finding, std::nullopt};
    if (!check.remedy.empty()) row.remedy = check.remedy;
    checkup.checks.push_back(std::move(row));
  }
  return schema::to_json(checkup) + "\n";
}

}  // namespace agentrt::cli
