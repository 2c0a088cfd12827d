"""kill -9 under concurrent clients, checked against the clients' records.

An episode uses one store: clients write, read and follow streams while the daemon is killed,
stopped and continued, and restarted on the same folder. Commands without a reply are repeated after
the restart. At the end everything settles; then the whole history is checked against the logs
(history.py), the logs against the views and the rows on disk (log_model.py), and the views against
those of a complete replay.

usage: kill_loop.py [--seed S] [--kills N] [--history FILE]
"""

import argparse
import contextlib
import json
import random
import signal
import threading
import time

import clients
import harness
import history
import log_model
import views
from stream_checker import StreamChecker

CLIENTS = 6
FOLLOWERS = 3
SESSIONS = 3
SETTLE_SECONDS = 150  # on a fast disk clients queue up many turns, which must finish
SCHEMA_EVENTS = 100  # the newest of each session; checking all against the schema takes too long
SCRIPTS = {"main": [{"text": "word " * 30, "deltas": 30}],
           "slow": [{"delayMs": 15, "text": "slow " * 10, "deltas": 10}],
           "held": [{"delayMs": 400, "text": "held"}],
           "broken": [{"fail": {"status": 503, "retryAfterMs": 5}}, {"text": "at last"}]}


class Door:
    """The current daemon. Clients wait here while there is none."""

    def __init__(self):
        self._condition = threading.Condition()
        self._daemon = None
        self.closed = False

    def open(self, daemon):
        with self._condition:
            self._daemon = daemon
            self._condition.notify_all()

    def shut(self):
        with self._condition:
            self._daemon = None

    def close(self):
        with self._condition:
            self.closed = True
            self._condition.notify_all()

    def daemon(self):
        with self._condition:
            self._condition.wait_for(lambda: self._daemon or self.closed,
                                     timeout=harness.WAIT_SECONDS)
            return self._daemon


class Worker(threading.Thread):
    """A client with its own session, two threads and random behaviour."""

    def __init__(self, episode, number):
        super().__init__(daemon=True)
        self.episode, self.number = episode, number
        self.random = random.Random(f"{episode.seed} client {number}")
        self.client = clients.Client(f"c{number}", episode.history, None)
        self.session = f"s{number % SESSIONS}"
        self.count = 0
        self.failure = None

    def run(self):
        try:
            while not self.episode.door.closed:
                self.client.daemon = self.episode.door.daemon()
                if self.client.daemon is None:
                    continue
                with contextlib.suppress(clients.Gone):
                    self.client.repeat_unknown()
                    while not self.episode.door.closed:
                        self.step()
                self.client.daemon.disconnect()
        except Exception as problem:  # report a thread's failure to the main thread
            self.failure = problem

    def marker(self, word):
        self.count += 1
        return f"{word} {self.number} {self.count}"

    def step(self):
        action = self.random.choices(
            (self.submit, self.submit_by_key, self.update, self.create, self.steer, self.read),
            weights=(6, 2, 4, 1, 2, 6))[0]
        action()

    def submit(self):
        marker = self.marker("turn")
        model = self.random.choice(("main", "main", "slow", "broken"))
        self.client.submit(marker, sessionId=self.session, threadId=f"t{self.number}",
                           turnId="u_" + marker.replace(" ", "_"), options={"model": model})

    def submit_by_key(self):
        self.client.submit(self.marker("keyed"), sessionId=self.session,
                           threadId=f"t{self.number}")

    def update(self):
        marker = self.marker("title")
        self.client.call("update_session", sessionId=self.session, title=marker,
                         idempotencyKey=marker)

    def create(self):
        if self.count > 400:  # enough sessions to read again at every restart
            return
        marker = self.marker("session")
        self.client.call("create_session", title=marker, idempotencyKey=marker)

    def read(self):
        if self.random.random() < 0.3:
            self.client.call("get_thread_read", sessionId=self.session,
                             threadId=f"t{self.number}")
        else:
            self.client.call("get_session", sessionId=self.session, limit=1)

    def steer(self):
        """A turn that occupies its thread, some queued behind it, and changes to their queue."""
        thread, made = f"q{self.number}", []
        for model in ("held", "main", "main", "main"):
            marker = self.marker("queued")
            turn = "u_" + marker.replace(" ", "_")
            self.client.submit(marker, sessionId=self.session, threadId=thread, turnId=turn,
                               options={"model": model})
            made.append(turn)
        where = {"sessionId": self.session, "threadId": thread}
        self.client.call("promote_queued_turn", queuedTurnId=made[3],
                         idempotencyKey=self.marker("promote"), **where)
        self.client.call("remove_queued_turn", queuedTurnId=made[1],
                         idempotencyKey=self.marker("remove"), **where)
        self.client.call("interrupt_turn", turnId=made[0],
                         idempotencyKey=self.marker("interrupt"), **where)


class Watcher(threading.Thread):
    """Follows one session across all restarts, from where it stopped or from earlier."""

    def __init__(self, episode, number):
        super().__init__(daemon=True)
        self.episode = episode
        self.session = f"s{number % SESSIONS}"
        self.random = random.Random(f"{episode.seed} watcher {number}")
        self.last = 0
        self.failure = None

    def run(self):
        while not self.episode.door.closed and self.failure is None:
            daemon = self.episode.door.daemon()
            if daemon is None:
                continue
            after = self.last if self.random.random() < 0.7 else self.random.randint(0, self.last)
            try:
                follower = clients.Follower(self.episode.history, daemon, self.session, after)
            except clients.LOST:
                time.sleep(0.01)
                continue
            if follower.stream.status != 200:  # the session does not exist yet
                follower.stream.__exit__()
                time.sleep(0.02)
                continue
            follower.run()
            self.failure = follower.failure
            self.last = max(self.last, follower.last)


