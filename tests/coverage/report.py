#!/usr/bin/python3
"""What a counting build counted: report.py BUILD, from the project's root.

Prints TAP, a line for each file of ext/, and below it the lines and branches that no test ran.
"""
import json
import subprocess
import sys

GCOVR = ["gcovr", "--root", ".", "--filter", "ext/", "--json", "-", "--object-directory"]


def describe(name, counted):
    """Prints the part of one file; returns whether all of it was run."""
    with open(name, encoding="utf-8") as file:
        source = file.read().splitlines()
    ran = branches = taken = 0
    missed = []
    for line in counted:
        not_taken = [i for i, branch in enumerate(line["branches"]) if branch["count"] == 0]
        branches += len(line["branches"])
        taken += len(line["branches"]) - len(not_taken)
        ran += line["count"] > 0
        text = source[line["line_number"] - 1].strip()
        if line["count"] == 0:
            missed.append(f"#  {name}:{line['line_number']}: not run: {text}")
        elif not_taken:
            numbers = ",".join(str(i) for i in not_taken)
            missed.append(f"#  {name}:{line['line_number']}: branch {numbers} not taken: {text}")
    print(f"{'not ok' if missed else 'ok'} coverage of {name}: {ran} of {len(counted)} lines, "
          f"{taken} of {branches} branches")
    for line in missed:
        print(line)
    return not missed


def main():
    build = sys.argv[1]
    report = json.loads(subprocess.run(GCOVR + [build, build], check=True,
                                       stdout=subprocess.PIPE).stdout)
    counted = {entry["file"]: [line for line in entry["lines"] if not line["gcovr/noncode"]]
               for entry in report["files"]}
    good = [describe(name, lines) for name, lines in sorted(counted.items())]
    return 0 if good and all(good) else 1


sys.exit(main())
