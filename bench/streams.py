"""Deliveries of server-sent events, compared with a bare Beast server.

First the bytes of a single subscriber and their times are recorded. The bare server (bare_fanout)
then plays that recording to the same number of subscribers: the same bytes, to the same client
program, at the same times. It stores and decides nothing, so it is the minimum that a Beast server
must do. With few subscribers, both deliver as fast as facts are created; with many, writing
dominates.
"""

import itertools
import json
import statistics
import subprocess

SUBSCRIBERS = {1: 7, 100: 5, 1_000: 1}  # number of subscribers: repetitions per round
EVENTS = 900  # per session; at 1,000 facts a snapshot would add another one
BATCH = 100
RATIO_GOAL = 0.7  # of the bare fan-out
TIMEOUT_SECONDS = 60


def clients(here, port, token, session, count, *more):
    process = subprocess.Popen(
        here.program("sse_clients", "--port", port, "--token", token, "--session", session,
                     "--after", 1, "--connections", count, "--events", EVENTS, *more),
        stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def result_of(process):
    out, _ = process.communicate(timeout=TIMEOUT_SECONDS)
    return json.loads(out)


def ours(here, daemon, session, count, *more):
    daemon.disconnect()
    daemon.ok("create_session", sessionId=session)
    before = daemon.metrics_value("events_delivered")
    process = clients(here, daemon.port, daemon.token, session, count, *more)
    for first in range(0, EVENTS, BATCH):
        calls = [{"jsonrpc": "2.0", "id": n, "method": "update_session",
                  "params": {"sessionId": session, "title": f"title {n}"}}
                 for n in range(first, first + BATCH)]
        reply = daemon.request("POST", "/v1/rpc", calls)
        assert reply.status == 200, reply
    result = result_of(process)
    counted = daemon.metrics_value("events_delivered") - before
    assert counted == count * EVENTS, f"the daemon counted {counted} deliveries"
    return result


def bare(here, recording, count):
    server = subprocess.Popen(here.program("bare_fanout", "--replay", recording, "--subscribers",
                                           count), stdout=subprocess.PIPE, text=True)
    try:
        port = int(server.stdout.readline().split()[1])
        return result_of(clients(here, port, "none", "s", count))
    finally:
        server.kill()
        server.communicate()


def measure(here, table):
    home = here.home("streams")
    daemon = here.harness.Daemon(home)
    recording = here.folder / "recording"
    names = (f"s{n}" for n in itertools.count())

    def one_run(count):
        ours(here, daemon, next(names), 1, "--record", recording)
        mine = ours(here, daemon, next(names), count)
        return mine["per_second"], bare(here, recording, count)["per_second"]

    def one_round(count, repeats):
        runs = [one_run(count) for _ in range(repeats)]
        return tuple(statistics.median(column) for column in zip(*runs))

    for count, repeats in SUBSCRIBERS.items():
        seen = here.rounds(5, lambda: one_round(count, repeats))
        table.add(f"deliveries_{count}",
                  f"deliveries, {count:,} subscriber" + ("" if count == 1 else "s"),
                  [mine for mine, _ in seen], "/s", limits=[limit for _, limit in seen],
                  which="bare Beast fan-out", strict=True, ratio_goal=RATIO_GOAL)
    daemon.stop()
    home.remove()
