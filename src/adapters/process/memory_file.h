// adapters/process/memory_file.h: sealed files without a name, to hand bytes to another process.
#pragma once

#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace agentrt::adapters {

inline constexpr int kAboveFixed = 10;  // clear of the descriptors that a launcher is given

enum class MemoryFile { data, executable };

// Holds `bytes`, is read from its beginning and never changes; its descriptor is kAboveFixed or
// more. Errors: unavailable.
Result<Descriptor> file_in_memory(const char* name, std::string_view bytes,
                                  MemoryFile kind = MemoryFile::data);

}  // namespace agentrt::adapters
