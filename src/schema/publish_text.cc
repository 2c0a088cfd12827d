#include "schema/publish_text.h"

#include <algorithm>
#include <vector>

namespace agentrt::schema {
namespace {

// The index after the end of the string that starts at text[from].
std::size_t string_end(std::string_view text, std::size_t from) {
  std::size_t i = from + 1;
  while (text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return i + 1;
}

// The members of an object or the elements of an array, each as its text.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t depth = 0;
  std::size_t from = 1;
  std::size_t i = 1;
  while (i + 1 < text.size()) {
    const char c = text[i];
    if (c == '"') {
      i = string_end(text, i);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(text.substr(from, i - from));
      from = i + 1;
    }
    ++i;
  }
  if (from < i) parts.push_back(text.substr(from, i - from));
  return parts;
}

// Formats on one line, with a space after each colon and comma.
std::string spaced(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '"') {
      const std::size_t end = string_end(text, i);
      out += text.substr(i, end - i);
      i = end;
      continue;
    }
    out += text[i];
    if (text[i] == ':' || text[i] == ',') out += ' ';
    ++i;
  }
  return out;
}

bool nests(std::string_view text) { return text.starts_with('{') || text.starts_with('['); }

// Prints a list of words, filling each line.
void print_words(std::string& out, const std::vector<std::string_view>& words, std::size_t indent) {
  std::size_t column = kPublishedColumns;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (column + words[i].size() + 2 > kPublishedColumns) {
      out += '\n';
      out.append(indent, ' ');
      column = indent;
    } else {
      out += ' ';
      ++column;
    }
    out += words[i];
    if (i + 1 < words.size()) out += ',';
    column += words[i].size() + 1;
  }
}

// `column` is where the value starts on its line; `after` is the number of characters that follow
// it there.
void print(std::string& out, std::string_view text, std::size_t indent, std::size_t column,
           std::size_t after) {
  if (const std::string line = spaced(text);
      !nests(text) || text.size() == 2 || column + line.size() + after <= kPublishedColumns) {
    out += line;
    return;
  }
  out += text.front();
  const auto parts = parts_of(text);
  const bool words = text.front() == '[' && std::ranges::none_of(parts, nests);
  if (words) print_words(out, parts, indent + 2);
  for (std::size_t i = 0; !words && i < parts.size(); ++i) {
    std::string_view part = parts[i];
    out += '\n';
    out.append(indent + 2, ' ');
    std::size_t start = indent + 2;
    if (text.front() == '{') {
      const std::size_t key = string_end(part, 0);
      out += part.substr(0, key);
      out += ": ";
      start += key + 2;
      part.remove_prefix(key + 1);
    }
    const bool last = i + 1 == parts.size();
    print(out, part, indent + 2, start, last ? 0 : 1);
    if (!last) out += ',';
  }
  out += '\n';
  out.append(indent, ' ');
  out += text.back();
}

}  // namespace

std::string pretty(std::string_view json) {
  std::string out;
  print(out, json, 0, 0, 0);
  out += '\n';
  return out;
}

}  // namespace agentrt::schema
