#!/usr/bin/python3
"""Makes one function library of the Lua files, and a C++ header that holds it.

    bundle.py --lua OUT --header OUT FILE...     in the order in which they are to run
    bundle.py --locate LINE LIBRARY              which file and line a line of the library came from

Each file becomes a module: its `require 'name'` gives what the file `name.lua` returned. A mark
`-- file:line` stands before each file's first line and wherever a function begins, so that a line
number of the server's error message finds its place. Standard library only.
"""

import argparse
import re
import sys
from pathlib import Path

NAME = "starlease1"
# A raw string literal may hold 65536 characters; compilers join adjacent ones.
LITERAL_BYTES = 16000
DELIMITER = "lua"

PRELUDE = """\
local modules = {}
local function require(name)
  return modules[name]
end
"""


def module(path):
    """One file as a module, with its marks."""
    lines = [f"modules['{path.stem}'] = (function()"]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if number == 1 or re.match(r"(local )?function ", line):
            lines.append(f"-- {path.name}:{number}")
        lines.append(line)
    return "\n".join([*lines, "end)()", ""])


def check_order(paths):
    """A module must stand behind those that it requires."""
    known = set()
    for path in paths:
        for name in re.findall(r"require '(\w+)'", path.read_text(encoding="utf-8")):
            if name not in known:
                sys.exit(f"bundle.py: {path.name} requires '{name}', which comes later or never")
        known.add(path.stem)


def bundle(paths):
    check_order(paths)
    return f"#!lua name={NAME}\n{PRELUDE}" + "".join(module(path) for path in paths)


def revision(paths):
    prelude = next(path for path in paths if path.name == "prelude.lua")
    return int(re.search(r"REVISION = (\d+)", prelude.read_text(encoding="utf-8"))[1])


def literal(text):
    """`text` as adjacent raw string literals, cut at line ends."""
    pieces, piece = [], ""
    for line in text.splitlines(keepends=True):
        if len(piece) + len(line) > LITERAL_BYTES:
            pieces.append(piece)
            piece = ""
        piece += line
    pieces.append(piece)
    assert all(f'){DELIMITER}"' not in piece for piece in pieces)
    return "\n".join(f'R"{DELIMITER}({piece}){DELIMITER}"' for piece in pieces)


def header(text, number):
    return f"""\
// The Valkey function library as text, made by lua/bundle.py. Never edited by hand.
#pragma once

#include <cstdint>
#include <string_view>

namespace starlease::lua {{

inline constexpr std::string_view function_library_name = "{NAME}";
/// What starlease1_version answers once this text is loaded.
inline constexpr std::int64_t function_library_revision = {number};
/// What FUNCTION LOAD takes.
inline constexpr std::string_view function_library_text =
{literal(text)};

}}  // namespace starlease::lua
"""


def locate(number, library):
    """The file and line behind line `number` of a library."""
    lines = Path(library).read_text(encoding="utf-8").splitlines()
    for at in range(min(number, len(lines)) - 1, -1, -1):
        mark = re.fullmatch(r"-- (\w+\.lua):(\d+)", lines[at])
        if mark:
            return f"{mark[1]}:{int(mark[2]) + max(0, number - at - 2)}"
    return "the bundler's own lines"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lua", type=Path)
    parser.add_argument("--header", type=Path)
    parser.add_argument("--locate", type=int, metavar="LINE")
    parser.add_argument("files", nargs="+", type=Path)
    options = parser.parse_args()
    if options.locate:
        print(locate(options.locate, options.files[0]))
        return
    text = bundle(options.files)
    if options.lua:
        options.lua.write_text(text, encoding="utf-8")
    if options.header:
        options.header.write_text(header(text, revision(options.files)), encoding="utf-8")


if __name__ == "__main__":
    main()
