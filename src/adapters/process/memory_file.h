// adapters/process/memory_file.h: sealed anonymous files (memfd) that pass bytes to another
// process.
#pragma once

#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace agentrt::adapters {

inline constexpr int kAboveFixed = 10;  // above the fixed descriptors of a launcher

enum class MemoryFile { data, executable };

// Returns a read-only, sealed file that holds `bytes`, positioned at offset 0. Its descriptor is at
// least kAboveFixed. Errors: unavailable.
Result<Descriptor> file_in_memory(const char* name, std::string_view bytes,
                                  MemoryFile kind = MemoryFile::data);

}  // namespace agentrt::adapters
