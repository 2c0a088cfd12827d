"""Runs clang-tidy on the files that changed since the last commit, or on all files.

Stops starting new files when the time budget is used up, and lists the files that were not checked.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import time

BUDGET_SECONDS_DEFAULT = 300


def compiled_files(build: pathlib.Path) -> list[str]:
    database = json.loads((build / "compile_commands.json").read_text())
    root = pathlib.Path.cwd()
    files = {pathlib.Path(entry["file"]).resolve() for entry in database}
    return sorted(str(f.relative_to(root)) for f in files if f.is_relative_to(root / "src"))


def changed_files() -> set[str]:
    """Files that differ from the last commit, including new ones."""
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return {line[3:].split(" -> ")[-1] for line in lines}


def lint(build: pathlib.Path, file: str, deadline: float) -> tuple[str, str, str]:
    if time.monotonic() > deadline:
        return file, "skipped", ""
    command = ["clang-tidy-19", "-p", str(build), "--quiet", file]
    done = subprocess.run(command, capture_output=True, text=True)
    return file, "ok" if done.returncode == 0 else "failed", done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--files", choices=["changed", "all"], default="changed")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget-seconds", type=int, default=BUDGET_SECONDS_DEFAULT)
    options = parser.parse_args()

    files = compiled_files(options.build)
    if options.files == "changed":
        changed = changed_files()
        files = [f for f in files if f in changed]
    deadline = time.monotonic() + options.budget_seconds
    skipped, failed = [], []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for file, verdict, output in pool.map(
                lambda f: lint(options.build, f, deadline), files):
            if verdict == "failed":
                failed.append(file)
                print(output)
            elif verdict == "skipped":
                skipped.append(file)
    print(f"clang-tidy: {len(files)} files, {len(failed)} with findings, "
          f"{len(skipped)} not reached in {options.budget_seconds} s")
    for file in skipped:
        print(f"  not reached: {file}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
