// cli/chat/history.h: the messages that a person sent earlier, for the Up key.
//
// Kept in DATA/chat_history, one JSON object per line, mode 0600, shared by all conversations of
// the data folder. At most kEntriesMax entries of kEntryBytesMax each; a file that has grown to
// twice that is rewritten. A file that cannot be read or written is not an error: the history is
// then empty, or not kept. Use from one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::cli {

class History {
 public:
  static constexpr std::size_t kEntriesMax = 1'000;
  static constexpr std::size_t kEntryBytesMax = std::size_t{16} * 1024;
  static constexpr std::size_t kFileBytesMax = std::size_t{4} << 20;

  // Empty path: nothing is kept.
  explicit History(std::string path);

  // Adds a message, unless it repeats the newest or is too long.
  void add(std::string_view text);
  // The next older (newer) message that begins with what was typed when the search began. `typed`:
  // the current text. nullopt: there is none.
  std::optional<std::string> older(std::string_view typed);
  std::optional<std::string> newer();
  // The newest message before position `before` that contains `text`; its position, or nullopt.
  std::optional<std::size_t> find(std::string_view text, std::size_t before) const;
  const std::string& at(std::size_t position) const { return entries_[position]; }
  std::size_t size() const { return entries_.size(); }
  // The text was edited or sent: the next older() begins a new search.
  void stop();

 private:
  void load();
  void rewrite() const;

  std::string path_;
  std::vector<std::string> entries_;  // oldest first
  std::optional<std::size_t> at_;     // while a person goes through it
  std::string prefix_;                // typed before that
};

}  // namespace agentrt::cli