class Episode:
    def __init__(self, seed, kills, history_path=None):
        self.seed, self.kills = seed, kills
        self.random = random.Random(f"{seed} chaos")
        self.history = history.History(history_path)
        self.door = Door()
        self.resume = self.random.choice(("auto", "ask"))
        self.counts = {"kill": 0, "pause": 0, "pause_kill": 0, "stop": 0}

    def run(self):
        home = harness.Home(SCRIPTS, f'[runtime]\nresume = "{self.resume}"\n')
        try:
            self.torture(home)
        except Exception as problem:
            again = clients.repeat_command("kill_loop.py", "--seed", self.seed,
                                           "--kills", self.kills)
            raise AssertionError(f"{problem}\n{again}") from problem
        finally:
            self.door.close()
            home.remove()
            self.history.close()
        return self.summary()

    def torture(self, home):
        daemon = harness.Daemon(home)
        self.door.open(daemon)
        threads = [Worker(self, number) for number in range(CLIENTS)] + [
            Watcher(self, number) for number in range(FOLLOWERS)]
        for thread in threads:
            thread.start()
        deaths = 0
        while deaths < self.kills:
            time.sleep(self.random.uniform(0.01, 0.3))
            if self.hurt(daemon):
                deaths += 1
                daemon = self.start_again(home)
        time.sleep(0.1)
        self.door.close()
        for thread in threads[:CLIENTS]:
            thread.join(harness.WAIT_SECONDS)
        self.finish(home, daemon, threads)

    def hurt(self, daemon):
        """Harms the daemon. True: it is dead afterwards."""
        what = self.random.choices(tuple(self.counts), weights=(12, 4, 3, 1))[0]
        self.counts[what] += 1
        self.history.add("note", text=what)
        if what.startswith("pause"):
            daemon.process.send_signal(signal.SIGSTOP)
            time.sleep(self.random.uniform(0.02, 0.3))
        if what == "pause":
            daemon.process.send_signal(signal.SIGCONT)
            return False
        self.door.shut()
        if what == "stop":
            code = daemon.stop()
            assert code == 0, f"serve ended with {code}: {daemon.stderr()}"
        else:
            daemon.kill()
        daemon.errors.close()
        return True

    def start_again(self, home):
        daemon = harness.Daemon(home)
        logs = clients.logs_of(daemon)
        for session, events in logs.items():
            self.history.add("log", session=session, length=len(events),
                             digest=history.log_digest(events))
        self.fail_on(history.judge(list(self.history.entries), logs, complete=False))
        self.door.open(daemon)
        return daemon

    def finish(self, home, daemon, threads):
        """Answers open questions, lets every turn end, and checks everything."""
        for thread in threads:
            if thread.failure is not None:
                raise AssertionError(f"{type(thread).__name__}: {thread.failure!r}")
        for worker in threads[:CLIENTS]:
            assert not worker.is_alive(), "a client hangs"
            worker.client.daemon = daemon
            worker.client.repeat_unknown()
        self.settle(daemon)
        logs, models, _ = views.at_rest(daemon)
        self.fail_on(history.judge(self.history.entries, logs))
        harness.judge(home, daemon)
        schema = json.loads(home.run("schema", "events").stdout)
        for events in logs.values():
            self.check_starts(events)
            StreamChecker().feed_all(events)
            StreamChecker(schema).feed_all(events[-SCHEMA_EVENTS:])
        daemon.kill()
        daemon.errors.close()
        log_model.check_store(home.data / "agentrt.db", models)
        views.check_replay(home)
        self.events = sum(views.lengths(logs).values())

    @staticmethod
    def check_starts(events):
        """Turns of a thread whose queue was not changed start in the order of submission."""
        for thread in {event["threadId"] for event in events if "threadId" in event}:
            if not thread.startswith("t"):
                continue
            mine = [event for event in events if event.get("threadId") == thread]
            submitted = [e["turnId"] for e in mine if e["type"] == "turn.submitted"]
            started = [e["turnId"] for e in mine if e["type"] == "turn.started"]
            log_model.same(started, submitted, f"the order in which turns of {thread} started")

    def settle(self, daemon):
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline:
            logs = clients.logs_of(daemon)
            moving = [name for name, events in logs.items() if not clients.settled(events)]
            if not moving:
                return
            for session in moving if self.resume == "ask" else []:
                for thread in daemon.ok("get_session", sessionId=session, limit=1)["threads"]:
                    daemon.ok("resume_thread", sessionId=session, threadId=thread["threadId"])
            time.sleep(0.1)
        raise AssertionError(f"turns of {moving} did not end in {SETTLE_SECONDS} s")

    @staticmethod
    def fail_on(violations):
        if violations:
            raise AssertionError("\n".join(f"{v.name}: {v.text}" for v in violations[:5]))

    def summary(self):
        kinds = [entry["event"] for entry in self.history.entries]
        return {"operations": kinds.count("invoke"), "acknowledged": kinds.count("ok"),
                "unknown": kinds.count("unknown"), "seen": kinds.count("seen"),
                "events": self.events, **self.counts}


def describe(seed, totals, seconds):
    return (f"kill loop: {totals['kill'] + totals['pause_kill']} kills, {totals['stop']} stops, "
            f"{totals['pause']} pauses; {totals['operations']:,} operations "
            f"({totals['acknowledged']:,} acknowledged, {totals['unknown']:,} unknown), "
            f"{totals['events']:,} events in the logs, {totals['seen']:,} seen live; seed {seed}, "
            f"0 violations, {seconds:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--history", help="keep what the clients wrote down in this file")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    started = time.monotonic()
    totals = Episode(options.seed, options.kills, options.history).run()
    print(describe(options.seed, totals, time.monotonic() - started))


if __name__ == "__main__":
    main()
