#!/usr/bin/python3
"""Breaks one rule at a time and expects the simulator to notice; by hand, some four minutes.

    tests/sim/mutants.py --build build/release [--seeds 6000] [-k WORD]

Each mutant of mutants.toml is one source file with one change. It is compiled as the build compiles
that file, but fast, and linked before the libraries, so that it stands in for the original. Prints
what killed it; ends with 1 if one survives.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = "tests/sim/sim"
LONGEST_RUN_S = 240


def commands(build, target):
    listing = subprocess.run(["ninja", "-C", build, "-t", "commands", target], check=True,
                             capture_output=True, text=True)
    return [line for line in listing.stdout.splitlines() if not line.startswith("ninja:")]


def compile_command(build, file, source, out):
    """The build's own command for `file`, for a changed copy of it, without optimisation."""
    wanted = os.path.relpath(ROOT / file, build)
    for line in commands(build, TARGET):
        words = shlex.split(line)
        if words[-1] != wanted or "-c" not in words:
            continue
        for option in ("-MQ", "-MF", "-o"):
            at = words.index(option)
            del words[at:at + 2]
        words = [word for word in words[:-1] if word not in ("-MD", "-c", "-O3", "ccache")
                 and not word.startswith(("-D_FORTIFY_SOURCE", "-U_FORTIFY_SOURCE"))]
        return words + ["-O1", "-w", "-o", str(out), "-c", str(source)]
    raise SystemExit(f"{file} is not compiled for {TARGET}")


def link_command(build, extra, out):
    words = shlex.split(commands(build, TARGET)[-1])
    at = words.index("-o")
    words[at + 1] = str(out)
    first_object = next(i for i, word in enumerate(words) if word.endswith(".o"))
    words.insert(first_object, str(extra))
    return [*words, "-Wl,--allow-multiple-definition"]


def mutated(mutant):
    text = (ROOT / mutant["file"]).read_text()
    if text.count(mutant["old"]) != 1:
        raise SystemExit(f"'{mutant['name']}': what it changes stands "
                         f"{text.count(mutant['old'])} times in {mutant['file']}")
    return text.replace(mutant["old"], mutant["new"])


def what_killed(code, output):
    lines = output.splitlines()
    told = next((line for line in lines if line.startswith(("safety", "liveness", "crash"))), "")
    return told.split(":")[0] or f"exit status {code}"


def run(mutant, build, seeds, folder):
    """What killed it, or None."""
    name = "".join(c if c.isalnum() else "-" for c in mutant["name"])
    source, obj, program = (folder / f"{name}{suffix}" for suffix in (".cpp", ".o", ""))
    source.write_text(mutated(mutant))
    subprocess.run(compile_command(build, mutant["file"], source, obj), cwd=build, check=True)
    subprocess.run(link_command(build, obj, program), cwd=build, check=True)
    try:
        scenario = ["--scenario", mutant["scenario"]] if "scenario" in mutant else []
        done = subprocess.run([program, "--seeds", f"1..{seeds}", *scenario], capture_output=True,
                              text=True, timeout=LONGEST_RUN_S, check=False)
    except subprocess.TimeoutExpired:
        return "hang"
    return what_killed(done.returncode, done.stdout) if done.returncode else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--seeds", type=int, default=6000)
    parser.add_argument("-k", metavar="WORD", default="", help="only mutants with WORD in the name")
    arguments = parser.parse_args()
    mutants = tomllib.loads((ROOT / "tests/sim/mutants.toml").read_text())["mutant"]
    wanted = [mutant for mutant in mutants if arguments.k in mutant["name"]]
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="starlease-mutants-") as scratch:
        for mutant in wanted:
            started = time.monotonic()
            killer = run(mutant, arguments.build.resolve(), arguments.seeds, Path(scratch))
            survivors += killer is None
            print(f"{killer or 'SURVIVED':<24} {mutant['name']} "
                  f"({time.monotonic() - started:.0f} s)", flush=True)
    print(json.dumps({"mutants": len(wanted), "killed": len(wanted) - survivors}))
    return 1 if survivors or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
