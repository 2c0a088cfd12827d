"""Checks the length of commit subjects.

Usage: subjects.py, inside the repository. Checks the commits of the current branch that are not on
its upstream branch or, without an upstream, the newest 50. Prints each subject that is too long and
exits 1 if there is any.
"""

import subprocess
import sys

SUBJECT_CHARACTERS_MAX = 72
COMMITS_WITHOUT_UPSTREAM = 50


def git(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, encoding="utf-8")


def commits() -> list[str]:
    """One line `HASH SUBJECT` per commit to check, newest first."""
    upstream = git("rev-parse", "--verify", "--quiet", "@{upstream}").returncode == 0
    chosen = ["@{upstream}..HEAD"] if upstream else [f"--max-count={COMMITS_WITHOUT_UPSTREAM}"]
    log = git("log", "--no-merges", "--format=%h %s", *chosen)
    if log.returncode != 0:
        sys.exit(f"subjects: git log failed: {log.stderr.strip()}")
    return log.stdout.splitlines()


def main() -> int:
    found = 0
    for line in commits():
        name, _, subject = line.partition(" ")
        if len(subject) > SUBJECT_CHARACTERS_MAX:
            found += 1
            print(f"{name}: subject has {len(subject)} characters, limit "
                  f"{SUBJECT_CHARACTERS_MAX}: {subject}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
