// adapters/web/html_text.h: converts an HTML page to readable text: paragraphs, headings, lists and
// tables as in Markdown, links with absolute URLs, without scripts, styles and hidden elements.
//
// Pages are written by strangers, so memory and time are bounded for any input. Any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tools/web_address.h"

namespace agentrt::adapters {

struct HtmlLimits {
  std::size_t text_bytes_max = 8 << 20;  // of the result; the rest is omitted
  std::size_t depth_max = 1'000;         // of nested elements; the rest of the page is omitted
};

struct ReadableText {
  std::string text;      // ends with a line break, or is empty
  bool complete = true;  // false: the page exceeds a limit, and the rest is omitted
};

// `html` is UTF-8. `base` is the URL of the page, for relative links. `over` tells when to stop;
// the result then has the text up to there. Errors: unavailable: the parser is not installed.
Result<ReadableText> readable_text(std::string_view html, const agentrt::tools::WebAddress& base,
                                   const std::function<bool()>& over,
                                   const HtmlLimits& limits = {});

}  // namespace agentrt::adapters
