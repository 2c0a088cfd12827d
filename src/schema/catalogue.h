// schema/catalogue.h: the standard's whole vocabulary, as data.
//
// What a complete runtime can say and be asked: every event type with the correlation ids it must
// carry, every command, the read models and the closed word lists. This build's own facts and
// commands are declared in facts.h and commands.h; schema/missing.txt lists what the catalogue has
// beyond them. Words that this runtime adds to the standard (create_session, …) are not here.
//
// Everything is a constant, so any thread may read it at any time.
#pragma once

#include <span>
#include <string_view>

namespace agentrt::schema {

// Which part of the standard asks for an event: its core, or the parts built on it.
enum class Layer { standard, expanded };

struct EventType {
  std::string_view type;
  std::string_view family;
  Layer layer;
  std::span<const std::string_view> ids;  // wire names that every event of the type carries
};

struct CatalogueCommand {
  std::string_view name;
  std::string_view group;
  bool mutates;
};

std::span<const EventType> event_types();
std::span<const CatalogueCommand> catalogue_commands();

// Null for a name that is not in the standard.
const EventType* find_event_type(std::string_view type);
const CatalogueCommand* find_catalogue_command(std::string_view name);

// The members of an event, in the order in which they are written.
std::span<const std::string_view> envelope_members();
std::span<const std::string_view> read_models();
std::span<const std::string_view> statuses();
std::span<const std::string_view> task_statuses();
// What a read model says in place of a summary that it cannot vouch for.
std::span<const std::string_view> honesty_words();
std::span<const std::string_view> item_kinds();
std::span<const std::string_view> transports();
std::span<const std::string_view> peer_roles();

}  // namespace agentrt::schema
