"""Permission decisions: on shell texts that agents write, on texts that are made to take long, and
the whole of what is decided about one command that a person approves."""

import json
import subprocess

ROWS = {
    "policy": {
        "typical_text": ("decision", "permission decision, typical text", 1e-3, "µs", 100),
        "hostile_megabyte": ("decision_megabyte", "  a hostile text of 1 MB", 1e-6, "ms", 50),
        "hostile_within_limits": ("decision_hostile", "  hostile texts of 64 KiB", 1e-6, "ms", 50),
    },
    "decision": {
        "approved_command": ("decisions_approved", "decisions about an approved command", 1e-3,
                             "µs", 1000),
    },
}


def measure(here, table):
    for program, rows in ROWS.items():
        command = here.program(program, "--benchmark_format=json", "--benchmark_repetitions=5",
                               "--benchmark_min_time=0.2")
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        values = {}
        for result in json.loads(done.stdout)["benchmarks"]:
            if result["run_type"] == "iteration":
                values.setdefault(result["run_name"], []).append(result["real_time"])
        for name, (id_, title, scale, unit, goal) in rows.items():
            table.add(id_, title, [value * scale for value in values[name]], unit, better="less",
                      goal=goal)
