#include "schema/catalogue.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "schema/testing/samples.h"

namespace agentrt::schema {
namespace {

template <class E>
std::vector<std::string_view> words_of() {
  std::vector<std::string_view> words;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<E>>(
      [&](auto d) { words.push_back(codec::enum_wire_name(d.name)); });
  return words;
}

TEST_CASE("the catalogue has 118 event types and 43 commands, each once") {
  std::set<std::string_view> types;
  for (const EventType& entry : event_types()) types.insert(entry.type);
  CHECK(event_types().size() == 118);
  CHECK(types.size() == 118);
  std::set<std::string_view> names;
  for (const CatalogueCommand& entry : catalogue_commands()) names.insert(entry.name);
  CHECK(catalogue_commands().size() == 43);
  CHECK(names.size() == 43);
  CHECK(read_models().size() == 13);
  CHECK(envelope_members().size() == 28);
}

TEST_CASE("an entry is found by its name, and nothing by another") {
  const EventType* entry = find_event_type("tool.started");
  REQUIRE(entry);
  CHECK(entry->family == "tool");
  CHECK(entry->layer == Layer::standard);
  CHECK(std::ranges::equal(
      entry->ids,
      std::vector<std::string_view>{"sessionId", "threadId", "turnId", "stepId", "toolCallId"}));
  CHECK(find_event_type("job.item.failed")->ids.back() == "jobItemId");
  CHECK_FALSE(find_event_type("tool"));
  CHECK_FALSE(find_event_type(""));
  REQUIRE(find_catalogue_command("get_job"));
  CHECK_FALSE(find_catalogue_command("get_job")->mutates);
  CHECK_FALSE(find_catalogue_command("create_session"));
}

TEST_CASE("every id that the catalogue asks for is a member of the envelope") {
  const auto members = envelope_members();
  for (const EventType& entry : event_types())
    for (const auto id : entry.ids) CHECK(std::ranges::find(members, id) != members.end());
}

TEST_CASE("the word lists in C++ are those of the catalogue") {
  auto with_idle = std::vector(statuses().begin(), statuses().end());
  with_idle.push_back("idle");  // only for threads
  CHECK(words_of<Status>() == with_idle);
  CHECK(std::ranges::equal(words_of<TaskStatus>(), task_statuses()));
  CHECK(std::ranges::equal(words_of<ItemKind>(), item_kinds()));
}

TEST_CASE("every fact type is in the catalogue and its scope carries the ids asked for") {
  samples::for_each_fact_type([]<class P>(std::type_identity<P>) {
    CAPTURE(P::kType);
    const EventType* entry = find_event_type(P::kType);
    REQUIRE(entry);
    const Ids ids = samples::scope<typename P::Scope>().ids();
    std::set<std::string_view> present;
    if (ids.session) present.insert("sessionId");
    boost::mp11::mp_for_each<codec::Members<Ids>>([&](auto d) {
      if (ids.*d.pointer) present.insert(codec::kWireName<decltype(d)>.view());
    });
    for (const auto id : entry->ids) {
      CAPTURE(id);
      CHECK(present.contains(id));
    }
  });
}

TEST_CASE("a command of the standard mutates here when it does there") {
  for (const CommandTraits& command : known_commands()) {
    if (command.name == "evaluate_permission") continue;  // a dry run that appends nothing
    CAPTURE(command.name);
    if (const auto* entry = find_catalogue_command(command.name))
      CHECK(entry->mutates == (command.effect == CommandEffect::mutates));
  }
}

}  // namespace
}  // namespace agentrt::schema
