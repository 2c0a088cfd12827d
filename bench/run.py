"""Measures a built agentrt against the limits of this machine and prints one table.

usage: run.py --build FOLDER [--json | --markdown] [--save-baseline] [--only WORD] [--quick] [--now]

Every number comes from this run on this machine: daemon, load and baseline alternate on the same
cores and the same disk. Load programs that run beside the daemon use part of the machine, so those
numbers are for one machine including its clients.
"""

import argparse
import json
import sys

sys.dont_write_bytecode = True

import build  # noqa: E402
import channels  # noqa: E402
import commands  # noqa: E402
import facts  # noqa: E402
import history  # noqa: E402
import jobs  # noqa: E402
import machine  # noqa: E402
import models  # noqa: E402
import packing  # noqa: E402
import page  # noqa: E402
import policy  # noqa: E402
import sandbox  # noqa: E402
import setting  # noqa: E402
import starts  # noqa: E402
import streams  # noqa: E402
import table  # noqa: E402
import tasks  # noqa: E402
import terminal  # noqa: E402
import turns  # noqa: E402

PARTS = {"facts": facts, "starts": starts, "turns": turns, "history": history, "commands": commands,
         "streams": streams, "channels": channels, "models": models, "packing": packing,
         "sandbox": sandbox, "policy": policy, "terminal": terminal, "tasks": tasks, "jobs": jobs,
         "page": page}
ON_REQUEST = {"build": build}  # too slow for every run


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--json", action="store_true", help="an object instead of a table")
    parser.add_argument("--markdown", action="store_true", help="the table of docs/performance.md")
    parser.add_argument("--save-baseline", action="store_true",
                        help="write bench/baseline.json, which later runs are compared with")
    parser.add_argument("--only", default="",
                        help=f"one of the parts {', '.join(PARTS | ON_REQUEST)}")
    parser.add_argument("--quick", action="store_true", help="two rounds, rougher numbers")
    parser.add_argument("--now", action="store_true",
                        help="do not wait for an idle machine; not for numbers that count")
    options = parser.parse_args()
    rows = table.Table()
    idle = [machine.idle_share()]
    here = setting.Setting(options.build, options.quick, not options.now)
    try:
        parts = ON_REQUEST if options.only in ON_REQUEST else PARTS
        for name, part in parts.items():
            if options.only in name:
                print(f"==> {name}", file=sys.stderr)
                part.measure(here, rows)
                idle.append(machine.idle_share())
    finally:
        here.remove()
    noise = rows.noise(idle[0], idle[-1])
    result = {"machine": {**machine.describe(), "idleShareMin": min(idle)}, "noise": noise,
              "rows": rows.rows}
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print("{cpu}, {cores} cores, Linux {kernel}".format(**result["machine"]))
        if options.markdown:
            rows.show_markdown()
        else:
            rows.show()
        print(noise)
    if options.save_baseline:
        table.save_baseline(result)
    if min(idle) < machine.IDLE_SHARE_MIN:
        print(f"warning: others used up to {1 - min(idle):.0%} of this machine between the parts; "
              "do not publish these numbers", file=sys.stderr)


if __name__ == "__main__":
    main()
