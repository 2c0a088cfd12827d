// kernel/past/pages_ahead_test.cc: every fact of a session arrives once and in order, however long
// the session is.
#include "kernel/past/pages_ahead.h"

#include <doctest/doctest.h>

#include "store/memory/memory_store.h"

namespace agentrt::kernel {
namespace {

const SessionId kSession{"sess_1"};

void fill(store::MemoryStore& store, Sequence count) {
  store::Append append;
  append.session = kSession;
  for (Sequence sequence = 1; sequence <= count; ++sequence)
    append.events.push_back({.session = kSession,
                             .sequence = sequence,
                             .at = Timestamp{1'780'000'000'000},
                             .type = "run.status",
                             .runtime = store.runtime(),
                             .scope = {},
                             .payload = R"({"status":"running"})"});
  REQUIRE(store.commit(std::span(&append, 1)).front().has_value());
}

Sequence read_all(PagesAhead& pages) {
  Sequence last = 0;
  for (;;) {
    const auto page = pages.next();
    REQUIRE(page.has_value());
    if (page->empty()) return last;
    for (const store::Event& event : *page) CHECK(event.event.sequence == ++last);
  }
}

}  // namespace

TEST_CASE("short and long sessions are read to the fact that is asked for") {
  for (const Sequence facts : {1, 1'023, 1'024, 1'025, 9'000}) {
    CAPTURE(facts);
    store::MemoryStore store;
    fill(store, facts);
    for (const Sequence up_to : {Sequence{1}, facts / 2 + 1, facts}) {
      PagesAhead pages(store, kSession, up_to);
      CHECK(read_all(pages) == up_to);
      CHECK(pages.next()->empty());
    }
  }
}

TEST_CASE("a reader that needs no more ends while pages are read") {
  store::MemoryStore store;
  fill(store, 20'000);
  for (int pages_read = 0; pages_read < 3; ++pages_read) {
    PagesAhead pages(store, kSession, 20'000);
    for (int i = 0; i < pages_read; ++i) CHECK_FALSE(pages.next()->empty());
  }
}

TEST_CASE("a damaged fact ends the pages with its error") {
  store::MemoryStore store;
  fill(store, 5'000);
  store.disk()->damage(kSession, 3'000);
  PagesAhead pages(store, kSession, 5'000);
  for (;;) {
    const auto page = pages.next();
    if (page) {
      REQUIRE_FALSE(page->empty());
      continue;
    }
    CHECK(page.error().code == Code::internal);
    break;
  }
}

}  // namespace agentrt::kernel
