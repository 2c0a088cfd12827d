#include "adapters/tools/read_file.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "adapters/tools/lines.h"
#include "adapters/tools/text.h"
#include "base/image.h"

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

struct Source {
  std::unique_ptr<ByteSource> bytes;
  std::uint64_t size = 0;
  std::string state = {};  // of a process
};

Outcome<Source> open_process(Result<ProcessText>& found) {
  if (!found) return refuse(Category::not_found, found.error().message + ".");
  std::string state = found->state;
  return Source{std::make_unique<ProcessBytes>(*std::move(found)), 0, std::move(state)};
}

Outcome<Source> open_source(const ReadFrom& from, const std::string& path) {
  if (from.process) return open_process(*from.process);
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

// The whole image; empty: the file is no image, or has changed meanwhile.
Outcome<std::string> read_image(const ReadFrom& from, const std::string& path, const Until& until) {
  TRY_ASSIGN(const Source source, open_source(from, path));
  std::string bytes;
  for (bool more = true; more && bytes.size() <= kReadImageBytesMax && !until.over();) {
    TRY_ASSIGN(more, source.bytes->read(bytes));
  }
  if (bytes.size() > kReadImageBytesMax || !image_header(bytes)) bytes.clear();
  return bytes;
}

// Names a file that is not shown as text. An image of a size that models take is returned with it.
Outcome<Found> describe(const ReadFrom& from, const std::string& path, std::uint64_t size,
                        const std::string& kind, const Until& until) {
  Found out{fmt::format("[{} is {} of {} bytes; it is not shown as text.]\n", path, kind, size),
            {}};
  if (size > kReadImageBytesMax || !kind.starts_with("an image")) return out;
  TRY_ASSIGN(out.image, read_image(from, path, until));
  if (out.image.empty()) return out;
  out.media_type = image_header(out.image)->media_type;
  out.text = fmt::format("[{} is {} of {} bytes.]\n", path, kind, out.image.size());
  return out;
}

// `state`: of the process that printed the lines; empty for other sources.
Outcome<std::string> read_lines(LineReader& lines, const agentrt::tools::ReadFileArgs& args,
                                const std::string& state) {
  const std::uint64_t first = std::max<std::uint64_t>(args.offset.value_or(1), 1);
  const std::uint64_t count = args.limit.value_or(kReadLinesMax);
  BoundedText out;
  bool all_text = true;
  const auto take = [&] {
    if (!all_text)
      out.note("Bytes that are not UTF-8 are shown as U+FFFD; edit_file cannot match them.");
    if (!state.empty()) out.note(state + ".");
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

}  // namespace

Outcome<Found> read_file(const ReadFrom& from, const agentrt::tools::ReadFileArgs& args,
                         const Until& until) {
  TRY_ASSIGN(const Source source, open_source(from, args.path));
  LineReader lines(*source.bytes, from.redactor, kReadLineBytesMax, until);
  TRY_ASSIGN(const std::string_view beginning, lines.beginning());
  if (beginning.empty() && !source.state.empty())
    return Found{fmt::format("[The process has printed nothing. {}.]\n", source.state), {}};
  if (beginning.empty()) return Found{fmt::format("[{} is empty.]\n", args.path), {}};
  if (const std::string kind = kind_of_bytes(beginning); !kind.empty()) {
    if (from.process)
      return Found{fmt::format("[The process printed {}; it is not shown as text.]\n", kind), {}};
    return describe(from, args.path, source.size, kind, until);
  }
  TRY_ASSIGN(std::string text, read_lines(lines, args, source.state));
  return Found{std::move(text), {}};
}

}  // namespace agentrt::adapters::tools
