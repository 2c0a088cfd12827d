#include "runtime/page_pack.h"

#ifdef AGENTRT_PAGE_FILE

asm(".section .rodata\n"
    ".balign 16\n"
    "agentrt_page_begin:\n"
    ".incbin \"" AGENTRT_PAGE_FILE
    "\"\n"
    "agentrt_page_end:\n"
    ".byte 0\n"
    ".previous\n");
extern "C" {
extern const char agentrt_page_begin[];
extern const char agentrt_page_end[];
}

namespace agentrt::runtime {

std::string_view page_pack() {
  return {agentrt_page_begin, static_cast<std::size_t>(agentrt_page_end - agentrt_page_begin)};
}

}  // namespace agentrt::runtime

#else

namespace agentrt::runtime {

std::string_view page_pack() { return {}; }

}  // namespace agentrt::runtime

#endif
