"""Whole turns with a model that answers immediately, which leaves our own overhead.

A turn waits for three consecutive syncs, so three raw syncs are the minimum. A turn with a tool
call also runs a command in the sandbox; the command's own time is subtracted.
"""

import os
import statistics
import time

import setting

SYNCS_A_TURN = 3
THREADS = (1, 8, 32)
RATE_GOAL_THREADS, RATE_GOAL = 32, 1_000
TOOL_TURN_GOAL_MS = 8.0
COMMAND = "true"


def latency_round(here, daemon, prefix):
    result = here.load("turn_load", daemon, "--turns", 150, "--warmup", 20, "--prefix", prefix)
    return {**result, "sync_ms": 1e3 / here.raw_sync()}


def measure(here, table):
    home = here.home("turns")
    daemon = here.harness.Daemon(home)
    numbers = iter(range(1_000))

    def one_round():
        prefix = f"turn{next(numbers)}"
        setting.make_sessions(daemon, prefix, 170)
        daemon.disconnect()
        return latency_round(here, daemon, prefix)

    seen = here.rounds(5, one_round)
    table.add("turn_p50", "plain turn, submit to turn.completed, p50",
              [r["turn_p50_us"] / 1e3 for r in seen], "ms", better="less", goal=3.0,
              limits=[SYNCS_A_TURN * r["sync_ms"] for r in seen], which="three raw fdatasync")
    for id_, name, key in (("turn_p99", "plain turn, submit to turn.completed, p99", "turn_p99_us"),
                           ("status_p50", "  submit to first status, p50", "status_p50_us"),
                           ("reply_p50", "  submit to its durable reply, p50", "reply_p50_us")):
        table.add(id_, name, [r[key] / 1e3 for r in seen], "ms", better="less")
    for threads in THREADS:
        rate_row(here, table, daemon, threads, numbers)
    # Earlier turns are read for each new one; here there are hundreds.
    long = here.rounds(3, lambda: rate_round(here, daemon, 1, numbers, "--thread-turns", 1_000_000,
                                             "--warmup-ms", 3000))
    table.add("turns_long", "turns, 1 thread that has hundreds", long, "/s")
    daemon.stop()
    home.remove()
    measure_calls(here, table)


def measure_calls(here, table):
    """A turn whose model calls the shell once: the time beyond model and command."""
    call = {"name": "shell", "args": {"command": COMMAND}}
    home = here.harness.Home({"main": [{"text": "Look.", "toolCalls": [call]}, {"text": "Done."}]},
                             '[permissions]\nmode = "bypass"\n', folder=str(here.folder / "calls"))
    daemon = here.harness.Daemon(home)
    numbers = iter(range(1_000))

    def one_round():
        prefix = f"call{next(numbers)}"
        setting.make_sessions(daemon, prefix, 60)
        daemon.disconnect()
        turn = here.load("turn_load", daemon, "--turns", 50, "--warmup", 10, "--prefix", prefix)
        return turn["turn_p50_us"] / 1e3 - plain_command_ms()

    table.add("tool_turn", "turn with one sandboxed call, over the command's own time, p50",
              here.rounds(5, one_round), "ms", better="less", goal=TOOL_TURN_GOAL_MS)
    daemon.stop()
    home.remove()


def plain_command_ms():
    took = []
    for _ in range(20):
        began = time.perf_counter()
        os.waitpid(os.posix_spawn("/bin/bash", ["bash", "-c", COMMAND], {"SHELL": "/bin/bash"}), 0)
        took.append((time.perf_counter() - began) * 1e3)
    return statistics.median(took)


def rate_round(here, daemon, threads, numbers, *more):
    prefix = f"rate{next(numbers)}"
    daemon.disconnect()
    setting.make_sessions(daemon, prefix, threads)
    return here.load("turn_rate", daemon, "--threads", threads, "--seconds", 2, "--prefix", prefix,
                     *more)["per_second"]


def rate_row(here, table, daemon, threads, numbers):
    def one_round():
        return (rate_round(here, daemon, threads, numbers), here.raw_sync() / SYNCS_A_TURN)

    seen = here.rounds(5, one_round)
    alone = threads == 1
    table.add(f"turns_{threads}", f"turns, {threads} thread" + ("" if alone else "s"),
              [ours for ours, _ in seen], "/s",
              limits=[limit for _, limit in seen] if alone else None,
              which="three raw fdatasync a turn" if alone else "", strict=alone,
              goal=RATE_GOAL if threads == RATE_GOAL_THREADS else None)
