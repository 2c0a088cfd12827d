// adapters/web/xml_library.h: loads libxml2, whose HTML parser web_fetch uses, when the first page
// needs it (docs/decisions/0023-html-is-read-by-libxml2.md). It is loaded once and never unloaded.
// Threads: load() on any thread; the functions follow libxml2's own rules.
#pragma once

#include <libxml/HTMLparser.h>

#include "base/result.h"

namespace agentrt::adapters {

struct XmlLibrary {
  // Errors: unavailable: the library is not installed; the message names the package.
  static Result<XmlLibrary> load();

  decltype(&htmlCreatePushParserCtxt) create_parser = nullptr;
  decltype(&htmlCtxtUseOptions) use_options = nullptr;
  decltype(&htmlParseChunk) parse_chunk = nullptr;
  decltype(&xmlStopParser) stop_parser = nullptr;
  decltype(&htmlFreeParserCtxt) free_parser = nullptr;
};

}  // namespace agentrt::adapters
