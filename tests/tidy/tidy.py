#!/usr/bin/python3
"""House rules as a test: prints each breach as file:line and exits with 1.

    tests/tidy/tidy.py              checks the tree that it stands in
    tests/tidy/tidy.py --self-test  plants each kind of breach in a tree of its own, and checks
                                    that it is found

layers.toml says who may include whom, banned.toml which calls stand where; the other rules are
here. Standard library only.
"""

import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FOLDERS = (".ci", "lib", "proto-ipc", "daemon", "lua", "systemd", "tests")
SKIPPED = {"third_party", "__pycache__", "vectors", "corpus", "node_modules"}
CPP = {".cpp", ".hpp", ".h", ".c"}
SOURCES = CPP | {".lua", ".py", ".sh", ".build"}
MAX_COLUMNS = 100


@dataclass(frozen=True)
class Breach:
    """One place where a rule does not hold."""

    path: Path
    line: int
    what: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.what}"


@dataclass(frozen=True)
class Source:
    """A file: its text, the same without comments (code), and also without strings (bare)."""

    path: Path
    text: str
    code: str
    bare: str

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    @property
    def suffix(self):
        return self.path.suffix


CPP_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|(?P<raw>R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)")'
                       r'|(?P<text>"(?:\\.|[^"\\\n])*")'
                       r"|(?P<letter>(?<![0-9a-zA-Z])'(?:\\.|[^'\\\n])+')", re.S)
HASH_TOKEN = re.compile(r'(?P<text>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|#[^\n]*')
LUA_TOKEN = re.compile(r'(?P<text>"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|--[^\n]*')


def blanked(text):
    """Spaces of the same shape, so that offsets and lines stay."""
    return re.sub(r"[^\n]", " ", text)


def read(root, path):
    text = path.read_text(encoding="utf-8")
    token = CPP_TOKEN if path.suffix in CPP else LUA_TOKEN if path.suffix == ".lua" else HASH_TOKEN

    def without(strings):
        def replace(match):
            is_string = any(match.groupdict().values())
            return match[0] if is_string and not strings else blanked(match[0])
        return token.sub(replace, text)

    return Source(path.relative_to(root), text, without(strings=False), without(strings=True))


def sources(root):
    found = [root / "meson.build", root / "dev"]
    for folder in FOLDERS:
        found += sorted((root / folder).rglob("*"))
    return [read(root, path) for path in found
            if path.is_file() and (path.suffix in SOURCES or path.name == "dev")
            and not SKIPPED & set(path.relative_to(root).parts)]


def inside(path, places):
    """True if `path` is one of `places` or lies in one of them."""
    text = path.as_posix()
    return any(text == place or text.startswith(place + "/") for place in places)


# --- includes
# ---------------------------------------------------------------------------------------

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)


def layer_of(path, layers):
    places = [layer for layer in layers if inside(Path(path), [layer])]
    return max(places, key=len, default=None)


def check_edge(source, included, layers):
    """What is wrong with including a header of ours, or None."""
    own = layer_of(source.path, layers)
    if own is None:
        return "lies in no layer of tests/tidy/layers.toml"
    target = "starlease" if included.startswith("starlease/") else layer_of(included, layers)
    if target is None:
        return f'"{included}" is not spelt from the root of the repository, or is in no layer'
    if target != own and target not in layers[own]["may"]:
        return f"{own} may not include {target} ({included})"
    return None


def check_third_party(source, included, headers):
    for header, places in headers.items():
        named = included.startswith(header) if header.endswith("/") else included == header
        if named and not inside(source.path, places):
            return f"<{included}> may be seen in {', '.join(places)} only"
    return None


def check_includes(files):
    rules = tomllib.loads((HERE / "layers.toml").read_text())
    for source in files:
        if source.suffix not in CPP or source.path.parts[0] == "tests":
            continue
        for match in INCLUDE.finditer(source.code):
            quoted, angled = match.groups()
            if quoted or angled.startswith("starlease/"):
                wrong = check_edge(source, quoted or angled, rules["layers"])
            else:
                wrong = check_third_party(source, angled, rules["headers"])
            if wrong:
                yield Breach(source.path, source.line_of(match.start()), wrong)


