"""A scripted run against a daemon whose disk loses power at the n-th sync, for every n.

After each crash, the ordinary binary opens the store, and these are checked: everything
acknowledged is there once; repeats get the same replies; commands without a reply take effect once
when repeated; sequences have no gaps; everything a subscriber saw is in the log; read models, index
rows and snapshots match the log; a new turn runs to its end.

usage: crash_points.py [--seed S] [--damage KIND] [--from N] [--to N] [--stride K]
"""

import argparse
import concurrent.futures
import os
import random
import sys
import time

import clients
import harness
import history
import log_model
import views
from stream_checker import StreamChecker

DAMAGES = ("drop", "tear", "reorder", "late")
SYNCS_MAX = 1_000  # more than the script makes, so it must end without a crash before
SCRIPTS = {"main": [{"text": "word " * 20, "deltas": 4}],
           "slow": [{"delayMs": 30_000, "text": "never"}]}
LARGE = "y" * 700_000  # three of these fill the write-ahead log, so that it is checkpointed


def early(client):
    """Sessions, turns, changes of a queue, an interrupt, and reads in between."""
    client.call("create_session", sessionId="s", title="made s", idempotencyKey="c1")
    client.follow("s")
    client.call("create_session", title="made by key", idempotencyKey="c2")
    client.submit("first", sessionId="s", threadId="t", turnId="u1")
    client.call("get_session", sessionId="s")
    client.submit("slow", sessionId="s", threadId="q", turnId="q0", options={"model": "slow"})
    for number in range(1, 5):
        client.submit(f"queued {number}", sessionId="s", threadId="q", turnId=f"q{number}")
    client.call("promote_queued_turn", sessionId="s", threadId="q", queuedTurnId="q4",
                idempotencyKey="p4")
    client.call("remove_queued_turn", sessionId="s", threadId="q", queuedTurnId="q2",
                idempotencyKey="r2")
    client.call("update_session", sessionId="s", title="second title", idempotencyKey="t2")
    client.call("get_thread_read", sessionId="s", threadId="q")
    client.call("interrupt_turn", sessionId="s", threadId="q", turnId="q0", idempotencyKey="i0")


def late(client):
    """A session created by its first turn, a log long enough for a snapshot, a checkpoint."""
    client.submit("no session", threadId="t")
    for batch in range(11):
        client.batch("s", batch)
    client.submit("after the snapshot", sessionId="s", threadId="t", turnId="u2")
    for number in range(3):
        client.call("update_session", sessionId="s", title=f"large {number}",
                    metadata={"text": LARGE}, idempotencyKey=f"large {number}")
    for number in range(3):
        client.call("update_session", sessionId="s", title=f"small {number}",
                    metadata={"text": ""}, idempotencyKey=f"small {number}")
    client.submit("last", sessionId="s", threadId="t", turnId="u3")
    client.call("get_session", sessionId="s")
    client.quiet()


class ScriptClient(clients.Client):
    def __init__(self, history_, daemon):
        super().__init__("script", history_, daemon)
        self.follower = None

    def follow(self, session):
        try:
            self.follower = clients.Follower(self.history, self.daemon, session)
        except clients.LOST:
            raise clients.Gone from None
        self.follower.start()

    def batch(self, session, number):
        """A hundred updates in one request; they are answered together or not at all."""
        calls = [{"jsonrpc": "2.0", "id": n, "method": "update_session",
                  "params": {"sessionId": session, "title": f"batch {number} {n}",
                             "idempotencyKey": f"b{number}_{n}"}} for n in range(100)]
        ops = [self.history.invoke(self.name, call["method"], call["params"]) for call in calls]
        try:
            replies = self.daemon.request("POST", "/v1/rpc", calls).json
        except clients.LOST:
            for op, call in zip(ops, calls):
                self.history.add("unknown", op=op)
                self.unknown.append((call["method"], call["params"]))
            raise clients.Gone from None
        for op, reply in zip(ops, sorted(replies, key=lambda reply: reply["id"])):
            if "error" in reply:  # a read that races the simulated power cut may fail
                self.refused(op, reply["error"]["data"]["code"])
            else:
                self.history.add("ok", op=op, reply=reply["result"])

    def quiet(self):
        """Waits until nothing runs, so that the daemon can be stopped with its work done."""
        try:
            clients.wait_settled(self.daemon, 10)
        except clients.LOST:
            raise clients.Gone from None


