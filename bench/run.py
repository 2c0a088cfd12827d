"""Measures a built agentrt against the limits of this machine and prints one table.

usage: run.py --build FOLDER [--json] [--quick] [--only WORD]

Every number comes from this run on this machine: the daemon, the load and the limit take turns on
the same cores and the same disk. Where the load runs beside the daemon it takes part of the
machine, so those numbers are what one machine gives with its clients on it.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/e2e"))
sys.dont_write_bytecode = True

RATIO_CREDIBLE_MAX = 1.05
IDLE_SHARE_MIN = 0.9  # of the machine, while nothing of ours runs
ROUNDS_SECONDS_MAX = 180


class Bench:
    def __init__(self, build, quick):
        self.build = pathlib.Path(build).resolve()
        os.environ["AGENTRT_BIN"] = str(self.build / "agentrt")
        import harness
        self.harness = harness
        self.quick = quick
        self.rows = []
        # The store must be on a disk: a commit to memory costs nothing and says nothing.
        self.folder = tempfile.mkdtemp(prefix="agentrt_bench_", dir=self.build)

    def add(self, name, ours, unit, limit=None, limit_name="", better="more", ratio=None,
            strict=False):
        """One line of the table. `limit` is a goal, or what the machine gives without us.

        What the machine gives without us (`strict`) cannot be exceeded: a ratio above one means
        that the two were not measured under the same conditions, and it is not reported.
        """
        if limit and ratio is None:
            ratio = ours / limit if better == "more" else limit / ours
        note = ""
        if strict and ratio > RATIO_CREDIBLE_MAX:
            note = f"not credible ({ratio:.2f} of its limit): measure again on a quiet machine"
            ratio = None
        self.rows.append({"name": name, "ours": ours, "unit": unit, "limit": limit,
                          "limitName": limit_name, "ratio": ratio, "note": note})
        print(f"  {name}: {ours:,.2f} {unit} {note}", file=sys.stderr)

    def home(self, name, scripts=None):
        folder = pathlib.Path(self.folder) / name
        scripts = scripts or {"main": [{"text": "The answer is 42."}]}
        return self.harness.Home(scripts, folder=str(folder))

    def program(self, name, *arguments):
        places = [self.build / "bench" / f"bench_{name}", self.build / f"bench_{name}"]
        path = next(place for place in places if place.exists())
        return [str(path), *map(str, arguments)]

    def load(self, name, daemon, *arguments):
        done = subprocess.run(
            self.program(name, "--port", daemon.port, "--token", daemon.token, *arguments),
            capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr}")
        return json.loads(done.stdout.splitlines()[-1])


def make_sessions(daemon, prefix, count):
    def batch(first):
        calls = [{"jsonrpc": "2.0", "id": n, "method": "create_session",
                  "params": {"sessionId": f"{prefix}_{n}"}}
                 for n in range(first, min(first + 100, count))]
        reply = daemon.request("POST", "/v1/rpc", calls)
        assert reply.status == 200 and all("result" in r for r in reply.json), reply
        daemon.disconnect()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(batch, range(0, count, 100)))


def store_file(home):
    return next(path for path in home.data.iterdir()
                if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3")


def raw(bench, home, batch):
    """Appends a second of SQLite alone: the better of never and regularly checkpointing."""
    rates = []
    for pages in (0, 1000):
        command = bench.program("raw_sqlite", "--store", store_file(home), "--out",
                                pathlib.Path(bench.folder) / "raw.db", "--batch", batch,
                                "--appends", 1500 if batch == 1 else 10_000,
                                "--checkpoint-pages", pages)
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"raw_sqlite: {done.stderr}")
        rates.append(json.loads(done.stdout)["per_second"])
    return max(rates)


def commands(bench):
    """Durable commands a second against raw SQLite of the same rows in the same batches.

    Ours and the limit take turns in short rounds and the ratio is taken within each round, so that
    a disk or a machine whose speed drifts does not favour either.
    """
    home = bench.home("commands")
    daemon = bench.harness.Daemon(home)
    make_sessions(daemon, "bench", 64)
    rounds = 3 if bench.quick else 7
    for connections in (1, 16, 64):
        seen = undisturbed(rounds, lambda: command_round(bench, home, daemon, connections))
        ours, batch, limit, single, p99 = (statistics.median(column) for column in zip(*seen))
        bench.add(f"durable commands, {connections} connections", ours, "/s", limit,
                  f"raw SQLite, batches of {batch:.0f}",
                  ratio=statistics.median(r[0] / r[2] for r in seen), strict=True)
        bench.add("  over one raw synced append at a time", ours, "/s", single,
                  "raw SQLite, batches of 1",
                  ratio=statistics.median(r[0] / r[3] for r in seen), strict=connections == 1)
        bench.add(f"  p99 of a command, {connections} connections", p99 / 1e3, "ms")
    daemon.stop()
    home.remove()


def command_round(bench, home, daemon, connections):
    daemon.disconnect()  # rounds may be minutes apart, longer than an idle connection is kept
    before = daemon.metrics()
    result = bench.load("http_load", daemon, "--connections", connections, "--seconds", 2,
                        "--warmup-ms", 200, "--prefix", "bench")
    after = daemon.metrics()

    def grown(name):
        return after[f"agentrt_{name}_total"] - before[f"agentrt_{name}_total"]
    batch = max(1, round(grown("commit_appends") / max(1, grown("commits"))))
    return (result["per_second"], batch, raw(bench, home, batch), raw(bench, home, 1),
            result["p99_us"])


def turns(bench):
    home = bench.home("turns")
    daemon = bench.harness.Daemon(home)
    count = 100 if bench.quick else 500
    make_sessions(daemon, "turn", count + 20)
    result = bench.load("turn_load", daemon, "--turns", count, "--warmup", 20, "--prefix", "turn")
    goal = "goal: 3 ms"
    bench.add("plain turn, submit to turn.completed, p50", result["turn_p50_us"] / 1e3, "ms", 3.0,
              goal, "less")
    bench.add("plain turn, submit to turn.completed, p99", result["turn_p99_us"] / 1e3, "ms")
    bench.add("submit to first status, p50", result["status_p50_us"] / 1e3, "ms")
    bench.add("submit to first status, p99", result["status_p99_us"] / 1e3, "ms")
    bench.add("submit to its durable reply, p50", result["reply_p50_us"] / 1e3, "ms")
    daemon.stop()
    home.remove()


def starts(bench):
    home = bench.home("starts")
    daemon = bench.harness.Daemon(home)
    daemon.stop()
    rounds = 3 if bench.quick else 9

    def median_start():
        times = []
        for _ in range(rounds):
            again = bench.harness.Daemon(home)
            times.append(again.start_seconds * 1e3)
            again.kill()
        return statistics.median(times)

    bench.add("start to ready, empty store", median_start(), "ms", 100, "goal: 100 ms", "less")
    daemon = bench.harness.Daemon(home)
    idle = daemon.memory_kb() / 1024
    bench.add("idle memory, empty store", idle, "MiB", 10 * 1e6 / 2**20, "goal: 10 MB", "less")
    make_sessions(daemon, "many", 10_000)
    daemon.kill()
    bench.add("start to ready, 10,000 sessions", median_start(), "ms", 100, "goal: 100 ms",
              "less")
    daemon = bench.harness.Daemon(home)
    bench.add("idle memory, 10,000 sessions in the store", daemon.memory_kb() / 1024, "MiB")
    before = daemon.memory_kb()
    opened = 200 if bench.quick else 1000
    for number in range(opened):
        daemon.submit("hello", sessionId=f"many_{number}", threadId="t")
    bench.harness.wait_until(lambda: daemon.metrics_value("turns_completed") >= opened, 60)
    held = daemon.metrics_value("sessions_in_memory")
    bench.add("memory for each open session after a turn",
              (daemon.memory_kb() - before) / max(1, held), "KiB")
    daemon.stop()
    home.remove()


def deliveries(bench):
    home = bench.home("deliveries")
    daemon = bench.harness.Daemon(home)
    daemon.ok("create_session", sessionId="s")
    subscribers = 200 if bench.quick else 1000
    events = 900  # a snapshot at 1,000 facts would add one of its own
    clients = subprocess.Popen(
        bench.program("sse_clients", "--port", daemon.port, "--token", daemon.token, "--session",
                      "s", "--after", 1, "--connections", subscribers, "--events", events),
        stdout=subprocess.PIPE, text=True)
    assert clients.stdout.readline() == "ready\n"
    for first in range(0, events, 100):
        calls = [{"jsonrpc": "2.0", "id": n, "method": "update_session",
                  "params": {"sessionId": "s", "title": f"title {n}"}}
                 for n in range(first, first + 100)]
        reply = daemon.request("POST", "/v1/rpc", calls)
        assert reply.status == 200, reply
    out, _ = clients.communicate(timeout=120)
    result = json.loads(out)
    counted = daemon.metrics_value("events_delivered")
    assert counted == subscribers * events, f"the daemon counted {counted} deliveries"
    print(f"  {result['bytes'] / result['seconds'] / 1e6:,.0f} MB/s, "
          f"{result['bytes'] / result['deliveries']:.0f} bytes each", file=sys.stderr)
    bench.add(f"deliveries to {subscribers:,} subscribers", result["per_second"], "/s")
    bench.add(f"memory with {subscribers:,} subscribers gone again", daemon.memory_kb() / 1024,
              "MiB")
    daemon.stop()
    home.remove()


def folds(bench):
    done = subprocess.run(bench.program("fold", "--benchmark_format=json"), capture_output=True,
                          text=True, check=True)
    goals = {"fold_decoded_facts": ("decoded facts folded", 1_000_000),
             "stored_bytes_to_view": ("stored facts decoded and folded", 300_000),
             "encode_facts": ("payloads encoded", None)}
    for result in json.loads(done.stdout)["benchmarks"]:
        title, goal = goals[result["name"]]
        bench.add(title, result["items_per_second"], "/s", goal,
                  f"goal: {goal:,}/s" if goal else "")


def idle_share(seconds=2.0):
    """How much of the machine nobody uses now."""
    def ticks():
        fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
        numbers = [int(field) for field in fields]
        return numbers[3] + numbers[4], sum(numbers)
    idle, total = ticks()
    time.sleep(seconds)
    idle_after, total_after = ticks()
    return (idle_after - idle) / max(1, total_after - total)


def undisturbed(rounds, measure):
    """`rounds` results, each begun and ended on an idle machine; others are thrown away.

    Gives up on that after a while and says so: then the credibility of the ratios is in doubt.
    """
    results, disturbed = [], []
    deadline = time.monotonic() + ROUNDS_SECONDS_MAX
    while len(results) < rounds and time.monotonic() < deadline:
        if idle_share(0.5) < IDLE_SHARE_MIN:
            continue
        result = measure()
        (results if idle_share(0.5) >= IDLE_SHARE_MIN else disturbed).append(result)
    if len(results) < rounds:
        print(f"  only {len(results)} of {rounds} rounds were undisturbed", file=sys.stderr)
    return results or disturbed or [measure()]


def machine():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return {"cpu": cpu.group(1) if cpu else "unknown", "cores": os.cpu_count(),
            "kernel": os.uname().release}


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.2f}"


def print_table(rows):
    head = ("what", "ours", "limit", "", "ratio")
    cells = [head]
    for row in rows:
        limit = f"{number(row['limit'])} {row['unit']}" if row["limit"] else ""
        ratio = f"{row['ratio']:.2f}" if row["ratio"] else row["note"]
        cells.append((row["name"], f"{number(row['ours'])} {row['unit']}", limit,
                      row["limitName"], ratio))
    widths = [max(len(line[i]) for line in cells) for i in range(len(head))]
    for line in cells:
        print("  ".join(text.rjust(width) if i in (1, 2, 4) else text.ljust(width)
                        for i, (text, width) in enumerate(zip(line, widths))).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="shorter runs, rougher numbers")
    parser.add_argument("--only", default="", help="parts whose name contains this word")
    options = parser.parse_args()
    bench = Bench(options.build, options.quick)
    idle = [idle_share()]
    for part in (folds, starts, turns, commands, deliveries):
        if options.only in part.__name__:
            print(f"==> {part.__name__}", file=sys.stderr)
            part(bench)
            idle.append(idle_share())
    subprocess.run(["rm", "-rf", bench.folder], check=True)
    if options.json:
        print(json.dumps({"machine": {**machine(), "idleShareMin": min(idle)},
                          "rows": bench.rows}, indent=2))
    else:
        print("{cpu}, {cores} cores, Linux {kernel}".format(**machine()))
        print_table(bench.rows)
    if min(idle) < IDLE_SHARE_MIN:
        print(f"warning: others used up to {1 - min(idle):.0%} of this machine between the parts; "
              "do not publish these numbers", file=sys.stderr)


if __name__ == "__main__":
    main()