# --- headings, columns, dead files
# -------------------------------------------------------------------

def check_headings(files):
    starts = {".lua": ("--",), ".py": ('"""', "#"), ".sh": ("#",), ".build": ("#",), "": ("#",)}
    for source in files:
        lines = source.text.splitlines()
        first = 1 if lines and lines[0].startswith("#!") else 0
        heading = lines[first] if len(lines) > first else ""
        if not heading.startswith(starts.get(source.suffix, ("//", "/*"))):
            yield Breach(source.path, first + 1,
                         "no heading comment: say what this is, and what it never does")


def check_columns(files):
    for source in files:
        for number, line in enumerate(source.text.splitlines(), 1):
            if len(line) > MAX_COLUMNS and "://" not in line:
                yield Breach(source.path, number, f"{len(line)} columns, more than {MAX_COLUMNS}")


def check_built(files):
    """Every source is named by a meson.build at or above it: what is not compiled rots."""
    builds = {source.path.parent: source.code
              for source in files if source.path.name == "meson.build"}
    for source in files:
        in_lua = source.suffix == ".lua" and source.path.parts[0] == "lua"
        if source.suffix not in {".cpp", ".c"} and not in_lua:
            continue
        named = any(f"'{source.path.relative_to(folder).as_posix()}'" in code
                    for folder, code in builds.items() if folder in source.path.parents)
        if not named:
            yield Breach(source.path, 1, "named in no meson.build")


def check_included(files):
    """Every header is included by something."""
    included = {match[1] or match[2] for source in files if source.suffix in CPP
                for match in INCLUDE.finditer(source.code)}
    for source in files:
        if source.suffix not in {".hpp", ".h"}:
            continue
        path = source.path.as_posix()
        if not {path, path.removeprefix("lib/include/")} & included:
            yield Breach(source.path, 1, "included by nothing")


# --- switches
# ----------------------------------------------------------------------------------------

SWITCH = re.compile(r"\bswitch\s*\(")
CASE_OF_CODE = re.compile(r"\bcase\s+(?:\w+::)*\w*Code::")


def block_after(text, offset):
    """The offsets of the first {...} at or after `offset`."""
    start = text.find("{", offset)
    depth = 0
    for position in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[position], 0)
        if depth == 0:
            return start, position
    return start, len(text)


def check_switches(files):
    for source in files:
        if source.suffix not in CPP:
            continue
        for match in SWITCH.finditer(source.bare):
            start, end = block_after(source.bare, match.end())
            body = source.bare[start:end]
            default = re.search(r"\bdefault\s*:", body)
            if default and CASE_OF_CODE.search(body):
                yield Breach(source.path, source.line_of(start + default.start()),
                             "default: in a switch over codes hides the code that is added next")


# --- banned calls
# ------------------------------------------------------------------------------------

def check_banned(files, rule):
    pattern = re.compile(rule["pattern"])
    for source in files:
        if not inside(source.path, rule["in"]) or inside(source.path, rule["except"]):
            continue
        text = source.text if rule.get("raw") else source.bare
        for match in pattern.finditer(text):
            yield Breach(source.path, source.line_of(match.start()),
                         f"{match[0].strip()}: {rule['instead']}")


def check(root):
    """Each rule's name with its breaches in the tree `root`."""
    files = sources(root)
    rules = {
        "includes go one way": check_includes,
        "each file has a heading": check_headings,
        "lines are at most 100 columns": check_columns,
        "each source is built": check_built,
        "each header is included": check_included,
        "switches over codes have no default": check_switches,
    }
    found = {name: list(rule(files)) for name, rule in rules.items()}
    for name, rule in tomllib.loads((HERE / "banned.toml").read_text()).items():
        found[f"banned: {name}"] = list(check_banned(files, rule))
    return found


def self_test():
    from planted import planted_breaches  # pylint: disable=import-outside-toplevel
    return planted_breaches(check)


def main():
    if sys.argv[1:] == ["--self-test"]:
        results = self_test()
    elif not sys.argv[1:]:
        results = list(check(ROOT).items())
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for name, breaches in results:
        for breach in breaches:
            print(f"{breach} [{name}]")
    broken = sum(1 for _, breaches in results if breaches)
    print(f"tidy: {len(results)} checks, {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
