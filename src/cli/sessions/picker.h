// cli/sessions/picker.h: lets a person choose one of the earlier sessions, with search.
//
// At a capable terminal the list fills the screen: typed words filter it, arrow keys move, Enter
// chooses, Esc leaves. The screen is restored afterwards. At any other terminal it is a numbered
// list, and the answer is a number or words to search for. PickerList is pure; pick_session() does
// the input and output.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output.h"
#include "cli/signals.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

struct PickerRow {
  SessionId session;
  std::string what;   // its title, or the beginning of its newest prompt
  std::string when;   // "5 min ago"
  std::string state;  // "waiting permission"; empty: at rest
  std::string where;  // its folder; empty: the current one
};

// The rows for these sessions, without archived ones: first those of `folder`, each group by last
// use, newest first.
std::vector<PickerRow> picker_rows(std::vector<schema::SessionSummary> sessions,
                                   const std::string& folder, Timestamp now);

class PickerList {
 public:
  enum class Outcome { open, chosen, left };
  static constexpr std::size_t kSearchBytesMax = 200;

  explicit PickerList(std::vector<PickerRow> rows, std::string_view search = {});

  // Takes keys as the terminal sends them, in chunks of any size.
  Outcome press(std::string_view bytes);
  // The start of an escape sequence was pressed: either its rest follows at once, or it was Esc.
  bool undecided() const { return !pending_.empty(); }
  Outcome press_escape();

  // Replaces the search words; every word must occur in a row.
  void search(std::string_view text);
  // The row that Enter chooses; null: nothing matches.
  const PickerRow* selected() const;
  // The rows that match, in order.
  std::vector<const PickerRow*> matching() const;

  // The whole screen: every line is cleared to its end, and the cursor is behind the search words.
  std::string frame(std::size_t columns, std::size_t lines, Colour colour) const;
  // The first `count` matching rows, numbered from 1.
  std::string numbered(std::size_t count, std::size_t columns) const;

 private:
  Outcome press_key(std::string_view key);
  void move(std::ptrdiff_t by);
  void filter();
  std::string line_of(const PickerRow& row, std::string_view mark, std::size_t columns,
                      Colour colour) const;

  std::vector<PickerRow> rows_;
  std::string search_;
  std::vector<std::size_t> found_;  // indexes of rows_
  std::size_t at_ = 0;              // in found_
  std::string pending_;             // an incomplete key
};

// nullopt: the person left without a choice. Errors: invalid_params (no terminal; the message says
// what to do instead), not_found (there is nothing to choose from).
Result<std::optional<SessionId>> pick_session(Output& output, Signals& signals,
                                              std::vector<PickerRow> rows,
                                              std::string_view search = {});

}  // namespace agentrt::cli
