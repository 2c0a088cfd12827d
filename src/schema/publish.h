// schema/publish.h: generates the published documents: JSON Schema (draft 2020-12) and OpenAPI.
//
// Everything is derived from the declarations in facts.h, commands.h and snapshots.h and from the
// catalogue, so the documents always match the codec. The output is deterministic. schema/ holds a
// copy of each document, and a test compares them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace agentrt::schema {

// The schema of an event in the log and on the wire, with the payload of each type under $defs.
std::string published_events();
// The schema of a JSON-RPC call, with the params and the reply of each command under $defs.
std::string published_commands();
// The schemas of the read models that get_session, get_thread_read and list_sessions return.
std::string published_snapshots();
// The HTTP routes, as OpenAPI.
std::string published_openapi();

struct PublishedDocument {
  std::string_view name;  // as passed to `agentrt schema`
  std::string_view file;  // under schema/, and under /schemas/ over HTTP
  std::string (*text)();
};
std::span<const PublishedDocument> published_documents();

// The catalogue's event types and commands that this build lacks, one per line.
std::string missing_vocabulary();

}  // namespace agentrt::schema
