// bench/raw_sync.cc: measures synced writes of this disk: write B bytes, fdatasync, repeat. This
// bounds everything that waits for consecutive syncs.
//
// --form grow appends to the file; --form over overwrites existing bytes. Which is faster depends
// on the file system; the better of the two counts.
//
// raw_sync --out FILE --appends N --form grow|over [--bytes 4096]
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <string>

#include "wire.h"

using namespace agentrt::bench;

int main(int argc, char** argv) {
  const Options options(argc, argv);
  const std::string path = options.text("out");
  const bool over = options.text("form") == "over";
  const std::uint64_t appends = options.number("appends", 500);
  const std::string block(options.number("bytes", 4096), 'x');
  unlink(path.c_str());
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) die(fmt::format("{} cannot be made", path));
  const auto write_at = [&](std::uint64_t place) {
    const auto at = static_cast<off_t>(place * block.size());
    if (pwrite(file, block.data(), block.size(), at) != static_cast<ssize_t>(block.size()))
      die("writing failed");
  };
  if (over) {
    for (std::uint64_t i = 0; i < appends; ++i) write_at(i);
    if (fsync(file) != 0) die("fsync failed");
  }
  const auto begun = Clock::now();
  for (std::uint64_t i = 0; i < appends; ++i) {
    write_at(i);
    if (fdatasync(file) != 0) die("fdatasync failed");
  }
  const double seconds = micros_since(begun) / 1e6;
  unlink(path.c_str());
  fmt::print(R"({{"appends":{},"seconds":{:.3f},"per_second":{:.0f}}})"
             "\n",
             appends, seconds, static_cast<double>(appends) / seconds);
  return 0;
}