class Point:
    """One crash: the run up to it, and the checks afterwards."""

    def __init__(self, sync, damage, seed, thorough=False, lying=False):
        self.sync, self.damage, self.seed = sync, damage, seed
        self.thorough, self.lying = thorough, lying
        self.random = random.Random(f"{seed} {sync} {damage}")
        self.history = history.History()

    def run(self):
        """True: the run crashed. False: it ended before. Raises on a violation."""
        home = harness.Home(SCRIPTS)
        try:
            crashed, client = self.crash(home)
            self.judge(home, client)
        except Exception as problem:
            again = clients.repeat_command(
                "crash_points.py", "--seed", self.seed, "--damage", self.damage,
                "--from", self.sync, "--to", self.sync)
            raise AssertionError(
                f"sync {self.sync}, {self.damage}: {problem}\n{again}") from problem
        finally:
            home.remove()
        return crashed

    def crash(self, home):
        seed = self.random.randrange(1 << 30)
        daemon = clients.CrashingDaemon(home, self.sync, self.damage, seed, self.lying)
        client = ScriptClient(self.history, daemon)
        if daemon.listening:
            try:
                early(client)
                late(client)
            except clients.Gone:
                pass
        crashed = daemon.end()
        if client.follower:
            client.follower.join(harness.WAIT_SECONDS)
            assert client.follower.failure is None, client.follower.failure
        daemon.errors.close()
        if crashed and self.random.random() < 0.3:
            self.crash_again(home)
        return crashed, client

    def crash_again(self, home):
        """Power fails once more while the store is opened and the sessions are recovered."""
        daemon = clients.CrashingDaemon(home, self.random.randint(1, 4),
                                        self.random.choice(DAMAGES),
                                        self.random.randrange(1 << 30))
        if daemon.listening:
            time.sleep(0.01)
        daemon.end()
        daemon.errors.close()

    def judge(self, home, client):
        daemon = harness.Daemon(home)
        try:
            before, _, _ = views.at_rest(daemon)
            self.fail_on(history.judge(self.history.entries, before, complete=False))
            self.repeat(daemon, client)
            self.goes_on(daemon)
            logs, models, _ = views.at_rest(daemon)
            self.fail_on(history.judge(self.history.entries, logs))
            for events in logs.values():
                StreamChecker().feed_all(events)
            if self.thorough:
                harness.judge(home, daemon)
        finally:
            daemon.kill()
            daemon.errors.close()
        log_model.check_store(home.data / "agentrt.db", models)
        if self.thorough:
            views.check_replay(home)

    def fail_on(self, violations):
        if violations:
            raise AssertionError("\n".join(f"{v.name}: {v.text}" for v in violations[:5]))

    def repeat(self, daemon, client):
        """Repeats a sample of the acknowledged commands and all commands without a reply."""
        acknowledged = [entry for entry in self.history.entries if entry["event"] == "ok"]
        invoked = {entry["op"]: entry for entry in self.history.entries
                   if entry["event"] == "invoke"}
        again = clients.Client("again", self.history, daemon)
        picked = [invoked[entry["op"]] for entry in acknowledged]
        picked = [entry for entry in picked if entry["command"] not in history.READS]
        picked = self.random.sample(picked, min(12, len(picked)))
        again.unknown = client.unknown[::-1]
        again.repeat_unknown()
        for entry in picked:
            again.call(entry["command"], **entry["params"])

    def goes_on(self, daemon):
        reply = daemon.submit("life continues", sessionId="after", threadId="t")
        end = daemon.wait_turn(reply)[-1]
        assert end["type"] == "turn.completed", end


def every_sync(damage, seed, first=1, last=SYNCS_MAX, stride=1, thorough=False, jobs=None):
    """Crashes at `first`, `first + stride`, ... until a run ends without one. Returns the number of
    crashes."""
    crashes = 0
    jobs = jobs or os.cpu_count() or 1
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        sync = first
        while sync <= last:
            wave = range(sync, min(last + 1, sync + stride * jobs), stride)
            points = [Point(n, damage, seed, thorough or n % 8 == 0) for n in wave]
            outcomes = list(pool.map(Point.run, points))
            crashes += sum(outcomes)
            if not all(outcomes):
                return crashes
            sync = wave[-1] + stride
    assert last < SYNCS_MAX, f"{SYNCS_MAX} syncs and the script still crashes"
    return crashes


def sweep(seed, damages=DAMAGES, **how):
    started = time.monotonic()
    counts = {damage: every_sync(damage, seed, **how) for damage in damages}
    print(f"crash points: {sum(counts.values())} crashes "
          f"({', '.join(f'{count} {damage}' for damage, count in counts.items())}), seed {seed}, "
          f"0 violations, {time.monotonic() - started:.0f} s", flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--damage", choices=DAMAGES)
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--to", dest="last", type=int, default=SYNCS_MAX)
    parser.add_argument("--stride", type=int, default=1)
    options = parser.parse_args()
    sweep(options.seed, (options.damage,) if options.damage else DAMAGES, first=options.first,
          last=options.last, stride=options.stride, thorough=True)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    main()
