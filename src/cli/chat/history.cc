#include "cli/chat/history.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "base/descriptor.h"
#include "schema/codec.h"

namespace agentrt::cli {
namespace {

constexpr int kMode = 0600;

struct Entry {
  std::string text;
};
BOOST_DESCRIBE_STRUCT(Entry, (), (text))

std::string line_of(std::string_view text) {
  return schema::to_json(Entry{std::string(text)}) + "\n";
}

void write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd, text.data(), text.size());
    if (size <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(size));
  }
}

}  // namespace

History::History(std::string path) : path_(std::move(path)) { load(); }

void History::load() {
  if (path_.empty()) return;
  std::ifstream file(path_, std::ios::binary);
  std::string line;
  std::size_t bytes = 0, lines = 0;
  while (std::getline(file, line) && bytes < kFileBytesMax) {
    bytes += line.size();
    ++lines;
    Entry entry;
    if (line.size() > 2 * kEntryBytesMax || !schema::check_json(line)) continue;
    if (!schema::from_json(line, entry, schema::Unknown::ignore) || entry.text.empty()) continue;
    entries_.push_back(std::move(entry.text));
  }
  if (entries_.size() > kEntriesMax)
    entries_.erase(entries_.begin(), entries_.end() - static_cast<std::ptrdiff_t>(kEntriesMax));
  if (lines > 2 * kEntriesMax || bytes >= kFileBytesMax) rewrite();
}

// Another conversation may add to the file at the same time; at worst its newest message is lost.
void History::rewrite() const {
  const std::string beside = path_ + ".new";
  const Descriptor file(::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kMode));
  if (!file) return;
  std::string text;
  for (const std::string& entry : entries_) text += line_of(entry);
  write_whole(file.get(), text);
  (void)std::rename(beside.c_str(), path_.c_str());
}

void History::add(std::string_view text) {
  stop();
  if (text.empty() || text.size() > kEntryBytesMax) return;
  if (!entries_.empty() && entries_.back() == text) return;
  entries_.emplace_back(text);
  if (entries_.size() > kEntriesMax) entries_.erase(entries_.begin());
  if (path_.empty()) return;
  const Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kMode));
  if (file) write_whole(file.get(), line_of(text));
}

std::optional<std::string> History::older(std::string_view typed) {
  if (!at_) prefix_ = typed;
  for (std::size_t i = at_.value_or(entries_.size()); i > 0; --i) {
    if (!entries_[i - 1].starts_with(prefix_) || entries_[i - 1] == typed) continue;
    at_ = i - 1;
    return entries_[i - 1];
  }
  return std::nullopt;
}

std::optional<std::string> History::newer() {
  if (!at_) return std::nullopt;
  for (std::size_t i = *at_ + 1; i < entries_.size(); ++i) {
    if (!entries_[i].starts_with(prefix_)) continue;
    at_ = i;
    return entries_[i];
  }
  at_.reset();
  return prefix_;
}

std::optional<std::size_t> History::find(std::string_view text, std::size_t before) const {
  for (std::size_t i = std::min(before, entries_.size()); i > 0; --i)
    if (entries_[i - 1].contains(text)) return i - 1;
  return std::nullopt;
}

void History::stop() { at_.reset(); }

}  // namespace agentrt::cli
