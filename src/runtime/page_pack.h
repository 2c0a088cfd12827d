// runtime/page_pack.h: the inspector page inside the binary, in the format of channels/page.h.
#pragma once

#include <string_view>

namespace agentrt::runtime {

// Empty if the binary was built with AGENTRT_WEB=OFF.
std::string_view page_pack();

}  // namespace agentrt::runtime
