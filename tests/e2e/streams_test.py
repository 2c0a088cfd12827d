"""Streams: from any sequence, live or from disk, without gaps or duplicates at the transition."""

import json
import threading
import unittest

from harness import Case, wait_until
from stream_checker import StreamChecker


class Streams(Case):
    scripts = {"main": [{"text": "word " * 50, "deltas": 50}],
               "slow": [{"delayMs": 30_000, "text": "late"}]}

    def follow(self, session, after, until, results, **headers):
        """Collects raw frames up to sequence `until`."""
        found = []
        with self.daemon.stream(session, after=after, **headers) as stream:
            for frame in stream.frames():
                found.append(frame)
                if int(frame[0]) >= until:
                    break
        results.append(found)

    def test_a_stream_from_any_sequence_is_the_same_as_the_pages(self):
        last = self.daemon.wait_turn(self.daemon.submit(sessionId="s"))[-1]["sequence"]
        whole = self.daemon.events("s")
        self.check(whole)
        for after in (0, 1, last // 2, last - 1):
            results = []
            self.follow("s", after, last, results)
            self.assertEqual([json.loads(data) for _, _, data in results[0]],
                             whole[after:last])
            for identity, kind, data in results[0]:
                event = json.loads(data)
                self.assertEqual((int(identity), kind), (event["sequence"], event["type"]))

    def test_the_bytes_of_an_event_are_the_same_on_every_way_out(self):
        metadata = '{"price":1.10,"big":12345678901234567890,"text":"\\u00e9 \\/"}'
        body = '{"sessionId":"s","metadata":' + metadata + "}"
        self.assertEqual(self.daemon.request("POST", "/v1/commands/create_session", body).status,
                         200)
        page = self.daemon.get("/v1/sessions/s/events").data.decode()
        self.assertIn(metadata, page)
        with self.daemon.stream("s", after=0) as stream:
            _, _, data = next(stream.frames())
        self.assertIn(metadata, data)
        self.assertIn(data, page)

    def test_last_event_id_is_honoured_and_beats_after(self):
        last = self.daemon.wait_turn(self.daemon.submit(sessionId="s"))[-1]["sequence"]
        with self.daemon.stream("s", after=1, Last_Event_ID=last - 2) as stream:
            self.assertEqual(next(stream.events())["sequence"], last - 1)

    def test_readers_that_join_while_facts_are_written_miss_nothing(self):
        session = self.daemon.ok("create_session", sessionId="s")["sessionId"]
        updates = 300
        results, threads = [], []

        def write():
            for number in range(updates):
                self.daemon.ok("update_session", sessionId=session, title=f"t{number}")

        writer = threading.Thread(target=write)
        writer.start()
        for number in range(20):
            after = number * 3
            wait_until(lambda: self.daemon.ok("get_session", sessionId=session)["asOfSequence"]
                       >= after)
            thread = threading.Thread(target=self.follow,
                                      args=(session, after, updates + 1, results))
            thread.start()
            threads.append(thread)
        writer.join()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 20)
        for frames in results:
            checker = StreamChecker()
            checker.feed_all([json.loads(data) for _, _, data in frames])
            self.assertEqual(checker.sequence, updates + 1)

    def test_a_sequence_of_the_future_is_gone(self):
        self.daemon.ok("create_session", sessionId="s")
        for reply in (self.daemon.get("/v1/sessions/s/events?after=999"),
                      self.daemon.get("/v1/sessions/s/events?after=999",
                                      headers={"Accept": "text/event-stream"})):
            self.assertRefused(reply, 410, "gone")
        self.assertRefused(
            self.daemon.get("/v1/sessions/s/events", headers={"Accept": "text/event-stream",
                                                              "Last-Event-ID": "999"}),
            410, "gone")

    def test_another_generation_is_gone(self):
        self.daemon.ok("create_session", sessionId="s")
        reply = self.daemon.call("list_events", sessionId="s", generation="gen_other")
        self.assertRefused(reply, 410, "gone")

    def test_places_that_are_no_numbers_are_refused(self):
        self.daemon.ok("create_session", sessionId="s")
        for place in ("x", "-1", "1.5", "99999999999999999999999", "1e3", "%00"):
            with self.subTest(place):
                reply = self.daemon.get(f"/v1/sessions/s/events?after={place}")
                self.assertRefused(reply, 400, "invalid_params")
        reply = self.daemon.get("/v1/sessions/s/events",
                                headers={"Accept": "text/event-stream", "Last-Event-ID": "x"})
        self.assertRefused(reply, 400, "invalid_params")

    def test_a_session_that_does_not_exist_is_not_found(self):
        self.assertRefused(self.daemon.get("/v1/sessions/none/events"), 404, "not_found")

    def test_only_a_page_that_something_follows_has_a_next_cursor(self):
        self.daemon.ok("create_session", sessionId="s")
        for title in ("one", "two", "three"):
            self.daemon.ok("update_session", sessionId="s", title=title)
        for path in ("/v1/sessions/s/events", "/v1/events"):
            self.assertIn("nextCursor", self.daemon.get(f"{path}?limit=3").json, path)
            for limit in (4, 100):
                page = self.daemon.get(f"{path}?limit={limit}").json
                self.assertEqual(len(page["data"]), 4, path)
                self.assertNotIn("nextCursor", page, path)

    def test_the_stream_of_all_sessions_has_every_session_and_resumes_by_its_cursor(self):
        for name in ("a", "b", "c"):
            self.daemon.ok("create_session", sessionId=name)
        ids, sessions = [], []
        with self.daemon.stream() as stream:
            for identity, _, data in stream.frames():
                ids.append(identity)
                sessions.append(json.loads(data)["sessionId"])
                if sessions[-1] == "c":
                    break
        self.assertEqual([name for name in sessions if name in "abc"], ["a", "b", "c"])
        with self.daemon.stream(Last_Event_ID=ids[-2]) as stream:
            self.assertEqual(json.loads(next(stream.frames())[2])["sessionId"], "c")
        page = self.daemon.get("/v1/events?limit=2").json
        self.assertEqual(len(page["data"]), 2)
        rest = self.daemon.get(f"/v1/events?cursor={page['nextCursor']}").json["data"]
        self.assertEqual(rest[-1]["sessionId"], "c")
        self.assertRefused(self.daemon.get("/v1/events?cursor=garbage"), 400, "invalid_params")

    def test_the_first_status_comes_before_a_slow_model_answers(self):
        reply = self.daemon.submit(sessionId="s", options={"model": "slow"})
        events = self.daemon.wait_event("s", lambda e: e["type"] == "run.status", seconds=3)
        self.assertEqual(events[-1]["turnId"], reply["turnId"])


if __name__ == "__main__":
    unittest.main()
