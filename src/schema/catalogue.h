// schema/catalogue.h: the complete vocabulary of the standard, as data.
//
// Lists every event type with the correlation ids it must carry, every command, the read models and
// the closed word lists. The facts and commands of this build are declared in facts.h and
// commands.h; schema/missing.txt lists the catalogue entries that this build lacks. Extensions of
// this runtime to the standard (create_session, …) are not listed here.
//
// All data is constant, so any thread may read it.
#pragma once

#include <span>
#include <string_view>

namespace agentrt::schema {

// The part of the standard that defines an event: its core, or the extensions built on it.
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

// nullptr if the name is not in the standard.
const EventType* find_event_type(std::string_view type);
const CatalogueCommand* find_catalogue_command(std::string_view name);

// The members of an event envelope, in the order in which they are written.
std::span<const std::string_view> envelope_members();
std::span<const std::string_view> read_models();
std::span<const std::string_view> statuses();
std::span<const std::string_view> task_statuses();
// Markers that a read model uses in place of a summary that the runtime cannot provide.
std::span<const std::string_view> honesty_words();
std::span<const std::string_view> item_kinds();
std::span<const std::string_view> transports();
std::span<const std::string_view> peer_roles();

}  // namespace agentrt::schema
