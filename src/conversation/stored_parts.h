// conversation/stored_parts.h: puts the bytes behind the refs of messages into them: attached
// files, long answers, summaries.
//
// Facts and the history hold only refs. The bytes never change, so a message is the same in every
// request.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conversation/material.h"
#include "ports/models.h"
#include "ports/outputs.h"

namespace agentrt::conversation {

inline constexpr std::size_t kStoredPartBytesMax = 16 << 20;  // per part

// Reads all bytes of an output, at most kStoredPartBytesMax. Blocks.
using ReadOutput =
    std::function<Result<std::string>(const SessionId& session, const std::string& ref)>;

// Empties `parts` of every message. Bytes that cannot be read are named in words, with the reason;
// images are too if the model takes none. Blocks. Returns how many could not be read.
std::size_t put_stored_parts(std::vector<ports::Message>& messages, ImagesSent images,
                             const ReadOutput& read);

// Blocks, so the result must not be called on the worker that serves `outputs`, which must outlive
// it.
ReadOutput reader_of(ports::Outputs& outputs);

}  // namespace agentrt::conversation
