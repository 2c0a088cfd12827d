#include "cli/views/status_line.h"

#include <utility>

#include <fmt/format.h>

namespace agentrt::cli {
namespace {

constexpr std::string_view kPictures[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
constexpr std::string_view kErase = "\r\x1b[K";
constexpr std::string_view kKeys = " · Ctrl-C interrupts";

}  // namespace

std::string StatusLine::draw(std::string_view what, std::int64_t elapsed_ms, std::size_t width,
                             Colour colour) {
  drawn_ = true;
  const std::string_view picture = kPictures[picture_++ % std::size(kPictures)];
  const std::int64_t seconds = elapsed_ms > 0 ? elapsed_ms / 1'000 : 0;
  std::string time = seconds < 60 ? fmt::format(" · {} s", seconds)
                                  : fmt::format(" · {} min {} s", seconds / 60, seconds % 60);
  // Leave the last column free: a terminal may wrap a line that fills it.
  const std::size_t room = width > 1 ? width - 1 : 0;
  const std::size_t taken = 2 + width_of(time);
  std::string text = one_line(what);
  if (taken + width_of(text) + width_of(kKeys) <= room) time += kKeys;
  // A wrapped line could not be erased: if there is no room for both, omit the time.
  text = room > taken ? fit(text, room - taken) + time : fit(text, room > 2 ? room - 2 : 0);
  return std::string(kErase) + paint(picture, Paint::cyan, colour) + " " +
         paint(text, Paint::dim, colour);
}

std::string StatusLine::erase() {
  return std::exchange(drawn_, false) ? std::string(kErase) : std::string();
}

}  // namespace agentrt::cli
