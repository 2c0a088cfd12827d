#include "adapters/tools/read_file.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "adapters/tools/lines.h"
#include "adapters/tools/text.h"

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

struct Source {
  std::unique_ptr<ByteSource> bytes;
  std::uint64_t size = 0;
};

Outcome<Source> open_source(const ReadFrom& from, const std::string& path) {
  if (path.starts_with(kOutputPath)) {
    TRY_ASSIGN(auto output,
               OutputBytes::open(from.outputs, path.substr(kOutputPath.size()), from.session));
    const std::uint64_t size = output->size();
    return Source{std::move(output), size};
  }
  TRY_ASSIGN(const Opened file, from.grounds.open_file(path));
  auto readable = reopen(file.handle, O_RDONLY | O_NONBLOCK);
  if (!readable)
    return refuse(Category::denied,
                  fmt::format("{} cannot be read: {}.", path, std::strerror(readable.error())));
  return Source{std::make_unique<FileBytes>(*std::move(readable)),
                static_cast<std::uint64_t>(file.about.st_size)};
}

// Removes a character that truncation cut in half.
std::string_view shown_of(const Line& line) {
  return line.left_out > 0 ? schema::utf8_prefix(line.text, line.text.size() - 1) : line.text;
}

std::string numbered(std::uint64_t number, const Line& line) {
  std::string out = fmt::format("{:>6}\t{}", number, valid_utf8(shown_of(line)));
  if (line.left_out > 0) out += fmt::format(" [… {} more bytes in this line]", line.left_out);
  return out + "\n";
}

}  // namespace

Outcome<std::string> read_file(const ReadFrom& from, const agentrt::tools::ReadFileArgs& args,
                               const Until& until) {
  TRY_ASSIGN(const Source source, open_source(from, args.path));
  LineReader lines(*source.bytes, from.redactor, kReadLineBytesMax, until);
  TRY_ASSIGN(const std::string_view beginning, lines.beginning());
  if (beginning.empty()) return fmt::format("[{} is empty.]\n", args.path);
  if (const std::string kind = kind_of_bytes(beginning); !kind.empty())
    return fmt::format("[{} is {} of {} bytes; it is not shown as text.]\n", args.path, kind,
                       source.size);
  const std::uint64_t first = std::max<std::uint64_t>(args.offset.value_or(1), 1);
  const std::uint64_t count = args.limit.value_or(kReadLinesMax);
  BoundedText out;
  bool all_text = true;
  const auto take = [&] {
    if (!all_text)
      out.note("Bytes that are not UTF-8 are shown as U+FFFD; edit_file cannot match them.");
    return out.take();
  };
  Line line;
  for (std::uint64_t number = 1;; ++number) {
    TRY_ASSIGN(const bool there, lines.next(line));
    if (!there && number <= first)
      return refuse(Category::invalid_input, fmt::format("{} has {} lines; there is no line {}.",
                                                         args.path, number - 1, first));
    if (!there) return take();
    if (number < first) continue;
    if (number - first < count && out.add(numbered(number, line))) {
      all_text = all_text && is_text(shown_of(line));
      continue;
    }
    out.note(fmt::format("The file continues: read on with offset {}.", number));
    return take();
  }
}

}  // namespace agentrt::adapters::tools
