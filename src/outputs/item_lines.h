// outputs/item_lines.h: the items of a job as JSON Lines: one object {"jobItemId"?, "input"} per
// line. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "schema/commands/jobs.h"

namespace agentrt::outputs {

// The id of an item without one: its line number, from 1.
JobItemId default_item_id(std::uint64_t line);

// Reads one line, without its line break. `line` and `offset`: its number and where it begins.
// Errors: invalid_params, with the reason.
Result<schema::JobLine> read_item_line(std::string_view text, std::uint64_t line,
                                       std::uint64_t offset);

// The complete lines at the beginning of `bytes`, which follow the cursor; `last`: the bytes are
// the end of the input, so the last line needs no line break. Errors: internal (the lines were
// checked when the job was created).
Result<std::vector<schema::JobLine>> item_lines(std::string_view bytes,
                                                const schema::JobCursor& after, bool last,
                                                std::size_t lines_max);

// Items as JSON Lines.
std::string to_lines(const std::vector<schema::JobItemInput>& items);

// Checks lines that arrive in pieces. Memory: one line, and 24 bytes per item.
class ItemCheck {
 public:
  // Errors: invalid_params, which names line and reason; limit_exceeded.
  Result<void> add(std::string_view bytes);
  // The number of items. Call once, after the last piece.
  Result<std::uint64_t> finish();

 private:
  Result<void> take(std::string_view line);

  std::string rest_;  // the beginning of an incomplete line
  std::uint64_t lines_ = 0;
  // Line numbers by the first bytes of the digest of their id. Two ids with the same 128 bits count
  // as the same id.
  struct Half {
    std::uint64_t high = 0, low = 0;
    bool operator==(const Half&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Half& half) const { return half.low; }
  };
  std::unordered_map<Half, std::uint32_t, Hash> ids_;
};

}  // namespace agentrt::outputs
