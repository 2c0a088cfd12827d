"""The inspector page and the reads that it needs: a list of sessions, the past, a busy session."""

import json
import statistics
import subprocess
import threading
import time

import setting

SESSIONS = 10_000
FIRST_ROWS_GOAL_MS = 500
PAST_FACTS = 100_000
PAST_GOAL_MS = 300
PAST_RATIO_GOAL = 1 / 3  # at most three times of decoding and folding the same facts
FOLLOWED_S = 60
FACTS_PER_S = 1_000
LONGEST_TASK_GOAL_MS = 200
THREADS = 8


def browse(here, *words, **more):
    """Runs page_times.mjs, which measures in Chromium, and returns its result."""
    command = ["node", str(setting.HERE / "page_times.mjs"), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **more)


def result_of(process):
    out, _ = process.communicate(timeout=300)
    return json.loads(out.splitlines()[-1])


def link_to(home, *words):
    return home.run("open", *words).stdout.strip()


def measure(here, table):
    past(here, table)
    first_rows(here, table)
    followed(here, table)


def past(here, table):
    folders = iter(range(1_000))

    def at(sequence):
        folder = here.folder / f"past{next(folders)}"
        folder.mkdir()
        return here.run("past", "--out", folder, "--facts", PAST_FACTS, "--at", sequence)

    for id_, sequence, name in (("past_end", PAST_FACTS, "the last"),
                                ("past_middle", PAST_FACTS // 2, "the middle")):
        seen = here.rounds(3, lambda: at(sequence))
        table.add(id_, f"atSequence at {name} of {PAST_FACTS:,} facts",
                  [each["past_ms"] for each in seen], "ms", better="less",
                  limits=[each["bare_ms"] for each in seen],
                  which="decoding and folding the same facts", ratio_goal=PAST_RATIO_GOAL)
        table.add(id_ + "_ms", "  the same in milliseconds", [each["past_ms"] for each in seen],
                  "ms", better="less", goal=PAST_GOAL_MS)


def list_ms(daemon):
    started = time.monotonic()
    daemon.ok("list_sessions", order="updated", limit=100)
    return (time.monotonic() - started) * 1e3


def first_rows(here, table):
    home = here.home("page")
    daemon = here.harness.Daemon(home)
    setting.make_sessions(daemon, "many", SESSIONS)

    def one_round():
        bare = statistics.median(list_ms(daemon) for _ in range(5))
        return result_of(browse(here, "list", link_to(home)))["firstRowMs"], bare

    pairs = here.rounds(5, one_round)
    table.add("page_first_rows", f"first rows after the link, {SESSIONS:,} sessions",
              [ours for ours, _ in pairs], "ms", better="less",
              limits=[bare for _, bare in pairs], which="list_sessions alone",
              goal=FIRST_ROWS_GOAL_MS)
    daemon.stop()
    home.remove()


def followed(here, table):
    """Turns on several threads of one session make facts at a fixed rate while a page follows."""
    seconds = 10 if here.quick else FOLLOWED_S
    home = here.home("followed")
    daemon = here.harness.Daemon(home)
    daemon.wait_turn(daemon.submit("first", sessionId="busy", threadId="t0"))
    per_turn = daemon.ok("get_session", sessionId="busy")["asOfSequence"]
    done = threading.Event()

    def load():
        number = 0
        began = time.monotonic()
        while not done.is_set():
            number += 1
            daemon.submit("go", sessionId="busy", threadId=f"t{number % THREADS}")
            ahead = number * per_turn / FACTS_PER_S - (time.monotonic() - began)
            if ahead > 0:
                time.sleep(ahead)

    thread = threading.Thread(target=load, daemon=True)
    process = browse(here, "follow", link_to(home, "busy"), seconds)
    thread.start()
    try:
        found = result_of(process)
    finally:
        done.set()
        thread.join()
    table.add("page_facts", "facts per second that a page followed",
              found["facts"] / found["seconds"], "/s", goal=FACTS_PER_S * 0.9)
    table.add("page_longest_task", f"  its longest task in {seconds} s", found["longestTaskMs"],
              "ms", better="less", goal=LONGEST_TASK_GOAL_MS)
    daemon.stop()
    home.remove()
