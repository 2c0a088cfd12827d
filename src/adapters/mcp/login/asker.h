// adapters/mcp/login/asker.h: sends the requests of a login and receives their complete answers.
//
// An answer takes at most kOauthRequestMs and has at most kMetadataBytesMax bytes. Redirects are
// not followed. Unless a proxy is configured for the URL, each connection is made only to an
// address of the public internet, or to one in the same place as the MCP server (Reach). Every
// connection is new, so the check cannot be bypassed.
//
// Threads: everything runs on one loop. No callback follows the destructor.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/http/fetch.h"
#include "adapters/mcp/login/login_files.h"
#include "ports/loop.h"

namespace agentrt::adapters {

class Asker {
 public:
  Asker(ports::Loop& loop, HttpStreams& streams) : loop_(loop), streams_(streams) {}
  Asker(const Asker&) = delete;
  Asker& operator=(const Asker&) = delete;

  // Errors: their message is a sentence that begins with the URL.
  void ask(HttpRequest request, Reach reach, FetchedTo done);
  void get(const std::string& url, Reach reach, FetchedTo done);

  ports::Loop& loop() { return loop_; }
  // Expires with this object.
  std::weak_ptr<bool> here() const { return here_; }

 private:
  ports::Loop& loop_;
  HttpStreams& streams_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace agentrt::adapters
