// cli/views/session_view.h: renders sessions from replies as text. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/views/terminal.h"
#include "schema/snapshots.h"

namespace agentrt::cli {

// A page of a list, with unparsed rows.
struct ListReply {
  std::vector<schema::Json> data;
  std::optional<std::string> next_cursor;
};
BOOST_DESCRIBE_STRUCT(ListReply, (), (data, next_cursor))

Result<ListReply> read_list(const std::string& reply);

// A table of SessionSummary rows, in the order of the reply (newest first).
Result<std::string> sessions_text(const ListReply& list, Timestamp now, std::size_t width,
                                  Colour colour);

// The overview of one session, from the reply of get_session.
Result<std::string> session_text(const std::string& reply, Timestamp now, std::size_t width,
                                 Colour colour);

}  // namespace agentrt::cli
