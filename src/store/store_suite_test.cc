// store/store_suite_test.cc: tests of events, snapshots and idempotency records for every store.

#include "store/testing/store_fixture.h"

namespace agentrt::store {

#define FOR_EVERY_STORE(sentence) TEST_CASE_TEMPLATE(sentence, Rig, MemoryRig, SqliteRig)

FOR_EVERY_STORE("an append is read back as it was given") {
  Rig rig;
  const Append append = append_of(kAlpha, 0, 3);
  CHECK(commit_one(rig.store(), append) == Result<Position>{1});
  CHECK(stored(rig.store(), kAlpha) == append.events);
  CHECK(rig.store().head(kAlpha) == Result<Sequence>{3});
  CHECK(rig.store().last_position() == Result<Position>{3});
}

FOR_EVERY_STORE("a new store is empty and has an identity") {
  Rig rig;
  CHECK(rig.store().last_position() == Result<Position>{0});
  CHECK(rig.store().head(kAlpha) == Result<Sequence>{0});
  CHECK(rig.store().events(kAlpha, 0, 10, 1'000).error().code == Code::not_found);
  CHECK(rig.store().all_events(0, 10, 1'000)->empty());
  CHECK(rig.store().runtime().text().starts_with("rt_"));
  CHECK(rig.store().generation().text().starts_with("gen_"));
  CHECK(rig.store().hash_key().size() == kHashKeyBytes);
}

FOR_EVERY_STORE("an append that expects another sequence is a conflict and the others go through") {
  Rig rig;
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0, 2)));
  const std::vector<Append> appends = {append_of(kAlpha, 1), append_of(kBeta, 0),
                                       append_of(kAlpha, 2), append_of(SessionId{"s3"}, 7),
                                       append_of(kBeta, 0)};
  const auto results = rig.store().commit(appends);
  REQUIRE(results.size() == 5);
  CHECK(results[0].error().code == Code::conflict);
  CHECK(results[0].error().details == R"({"expected":1,"actual":2})");
  CHECK(results[1] == Result<Position>{3});
  CHECK(results[2] == Result<Position>{4});
  CHECK(results[3].error().details == R"({"expected":7,"actual":0})");
  CHECK(results[4].error().code == Code::conflict);
  CHECK(stored(rig.store(), kAlpha).size() == 3);
  CHECK(stored(rig.store(), kBeta).size() == 1);
}

FOR_EVERY_STORE("sequences have no gaps and positions follow the order of commits") {
  Rig rig;
  for (Sequence at = 0; at < 20; ++at) {
    const std::vector<Append> both = {append_of(kAlpha, at), append_of(kBeta, at)};
    for (const auto& result : rig.store().commit(both)) REQUIRE(result);
  }
  const auto all = rig.store().all_events(0, 1'000, 1 << 20);
  REQUIRE(all);
  REQUIRE(all->size() == 40);
  for (std::size_t i = 0; i < all->size(); ++i) {
    CHECK((*all)[i].position == i + 1);
    CHECK((*all)[i].event.sequence == i / 2 + 1);
    CHECK((*all)[i].event.session == (i % 2 == 0 ? kAlpha : kBeta));
  }
}

FOR_EVERY_STORE("one commit may hold several appends of one session") {
  Rig rig;
  const std::vector<Append> chain = {append_of(kAlpha, 0, 2), append_of(kAlpha, 2),
                                     append_of(kAlpha, 3, 4)};
  for (const auto& result : rig.store().commit(chain)) CHECK(result);
  CHECK(stored(rig.store(), kAlpha).size() == 7);
}

FOR_EVERY_STORE("single events are read together, in the order asked for") {
  Rig rig;
  const Append append = append_of(kAlpha, 0, 9);
  REQUIRE(commit_one(rig.store(), append));
  const std::vector<Sequence> wanted = {7, 1, 9};
  const auto found = rig.store().events_at(kAlpha, wanted);
  REQUIRE(found);
  REQUIRE(found->size() == 3);
  for (std::size_t i = 0; i < wanted.size(); ++i)
    CHECK((*found)[i].event == append.events[wanted[i] - 1]);
  CHECK(rig.store().events_at(kAlpha, std::vector<Sequence>{10}).error().code == Code::internal);
  CHECK(rig.store().events_at(kBeta, wanted).error().code == Code::not_found);
  CHECK(rig.store().events_at(kAlpha, {})->empty());
}

FOR_EVERY_STORE("a page ends at events_max or about bytes_max and holds at least one event") {
  Rig rig;
  Append append = append_of(kAlpha, 0, 10);
  append.events[4].payload = fmt::format(R"({{"text":"{}"}})", std::string(50'000, 'x'));
  REQUIRE(commit_one(rig.store(), append));

  const auto numbers = [](const Result<std::vector<Event>>& page) {
    std::vector<Sequence> out;
    for (const Event& event : page.value()) out.push_back(event.event.sequence);
    return out;
  };
  using Numbers = std::vector<Sequence>;
  CHECK(numbers(rig.store().events(kAlpha, 0, 3, 1 << 20)) == Numbers{1, 2, 3});
  CHECK(numbers(rig.store().events(kAlpha, 8, 100, 1 << 20)) == Numbers{9, 10});
  CHECK(numbers(rig.store().events(kAlpha, 0, 100, 10'000)) == Numbers{1, 2, 3, 4});
  CHECK(numbers(rig.store().events(kAlpha, 4, 100, 10'000)) == Numbers{5});
  CHECK(numbers(rig.store().events(kAlpha, 0, 100, 0)) == Numbers{1});
  CHECK(numbers(rig.store().events(kAlpha, 10, 100, 1 << 20)).empty());
  CHECK(numbers(rig.store().events(kAlpha, 99, 100, 1 << 20)).empty());
  CHECK(numbers(rig.store().all_events(0, 3, 1 << 20)) == Numbers{1, 2, 3});
  CHECK(numbers(rig.store().all_events(4, 100, 10'000)) == Numbers{5});
  CHECK(numbers(rig.store().all_events(10, 100, 10'000)).empty());
}

FOR_EVERY_STORE("what was committed is there after the store is opened again") {
  Rig rig;
  Append append = append_of(kAlpha, 0, 2);
  append.index = {{"turn", "turn_1", "thread_1", 1, "running", true, R"({"n":1})"}};
  append.idempotency = {{"tok", "k1", "submit_turn", "h", R"({"ok":true})", Timestamp{5}}};
  append.snapshot = Snapshot{2, 7, std::string("\0\1bytes", 7)};
  REQUIRE(commit_one(rig.store(), append));
  const std::string generation = rig.store().generation().text();
  const std::string key = rig.store().hash_key();
  rig.reopen();
  CHECK(rig.store().generation().text() == generation);
  CHECK(rig.store().hash_key() == key);
  CHECK(stored(rig.store(), kAlpha) == append.events);
  CHECK(rig.store().find("turn", "turn_1").value()->row == append.index[0]);
  CHECK(rig.store().idempotency("tok", "k1").value() == append.idempotency[0]);
  CHECK(rig.store().snapshot(kAlpha).value() == append.snapshot);
  CHECK(commit_one(rig.store(), append_of(kAlpha, 1)).error().code == Code::conflict);
  CHECK(commit_one(rig.store(), append_of(kAlpha, 2)) == Result<Position>{3});
  CHECK(stored(rig.store(), kAlpha).size() == 3);
}

FOR_EVERY_STORE("a damaged row names itself and other sessions serve on") {
  Rig rig;
  const std::vector<Append> both = {append_of(kAlpha, 0, 5), append_of(kBeta, 0, 5)};
  for (const auto& result : rig.store().commit(both)) REQUIRE(result);
  rig.damage(kAlpha, 3);

  const auto page = rig.store().events(kAlpha, 0, 10, 1 << 20);
  REQUIRE_FALSE(page);
  CHECK(page.error().code == Code::internal);
  CHECK(page.error().details == R"({"sessionId":"sess_alpha","sequence":3})");
  CHECK(page.error().message.find("event 3 of session sess_alpha") != std::string::npos);
  CHECK(rig.store().events(kAlpha, 0, 2, 1 << 20)->size() == 2);
  CHECK(rig.store().events(kAlpha, 3, 10, 1 << 20)->size() == 2);
  CHECK(stored(rig.store(), kBeta).size() == 5);
  CHECK(commit_one(rig.store(), append_of(kBeta, 5)));

  // A page over all sessions returns the damaged row marked as such, and the others unchanged.
  const auto all = rig.store().all_events(0, 100, 1 << 20);
  REQUIRE(all);
  REQUIRE(all->size() == 11);
  for (const Event& event : *all) {
    CHECK(event.damage.has_value() == (event.position == 3));
    CHECK(event.event.payload.empty() == (event.position == 3));
  }
  CHECK(all->at(2).event.session == kAlpha);
  CHECK(all->at(2).event.sequence == 3);
  CHECK(all->at(2).damage->contains("event 3 of session sess_alpha"));
  CHECK(rig.store().all_events(3, 100, 1 << 20)->size() == 8);
}

FOR_EVERY_STORE("an erased payload leaves the chain whole") {
  Rig rig;
  const Append append = append_of(kAlpha, 0, 3);
  REQUIRE(commit_one(rig.store(), append));
  rig.erase_payload(kAlpha, 2);
  const auto events = stored(rig.store(), kAlpha);
  REQUIRE(events.size() == 3);
  CHECK(events[0] == append.events[0]);
  CHECK(events[1].payload == R"({"erased":true})");
  CHECK(events[2] == append.events[2]);
  CHECK(rig.store().all_events(1, 10, 1 << 20)->size() == 2);
}

FOR_EVERY_STORE("an idempotency key is recorded once for each principal") {
  Rig rig;
  Append first = append_of(kAlpha, 0);
  first.idempotency = {{"alice", "k", "create_session", "h1", "{}", Timestamp{100}}};
  Append other = append_of(kBeta, 0);
  other.idempotency = {{"bob", "k", "create_session", "h2", R"({"n":2})", Timestamp{200}}};
  const std::vector<Append> both = {first, other};
  for (const auto& result : rig.store().commit(both)) CHECK(result);
  CHECK(rig.store().idempotency("alice", "k").value() == first.idempotency[0]);
  CHECK(rig.store().idempotency("bob", "k").value() == other.idempotency[0]);
  CHECK_FALSE(rig.store().idempotency("carol", "k").value());

  // An append with a used key writes nothing; other appends succeed.
  Append again = append_of(kAlpha, 1);
  again.idempotency = {{"alice", "k", "create_session", "h3", "{}", Timestamp{300}}};
  const std::vector<Append> mixed = {append_of(kBeta, 1), again, append_of(SessionId{"s3"}, 0)};
  const auto results = rig.store().commit(mixed);
  CHECK(results[0] == Result<Position>{3});
  CHECK(results[1].error().code == Code::conflict);
  CHECK(results[2] == Result<Position>{4});
  CHECK(rig.store().head(kAlpha) == Result<Sequence>{1});
  CHECK(rig.store().idempotency("alice", "k").value() == first.idempotency[0]);
  CHECK(commit_one(rig.store(), append_of(kAlpha, 1)) == Result<Position>{5});
}

FOR_EVERY_STORE("an append of nothing but the answer to a key is stored") {
  Rig rig;
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 0)));
  Append answer;
  answer.session = kAlpha;
  answer.expected = 1;
  answer.idempotency = {{"p", "alone", "interrupt_turn", "h", "{}", Timestamp{1}}};
  REQUIRE(commit_one(rig.store(), answer));
  rig.reopen();
  CHECK(rig.store().idempotency("p", "alone").value() == answer.idempotency[0]);
  CHECK(commit_one(rig.store(), answer).error().code == Code::conflict);

  // The same together with a refused append, and with one that has events.
  answer.idempotency[0].key = "beside_refused";
  const std::vector<Append> refused = {append_of(kAlpha, 7), answer};
  auto results = rig.store().commit(refused);
  CHECK_FALSE(results[0]);
  CHECK(results[1]);
  answer.idempotency[0].key = "beside_events";
  const std::vector<Append> mixed = {answer, append_of(kAlpha, 1)};
  results = rig.store().commit(mixed);
  CHECK(results[0]);
  CHECK(results[1] == Result<Position>{2});
  rig.reopen();
  CHECK(rig.store().idempotency("p", "beside_refused").value());
  CHECK(rig.store().idempotency("p", "beside_events").value());
  CHECK(rig.store().last_position() == Result<Position>{2});
}

FOR_EVERY_STORE("old idempotency records are forgotten, a bounded number at a time") {
  Rig rig;
  for (Sequence i = 0; i < 6; ++i) {
    Append append = append_of(kAlpha, i);
    append.idempotency = {
        {"p", fmt::format("k{}", i), "c", "h", "{}", Timestamp{static_cast<std::int64_t>(i)}}};
    REQUIRE(commit_one(rig.store(), append));
  }
  CHECK(rig.store().forget_idempotency(Timestamp{4}, 3) == Result<std::size_t>{3});
  CHECK(rig.store().forget_idempotency(Timestamp{4}, 3) == Result<std::size_t>{1});
  CHECK(rig.store().forget_idempotency(Timestamp{4}, 3) == Result<std::size_t>{0});
  CHECK_FALSE(rig.store().idempotency("p", "k3").value());
  CHECK(rig.store().idempotency("p", "k4").value());
}

FOR_EVERY_STORE("the newest snapshot replaces the one before it") {
  Rig rig;
  CHECK_FALSE(rig.store().snapshot(kAlpha).value());
  Append append = append_of(kAlpha, 0);
  append.snapshot = Snapshot{1, 1, "one"};
  REQUIRE(commit_one(rig.store(), append));
  append = append_of(kAlpha, 1);
  append.snapshot = Snapshot{2, 3, "two"};
  REQUIRE(commit_one(rig.store(), append));
  REQUIRE(commit_one(rig.store(), append_of(kAlpha, 2)));
  CHECK(rig.store().snapshot(kAlpha).value() == Snapshot{2, 3, "two"});
  CHECK(rig.store().old_snapshots(3, 0, 10).value().empty());
  const auto old = rig.store().old_snapshots(4, 0, 10).value();
  REQUIRE(old.size() == 1);
  CHECK(old.front().session == kAlpha);
  CHECK(rig.store().old_snapshots(4, old.front().session_order, 10).value().empty());
}

FOR_EVERY_STORE("events of several runtimes keep their runtime") {
  Rig rig;
  Append append = append_of(kAlpha, 0, 100);
  for (std::size_t i = 0; i < 100; ++i)
    append.events[i].runtime = RuntimeId{fmt::format("rt_{}", i % 80)};
  REQUIRE(commit_one(rig.store(), append));
  CHECK(stored(rig.store(), kAlpha) == append.events);
}

TEST_CASE("a memory store fails its next commit on demand and keeps nothing of it") {
  MemoryStore store;
  REQUIRE(commit_one(store, append_of(kAlpha, 0)));
  store.fail_next({Code::storage_full, "full", ""});
  const std::vector<Append> both = {append_of(kAlpha, 1), append_of(kBeta, 0)};
  for (const auto& result : store.commit(both)) CHECK(result.error().code == Code::storage_full);
  CHECK(store.last_position() == Result<Position>{1});
  for (const auto& result : store.commit(both)) CHECK(result);
}

namespace {

schema::ChannelCursor cursor_of(const Store& store, const SessionId& session) {
  return {.channel = ChannelId{"chan_1"},
          .session = session,
          .token = "tok_1",
          .generation = store.generation(),
          .acknowledged = 2,
          .resume_hash = std::string(32, 'a'),
          .resume_hash_used = {},
          .seen_at = Timestamp{5}};
}

Append acknowledgement_of(const Store& store, Sequence sequence) {
  Append append;
  append.session = kAlpha;
  append.acknowledged = {{ChannelId{"chan_1"}, store.generation(), sequence, Timestamp{9}}};
  return append;
}

schema::ChannelCursor stored_cursor(Store& store) {
  const ChannelId wanted[] = {ChannelId{"chan_0"}, ChannelId{"chan_1"}};
  const auto found = store.cursors(wanted);
  REQUIRE(found);
  REQUIRE(found->size() == 1);
  return found->front();
}

}  // namespace

FOR_EVERY_STORE("cursors are stored with their append and survive a rebuild") {
  Rig rig;
  Append append = append_of(kAlpha, 0, 3);
  append.cursors = {cursor_of(rig.store(), kAlpha)};
  REQUIRE(commit_one(rig.store(), append));
  CHECK(stored_cursor(rig.store()) == append.cursors.front());
  REQUIRE(rig.store().rebuild(kAlpha, [](const auto&) { return std::vector<IndexRow>{}; }));
  CHECK(stored_cursor(rig.store()) == append.cursors.front());
  Append closing = append_of(kAlpha, 3);
  closing.cursors_dropped = {ChannelId{"chan_1"}};
  REQUIRE(commit_one(rig.store(), closing));
  const ChannelId dropped{"chan_1"};
  CHECK(rig.store().cursors({&dropped, 1})->empty());
}

FOR_EVERY_STORE("acknowledgements need no position of their session and never go back") {
  Rig rig;
  Append append = append_of(kAlpha, 0, 9);
  append.cursors = {cursor_of(rig.store(), kAlpha)};
  REQUIRE(commit_one(rig.store(), append));
  REQUIRE(commit_one(rig.store(), acknowledgement_of(rig.store(), 7)));
  CHECK(stored_cursor(rig.store()).acknowledged == 7);
  CHECK(stored_cursor(rig.store()).seen_at == Timestamp{9});
  REQUIRE(commit_one(rig.store(), acknowledgement_of(rig.store(), 3)));
  CHECK(stored_cursor(rig.store()).acknowledged == 7);
  Append other = acknowledgement_of(rig.store(), 8);
  other.acknowledged.front().generation = GenerationId{"gen_other"};
  REQUIRE(commit_one(rig.store(), other));
  CHECK(stored_cursor(rig.store()).acknowledged == 7);
  Append resumed = append_of(kAlpha, 9);
  resumed.cursors = {cursor_of(rig.store(), kAlpha)};
  REQUIRE(commit_one(rig.store(), resumed));
  CHECK(stored_cursor(rig.store()).acknowledged == 7);
  Append restored = append_of(kAlpha, 10);
  restored.cursors = {cursor_of(rig.store(), kAlpha)};
  restored.cursors.front().generation = GenerationId{"gen_other"};
  REQUIRE(commit_one(rig.store(), restored));
  CHECK(stored_cursor(rig.store()).acknowledged == 2);
}

}  // namespace agentrt::store
