#include "base/time.h"

#include <charconv>
#include <chrono>

#include "base/check.h"

namespace agentrt {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::size_t kTextSize = 24;

void put(char* at, unsigned value, int digits) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) at[i] = static_cast<char>('0' + value % 10);
}

std::optional<unsigned> digits(std::string_view text, std::size_t from, std::size_t count) {
  unsigned value = 0;
  for (std::size_t i = from; i < from + count; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + static_cast<unsigned>(text[i] - '0');
  }
  return value;
}

}  // namespace

void append(std::string& out, Timestamp at) {
  using namespace std::chrono;
  std::int64_t day = at.ms / kDayMs;
  std::int64_t rest = at.ms % kDayMs;
  if (rest < 0) {
    rest += kDayMs;
    --day;
  }
  const year_month_day date{sys_days{days{day}}};
  const int year = static_cast<int>(date.year());
  check(year >= 0 && year <= 9999, "a timestamp lies within the years 0 to 9999");
  char text[] = "0000-00-00T00:00:00.000Z";
  put(text, static_cast<unsigned>(year), 4);
  put(text + 5, static_cast<unsigned>(date.month()), 2);
  put(text + 8, static_cast<unsigned>(date.day()), 2);
  put(text + 11, static_cast<unsigned>(rest / 3'600'000), 2);
  put(text + 14, static_cast<unsigned>(rest / 60'000 % 60), 2);
  put(text + 17, static_cast<unsigned>(rest / 1'000 % 60), 2);
  put(text + 20, static_cast<unsigned>(rest % 1'000), 3);
  out.append(text, kTextSize);
}

std::string format(Timestamp at) {
  std::string out;
  append(out, at);
  return out;
}

std::optional<Timestamp> parse_timestamp(std::string_view text) {
  using namespace std::chrono;
  if (text.size() != kTextSize || text[4] != '-' || text[7] != '-' || text[10] != 'T' ||
      text[13] != ':' || text[16] != ':' || text[19] != '.' || text[23] != 'Z')
    return std::nullopt;
  const auto year_part = digits(text, 0, 4), month_part = digits(text, 5, 2),
             day_part = digits(text, 8, 2), hour = digits(text, 11, 2),
             minute = digits(text, 14, 2), second = digits(text, 17, 2),
             milli = digits(text, 20, 3);
  if (!year_part || !month_part || !day_part || !hour || !minute || !second || !milli)
    return std::nullopt;
  const year_month_day date{year{static_cast<int>(*year_part)}, month{*month_part}, day{*day_part}};
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  const std::int64_t of_day =
      std::int64_t{*hour} * 3'600'000 + *minute * 60'000 + *second * 1'000 + *milli;
  return Timestamp{sys_days{date}.time_since_epoch().count() * kDayMs + of_day};
}

}  // namespace agentrt
