"""Changes to the store behind the program's back: copied, deleted, truncated, damaged."""

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import unittest

from harness import BINARY, Case, wait_until

SLOW = [{"text": "At last.", "delayMs": 2500, "deltas": 2}]


class StoreCase(Case):
    judged = False

    @property
    def database(self):
        return self.home.data / "agentrt.db"

    def sql(self, text, *values):
        with contextlib.closing(sqlite3.connect(self.database, timeout=5)) as connection:
            with connection:
                return connection.execute(text, values).fetchall()

    def generation(self):
        return self.daemon.get("/v1/events").json["generation"]

    def restart(self):
        self.daemon.stop()
        return self.start()

    def failed_start(self):
        return subprocess.run([BINARY, "serve", "--listen", "127.0.0.1:0"], timeout=15,
                              cwd=self.home.workspace, env=self.home.environment,
                              capture_output=True, text=True)


class Keys(Case):
    scripts = {"main": SLOW}

    def keyed(self, command, **params):
        return self.daemon.ok(command, sessionId="s", idempotencyKey=f"k {command}", **params)

    def test_a_keyed_command_that_changed_nothing_is_answered_alike_for_good(self):
        self.daemon.ok("create_session", sessionId="s")
        done = self.daemon.submit("one", sessionId="s", threadId="t")
        self.daemon.wait_turn(done)
        commands = {
            "interrupt_turn": {},
            "resume_thread": {"threadId": "t"},
            "set_policy": {"allow": []},
        }
        first = {name: self.keyed(name, **params) for name, params in commands.items()}
        self.assertFalse(first["interrupt_turn"]["interrupted"])
        self.assertFalse(first["resume_thread"]["resumed"])
        running = self.daemon.submit("two", sessionId="s", threadId="t")
        waiting = self.daemon.submit("three", sessionId="s", threadId="t")
        promote = {"threadId": "t", "queuedTurnId": waiting["turnId"]}
        first["promote_queued_turn"] = self.keyed("promote_queued_turn", **promote)
        commands["promote_queued_turn"] = promote
        for name, params in commands.items():
            self.assertEqual(self.keyed(name, **params), first[name], name)
        events = self.daemon.wait_turn(running)
        self.assertEqual(events[-1]["type"], "turn.completed", "the repeat interrupted the turn")
        self.daemon.kill()
        self.start()
        for name, params in commands.items():
            self.assertEqual(self.keyed(name, **params), first[name], name)


class Blocked(StoreCase):
    scripts = {"main": SLOW}

    def test_facts_that_can_never_be_stored_block_their_session_once(self):
        self.daemon.ok("create_session", sessionId="other")
        self.daemon.submit("hello", sessionId="s", threadId="t")
        wait_until(lambda: any(e["type"] == "model.requested" for e in self.daemon.events("s")))
        # The turn's next report changes an index row that now belongs to another session.
        self.sql("UPDATE object SET session = 1 WHERE kind IN ('turn', 'session') AND "
                 "session = (SELECT key FROM session WHERE id = 's')")

        def blocked():
            reply = self.daemon.call("update_session", sessionId="s", title="x")
            return reply if reply.status == 500 else None
        refused = wait_until(blocked, what="the session to be blocked").json["error"]
        self.assertIn("session s is blocked", refused["message"])
        self.assertTrue(refused["details"]["blocked"])
        stored = len(self.daemon.events("s"))
        for _ in range(3):
            self.assertEqual(self.daemon.ok("get_session", sessionId="s")["asOfSequence"], stored)
            self.assertEqual(self.daemon.ok("get_thread_read", sessionId="s",
                                            threadId="t")["asOfSequence"], stored)
        failures = self.daemon.metrics_value("commit_failures")
        self.assertEqual(self.daemon.call("submit_turn", sessionId="s", input=[
            {"type": "text", "text": "again"}]).status, 500)
        self.daemon.ok("update_session", sessionId="other", title="works")
        self.assertEqual(self.daemon.metrics_value("sessions_blocked"), 1)
        self.assertEqual(self.daemon.metrics_value("commit_failures"), failures)
        self.assertEqual(self.daemon.stderr().count("session s is blocked"), 1)


class Generations(StoreCase):
    def fill(self, count):
        for i in range(count):
            self.daemon.ok("update_session", sessionId="s", title=f"{i}")

    def test_a_database_that_was_copied_and_put_back_starts_a_new_generation(self):
        self.daemon.ok("create_session", sessionId="s")
        first = self.generation()
        self.restart()
        self.assertEqual(self.generation(), first, "a restart kept it")
        self.fill(3)
        self.daemon.kill()
        self.start()
        self.assertEqual(self.generation(), first, "a kill kept it")
        self.daemon.stop()
        shutil.copy(self.database, self.home.folder / "copy.db")
        self.start()
        self.fill(20)
        cursor = self.daemon.get("/v1/events?limit=1000").json["cursor"]
        self.daemon.stop()
        shutil.copy(self.home.folder / "copy.db", self.database)
        self.start()
        self.assertNotEqual(self.generation(), first)
        self.assertRefused(self.daemon.get(f"/v1/events?cursor={cursor}"), 410, "gone")
        self.assertRefused(self.daemon.call("list_events", sessionId="s", generation=first), 410,
                           "gone")

    def test_so_does_a_whole_folder(self):
        self.daemon.ok("create_session", sessionId="s")
        first = self.generation()
        self.daemon.stop()
        shutil.copytree(self.home.data, self.home.folder / "backup")
        self.start()
        self.fill(5)
        self.daemon.stop()
        shutil.copytree(self.home.folder / "backup", self.home.data, dirs_exist_ok=True)
        self.start()
        second = self.generation()
        self.assertNotEqual(second, first)
        self.daemon.stop()
        shutil.rmtree(self.home.data)
        shutil.copytree(self.home.folder / "backup", self.home.data)
        self.start()
        self.assertNotIn(self.generation(), (first, second))


