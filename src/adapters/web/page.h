// adapters/web/page.h: converts the response of a web server to the end of a web_fetch call.
//
// HTML becomes readable text, other text is kept, images and other bytes are stored and named. Both
// the text and the body as received are stored as outputs. The text for the model is marked as
// untrusted content, between two lines that the page cannot forge because they contain a mark that
// it does not know. Blocks (stores bytes); called on a worker.
#pragma once

#include <functional>
#include <string>

#include "adapters/http/http_streams.h"
#include "policy/redaction.h"
#include "ports/outputs.h"
#include "ports/tools.h"
#include "tools/web_address.h"

namespace agentrt::adapters {

struct WebResponse {
  agentrt::tools::WebAddress address;  // of the page, after redirects
  HttpHead head;
  std::string body;
  bool cut = false;  // the server sent more than the limit
};

struct PageParts {
  ports::OutputKeeper& keeper;
  const policy::Redactor* redactor = nullptr;
  std::function<bool()> over;  // tells when to stop parsing
};

// `mark`: unpredictable for the server.
ports::ToolEnd page_end(const WebResponse& response, const std::string& mark,
                        const PageParts& parts);

}  // namespace agentrt::adapters
