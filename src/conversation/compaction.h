// conversation/compaction.h: the texts of a compaction: the requests that write the summary of a
// conversation, and the continuation that replaces the summarised part.
//
// The text is summarised in pieces of at most half a window. Each request begins with the summary
// so far, so no request can exceed the window, and the cost follows what is new. All functions are
// pure. REQUIRES of all messages: put_stored_parts() was called.
#pragma once

#include <string>
#include <vector>

#include "ports/models.h"
#include "ports/workspace.h"

namespace agentrt::conversation {

inline constexpr std::size_t kPiecesMax = 64;  // per compaction; older text is left out

// What a compaction replaces, and with which limits.
struct Covered {
  std::vector<ports::Message> messages;  // oldest first
  std::vector<std::size_t> questions;    // indexes of the users' own messages
  bool continued = false;                // the first message is the continuation of the last one
  std::uint64_t window_tokens = 0;
  std::string instructions;  // of the user, for the summary; may be empty
};

// The part of the window that a compaction covers: all of it if a model has answered the turn,
// otherwise the turns before.
Covered covered_part(ports::HistoryWindow window, bool continued, std::uint64_t window_tokens);

// The pieces to summarise, oldest first.
struct Pieces {
  std::vector<std::string> texts;
  std::uint64_t omitted_bytes = 0;  // of the oldest text, beyond kPiecesMax
};
Pieces pieces_of(const Covered& covered);

// The request for the summary of a piece. `so_far`: the last one's answer; empty: none.
void put_summary_request(const Covered& covered, const std::string& piece,
                         const std::string& so_far, ports::ModelRequest& request);

// The digest of the request for each piece, without the summary so far (docs/replay.md).
std::vector<std::string> piece_digests(const Covered& covered,
                                       const std::vector<std::string>& pieces);

// What the runtime knows and a summary might forget, one line each.
struct OpenWork {
  std::vector<std::string> lines;  // open actions, processes, incidents
  std::string surroundings;        // the message about the surroundings
};

// The text that later requests contain instead of the covered part: the summary, the users' own
// messages, open work, and the newest turns whole.
std::string continuation_of(const Covered& covered, const std::string& summary,
                            const OpenWork& work);

// The refs of outputs that the text names.
std::vector<std::string> refs_in(std::string_view text);

}  // namespace agentrt::conversation
