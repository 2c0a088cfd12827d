#include "cli/views/checkup.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/views/layout.h"
#include "schema/codec.h"

namespace agentrt::cli {
namespace {

constexpr std::size_t kHealthCells = 8;       // "not ok  "
constexpr std::size_t kFindingCellsMin = 20;  // below that, the terminal breaks the lines

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

std::string checks_text(const std::vector<Check>& checks, Paper paper) {
  std::size_t names = 0;
  for (const Check& check : checks) names = std::max(names, width_of(check.name));
  const std::size_t column = kHealthCells + names + 2;
  const std::size_t room =
      paper.width >= column + kFindingCellsMin ? paper.width - column : std::size_t{0};
  // In its column, if there is room for one.
  const auto finding = [&](std::string_view text, Paint how) {
    std::string out;
    for (const std::string& line : prose_lines(one_line(text), room)) {
      if (!out.empty()) out += "\n" + std::string(column, ' ');
      out += paint(line, how, paper.colour);
    }
    return out + "\n";
  };
  std::string out;
  for (const Check& check : checks) {
    const bool good = check.health == Health::good;
    out += fmt::format("{}  {}{}  {}",
                       good ? paint("ok    ", Paint::green, paper.colour)
                            : paint("not ok", Paint::red, paper.colour),
                       check.name, std::string(names - width_of(check.name), ' '),
                       finding(check.finding, Paint::plain));
    if (!good) out += std::string(column, ' ') + finding("→ " + check.remedy, Paint::yellow);
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