class Gone(StoreCase):
    def check_stops(self, remove, name):
        self.daemon.ok("create_session", sessionId="s")
        self.assertEqual(self.daemon.get("/readyz", token=None).status, 200)
        remove()
        reply = self.daemon.call("update_session", sessionId="s", title="lost")
        self.assertRefused(reply, 503, "unavailable")
        self.assertIn(name, reply.json["error"]["message"])
        unready = wait_until(lambda: (r := self.daemon.get("/readyz", token=None)).status != 200
                             and r, seconds=5, what="/readyz to fail")
        self.assertRefused(unready, 503, "unavailable")
        self.assertEqual(self.daemon.process.wait(10), 4)
        self.assertIn("was deleted, moved or replaced", self.daemon.stderr())

    def test_a_deleted_data_folder_stops_the_daemon(self):
        self.check_stops(lambda: shutil.rmtree(self.home.data), "agentrt.db")

    def test_a_deleted_database_stops_the_daemon(self):
        self.check_stops(lambda: os.remove(self.database), "agentrt.db")

    def test_a_deleted_log_stops_the_daemon(self):
        self.check_stops(lambda: os.remove(f"{self.database}-wal"), "agentrt.db-wal")

    def test_a_folder_that_went_away_is_noticed_without_a_command(self):
        os.rename(self.home.data, self.home.folder / "moved")
        self.assertEqual(self.daemon.process.wait(10), 4)
        self.assertIn("The data folder", self.daemon.stderr())


class Unusable(StoreCase):
    def check_refused(self, *words):
        done = self.failed_start()
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr

    def test_files_that_are_no_whole_store_are_told_apart(self):
        self.daemon.ok("create_session", sessionId="s")
        for i in range(50):
            self.daemon.ok("update_session", sessionId="s", title="t" * 500 + str(i))
        self.daemon.stop()
        whole = self.database.read_bytes()
        for size in (len(whole) // 2, 4096, 50, 0):
            with self.subTest(size=size):
                self.database.write_bytes(whole[:size])
                text = self.check_refused("is truncated", "backup")
                self.assertNotIn("not an agentrt store", text)
                self.assertEqual(self.database.stat().st_size, size)
        self.database.write_bytes(whole[:100] + b"\xff" * 1000 + whole[1100:])
        self.check_refused("is damaged", "backup")
        self.database.write_bytes(b"a shopping list " * 100)
        self.check_refused("is not an agentrt store")


class DamagedEvents(StoreCase):
    def test_the_stream_over_all_sessions_goes_on_past_a_damaged_row(self):
        for session in ("a", "b"):
            self.daemon.ok("create_session", sessionId=session)
            for i in range(3):
                self.daemon.ok("update_session", sessionId=session, title=f"{i}")
        self.daemon.stop()
        self.sql("UPDATE event SET hash = zeroblob(32) WHERE sequence = 2 AND session = "
                 "(SELECT key FROM session WHERE id = 'a')")
        self.start()
        page = self.daemon.get("/v1/events?limit=1000").json
        kinds = [(e["sessionId"], e["sequence"], e["type"]) for e in page["data"]]
        self.assertEqual([k[:2] for k in kinds],
                         [(s, n) for s in ("a", "b") for n in range(1, 5)])
        damaged = [k for k in kinds if k[2] == "stream.damaged"]
        # The row with the wrong hash, and the next one, whose chain depends on it.
        self.assertEqual(damaged, [("a", 2, "stream.damaged"), ("a", 3, "stream.damaged")])
        entry = page["data"][1]
        self.assertEqual(entry["eventId"], "evt_a_2")
        self.assertIn("damaged", entry["payload"]["reason"])
        with self.daemon.stream() as stream:
            frames = []
            for frame in stream.frames():
                frames.append(frame)
                if len(frames) == len(kinds):
                    break
        self.assertEqual([kind for _, kind, _ in frames], [k[2] for k in kinds])
        resumed = self.daemon.get(f"/v1/events?cursor={frames[1][0]}&limit=1000").json
        self.assertEqual(len(resumed["data"]), len(kinds) - 2)
        self.assertGreaterEqual(self.daemon.metrics_value("events_damaged"), 2)
        reply = self.daemon.get("/v1/sessions/a/events")
        self.assertRefused(reply, 500, "internal")
        self.assertEqual(self.daemon.get("/v1/sessions/b/events").status, 200)


if __name__ == "__main__":
    unittest.main()
