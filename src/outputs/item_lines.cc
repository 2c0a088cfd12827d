#include "outputs/item_lines.h"

#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/digest.h"
#include "schema/codec.h"

namespace agentrt::outputs {

using namespace schema;

namespace {

constexpr std::string_view kBlank = " \t\r";

std::size_t skip_blank(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kBlank, at), text.size());
}

// The end of the string that begins at `at`.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

// The end of the value that begins at `at`. REQUIRES: the text is valid JSON.
std::size_t skip_value(std::string_view text, std::size_t at) {
  if (text[at] == '"') return skip_string(text, at);
  if (text[at] != '{' && text[at] != '[') return text.find_first_of(" \t\r,}]", at);
  std::size_t depth = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (text[at] == '{' || text[at] == '[') ++depth;
    if (text[at] == '}' || text[at] == ']') --depth;
    ++at;
    if (depth == 0) break;
  }
  return at;
}

struct Span {
  std::size_t begin = 0, end = 0;
};

// Where the value of `input` is. REQUIRES: the text is a valid JSON object.
std::optional<Span> find_input(std::string_view text) {
  std::size_t at = skip_blank(text, text.find('{') + 1);
  while (at < text.size() && text[at] == '"') {
    const std::size_t named = skip_string(text, at);
    const std::string_view name = text.substr(at + 1, named - at - 2);
    const std::size_t begin = skip_blank(text, text.find(':', named) + 1);
    const std::size_t end = skip_value(text, begin);
    if (name == "input") return Span{begin, end};
    at = skip_blank(text, end);
    if (at < text.size() && text[at] == ',') at = skip_blank(text, at + 1);
  }
  return std::nullopt;
}

}  // namespace

JobItemId default_item_id(std::uint64_t line) { return JobItemId{std::to_string(line)}; }

Result<JobLine> read_item_line(std::string_view text, std::uint64_t line, std::uint64_t offset) {
  if (text.size() > kJobItemBytesMax)
    return fail(Code::invalid_params, fmt::format("it has more than {} bytes", kJobItemBytesMax));
  if (skip_blank(text, 0) == text.size()) return fail(Code::invalid_params, "it is empty");
  TRY(check_json(text));
  if (text[skip_blank(text, 0)] != '{')
    return fail(Code::invalid_params, R"(expected an object like {"input": …})");
  JobItemInput item;
  TRY(from_json(text, item, Unknown::refuse));
  const auto input = find_input(text);
  if (!input) return fail(Code::invalid_params, "input: the name must be written without escapes");
  return JobLine{.id = item.job_item_id.value_or(default_item_id(line)),
                 .line = line,
                 .offset = offset + input->begin,
                 .size = input->end - input->begin,
                 .next = offset + text.size() + 1};
}

Result<std::vector<JobLine>> item_lines(std::string_view bytes, const JobCursor& after, bool last,
                                        std::size_t lines_max) {
  std::vector<JobLine> out;
  JobCursor at = after;
  while (!bytes.empty() && out.size() < lines_max) {
    const std::size_t end = bytes.find('\n');
    if (end == bytes.npos && !last) break;
    const std::string_view text = bytes.substr(0, end);
    auto line = read_item_line(text, at.line + 1, at.offset);
    if (!line)
      return fail(Code::internal, fmt::format("line {} of the input cannot be read: {}",
                                              at.line + 1, line.error().message));
    at = {line->line, line->next};
    out.push_back(*std::move(line));
    bytes.remove_prefix(std::min(text.size() + 1, bytes.size()));
  }
  return out;
}

std::string to_lines(const std::vector<JobItemInput>& items) {
  std::string out;
  for (const JobItemInput& item : items) {
    out += '{';
    if (item.job_item_id) out += fmt::format(R"("jobItemId":"{}",)", item.job_item_id->text());
    out += R"("input":)" + item.input.text + "}\n";
  }
  return out;
}

Result<void> ItemCheck::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    if (end == bytes.npos) {
      if (rest_.size() + bytes.size() > kJobItemBytesMax)
        return fail(Code::invalid_params, fmt::format("line {}: it has more than {} bytes",
                                                      lines_ + 1, kJobItemBytesMax));
      rest_ += bytes;
      return {};
    }
    if (rest_.empty()) {
      TRY(take(bytes.substr(0, end)));
    } else {
      rest_ += bytes.substr(0, end);
      const std::string whole = std::exchange(rest_, {});
      TRY(take(whole));
    }
    bytes.remove_prefix(end + 1);
  }
  return {};
}

Result<std::uint64_t> ItemCheck::finish() {
  if (!rest_.empty()) {
    const std::string whole = std::exchange(rest_, {});
    TRY(take(whole));
  }
  if (lines_ == 0) return fail(Code::invalid_params, "expected at least one item");
  return lines_;
}

Result<void> ItemCheck::take(std::string_view text) {
  if (lines_ == kJobItemsMax)
    return fail(Code::limit_exceeded,
                fmt::format("a job has at most {} items: split the job", kJobItemsMax));
  const std::uint64_t number = ++lines_;
  auto line = read_item_line(text, number, 0);
  if (!line)
    return fail(Code::invalid_params, fmt::format("line {}: {}", number, line.error().message));
  const Digest digest = sha256(line->id.text());
  Half half;
  std::memcpy(&half, digest.data(), sizeof half);
  const auto [at, fresh] = ids_.try_emplace(half, static_cast<std::uint32_t>(number));
  if (fresh) return {};
  return fail(Code::invalid_params,
              fmt::format("line {}: its jobItemId {} is also that of line {} (the default is the "
                          "line number)",
                          number, line->id.text(), at->second));
}

}  // namespace agentrt::outputs
