// schema/publish.h: the vocabulary as documents for others: JSON Schema (draft 2020-12) and
// OpenAPI.
//
// Everything is derived from the declarations in facts.h, commands.h and snapshots.h and from the
// catalogue, so the documents cannot say anything else than the codec does. The texts are the same
// on every machine and every run; schema/ holds a copy of each, and a test compares them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace agentrt::schema {

// An event as it stands in the log and on every wire, with the payload of each type under $defs.
std::string published_events();
// A call as JSON-RPC carries it, with the params and the reply of each command under $defs.
std::string published_commands();
// The read models that get_session, get_thread_read and list_sessions answer with.
std::string published_snapshots();
// The HTTP routes.
std::string published_openapi();

struct PublishedDocument {
  std::string_view name;  // as `agentrt schema` takes it
  std::string_view file;  // under schema/, and after /schemas/ over HTTP
  std::string (*text)();
};
std::span<const PublishedDocument> published_documents();

// The catalogue's event types and commands that this build does not have, one a line.
std::string missing_vocabulary();

}  // namespace agentrt::schema
