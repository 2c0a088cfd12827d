"""Measures facts without a daemon: folding, decoding, encoding, validating."""

import json
import re
import subprocess
import time

GOALS = {
    "fold_decoded_facts": ("fold", "decoded facts folded", 1_000_000),
    "decode_stored_bytes": ("decode", "stored facts decoded", None),
    "stored_bytes_to_view": ("decode_fold", "stored facts decoded and folded", 300_000),
    "encode_facts": ("encode", "payloads encoded", None),
}
VALIDATE_GOAL = 300_000
VALIDATE_EVENTS = 400_000
VALIDATE_TURNS = 100
# Ids that a copied session must not share with the original: kind and 26 letters, and traces.
OWN_ID = re.compile(r'\b(turn|task|run|attempt|mreq|step|req)_([0-9a-z]{21})[0-9a-z]{5}\b')
OWN_TRACE = re.compile(r'"(traceId|spanId)":"([0-9a-f]+)[0-9a-f]{5}"')


def measure(here, table):
    command = here.program("fold", "--benchmark_format=json", "--benchmark_repetitions=5",
                           "--benchmark_min_time=0.3")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    values = {}
    for result in json.loads(done.stdout)["benchmarks"]:
        if result["run_type"] == "iteration":
            values.setdefault(result["run_name"], []).append(result["items_per_second"])
    bare = values["fold_decoded_facts"]
    for name, (id_, title, goal) in GOALS.items():
        table.add(id_, title, values[name], "/s", goal=goal,
                  limits=bare if id_ == "decode_fold" else None,
                  which="bare fold" if id_ == "decode_fold" else "")
    validate(here, table)


def validate(here, table):
    home = here.home("validate")
    name = "events validated"
    try:
        if not re.search(r"^\s+validate\b", home.run("--help").stdout, re.MULTILINE):
            table.skip("validate", name, "this build has no `agentrt validate`")
            return
        path = here.folder / "validate.jsonl"
        events = write_events(here, home, path)
        codes = set()

        def one_round():
            begun = time.monotonic()
            codes.add(home.run("validate", path, "--format", "json", timeout=100).returncode)
            return events / (time.monotonic() - begun)

        values = here.rounds(5, one_round)
        if codes == {0}:
            table.add("validate", name, values, "/s", goal=VALIDATE_GOAL)
        else:  # a run that failed or had findings says nothing about speed
            table.skip("validate", name, f"validate ended with {sorted(codes)}, not with 0")
    finally:
        home.remove()


def write_events(here, home, path):
    """Writes a file of many sessions: one from the daemon, and copies with their own ids."""
    daemon = here.harness.Daemon(home)
    for _ in range(VALIDATE_TURNS):
        daemon.wait_turn(daemon.submit("What is the answer?", sessionId="session0", threadId="t"))
    lines = [json.dumps(event, separators=(",", ":")) for event in daemon.events("session0")]
    daemon.stop()
    text = "\n".join(lines) + "\n"
    count = 0
    with open(path, "w", encoding="utf-8") as out:
        for copy in range(max(1, VALIDATE_EVENTS // len(lines))):
            mark = f"{copy:05x}"
            copied = OWN_ID.sub(lambda m: f"{m[1]}_{m[2]}{mark}", text)
            copied = OWN_TRACE.sub(lambda m: f'"{m[1]}":"{m[2]}{mark}"', copied)
            out.write(copied.replace("session0", f"session{copy}"))
            count += len(lines)
    return count
