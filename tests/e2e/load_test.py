"""Many concurrent clients: one effect per key; and a subscriber that does not read."""

import concurrent.futures
import json
import threading
import unittest

from harness import Case, wait_until
from stream_checker import StreamChecker

PARALLEL = 100


class ParallelRepeats(Case):
    def test_a_hundred_parallel_submits_with_one_key_have_one_effect(self):
        barrier = threading.Barrier(PARALLEL)

        def submit(_):
            barrier.wait()
            reply = self.daemon.call("submit_turn", sessionId="s", idempotencyKey="once",
                                     input=[{"type": "text", "text": "x"}])
            self.daemon.disconnect()
            return reply.status, reply.data

        with concurrent.futures.ThreadPoolExecutor(PARALLEL) as pool:
            replies = set(pool.map(submit, range(PARALLEL)))
        self.assertEqual(len(replies), 1, replies)
        status, data = replies.pop()
        self.assertEqual(status, 200)
        self.daemon.wait_turn(json.loads(data))
        events = self.check_session("s")
        self.assertEqual(len([e for e in events if e["type"] == "turn.submitted"]), 1)

    def test_parallel_submits_without_a_session_and_one_key_make_one_session(self):
        def submit(_):
            reply = self.daemon.call("submit_turn", idempotencyKey="k",
                                     input=[{"type": "text", "text": "x"}])
            self.daemon.disconnect()
            return reply.data

        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            self.assertEqual(len(set(pool.map(submit, range(32)))), 1)
        self.assertEqual(len(self.daemon.ok("list_sessions")["data"]), 1)


class Clients(Case):
    def test_clients_side_by_side_keep_every_stream_whole(self):
        def client(number):
            for turn in range(5):
                self.daemon.submit("hello", sessionId=f"s{number % 4}", threadId=f"t{number}",
                                   turnId=f"u{number}_{turn}")
            self.daemon.disconnect()

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(client, range(16)))
        for session in range(4):
            def done(name=f"s{session}"):
                kinds = [e["type"] for e in self.daemon.events(name)]
                return kinds.count("turn.completed") == 20
            wait_until(done, what=f"the turns of s{session}")
            self.check_session(f"s{session}")


class SlowReader(Case):
    """A live subscriber may fall 10,000 events behind; then it gets the position to resume from."""

    BEHIND_MAX = 10_000
    UPDATES = 13_000

    def update(self, first):
        calls = [{"jsonrpc": "2.0", "id": n, "method": "update_session",
                  "params": {"sessionId": "s", "title": f"title {n}", "metadata": {"f": "y" * 300}}}
                 for n in range(first, first + 100)]
        reply = self.daemon.request("POST", "/v1/rpc", calls)
        assert reply.status == 200 and all("result" in r for r in reply.json), reply

    def test_a_reader_that_does_not_read_is_told_where_to_resume_and_delays_nobody(self):
        self.daemon.ok("create_session", sessionId="s")
        before = self.daemon.memory_kb()
        with self.daemon.stream("s", after=0, seconds=90, receive_buffer=4096) as lazy, \
                self.daemon.stream("s", after=0, seconds=90) as eager:
            seen = []

            def read():
                for event in eager.events():
                    seen.append(event)
                    if event["sequence"] == self.UPDATES + 1:
                        return

            reader = threading.Thread(target=read)
            reader.start()
            for first in range(0, self.UPDATES, 100):
                self.update(first)
            reader.join(60)
            self.assertEqual(len(seen), self.UPDATES + 1)
            StreamChecker().feed_all(seen)
            wait_until(lambda: self.daemon.metrics_value("subscribers_overflowed") >= 1,
                       what="the overflow")
            self.assert_memory(64_000, before)
            got = list(lazy.frames())
        self.assertEqual(got[-1][1], "stream.overflow")
        resume = json.loads(got[-1][2])["resumeAfter"]
        self.assertEqual(resume, int(got[-2][0]))
        self.assertLess(resume, self.UPDATES - self.BEHIND_MAX + 100)
        with self.daemon.stream("s", after=resume) as again:
            self.assertEqual(next(again.events())["sequence"], resume + 1)


if __name__ == "__main__":
    unittest.main()
