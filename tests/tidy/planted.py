"""The tidy test's own test: a small clean tree, and a breach of each rule planted in it in turn."""

import tempfile
from pathlib import Path

CLEAN = {
    "meson.build": "# Root.\n",
    "dev": "#!/usr/bin/env bash\n# The command.\n",
    "lib/base/meson.build": "# Leaves.\nlib = static_library('base', 'leaf.cpp')\n",
    "lib/base/leaf.hpp": "// A leaf.\n#pragma once\n",
    "lib/base/leaf.cpp": '// A leaf.\n#include "lib/base/leaf.hpp"\n'
                         "// sleep( and throw in a comment are words\n",
    "lib/core/meson.build": "# The domain.\nlib = static_library('core', 'thing.cpp')\n",
    "lib/core/thing.cpp": '// A thing.\n#include "lib/base/leaf.hpp"\n'
                          'const char* text = "time(0)";\n',
    "daemon/uv/meson.build": "# The loop.\nlib = static_library('uv', 'loop.cpp')\n",
    "daemon/uv/loop.cpp": "// The loop.\n#include <uv.h>\n",
    "lua/meson.build": "# The library.\nparts = files('keys.lua')\n",
    "lua/keys.lua": "-- Key names.\n",
    "tests/lua/test_keys.py": '"""Keys."""\n',
}

CODES = "switch (code) { case FailureCode::lease_lost: break; %s }\n"

# name, rule, file, text appended to it (or the text of a new file), line of the breach
PLANTED = [
    ("core includes daemon", "includes go one way", "lib/core/thing.cpp",
     '#include "daemon/uv/loop.hpp"\n', 4),
    ("include not from the root", "includes go one way", "lib/base/leaf.cpp",
     '#include "leaf.hpp"\n', 4),
    ("libuv in the core", "includes go one way", "lib/core/thing.cpp", "#include <uv.h>\n", 4),
    ("hiredis in the loop", "includes go one way", "daemon/uv/loop.cpp",
     "#include <hiredis/async.h>\n", 3),
    ("folder in no layer", "includes go one way", "lib/odd/meson.build",
     "# Odd.\nlib = static_library('odd', 'odd.cpp')\n", 1),
    ("no heading", "each file has a heading", "lib/base/bare.hpp", "#pragma once\n", 1),
    ("no heading in Lua", "each file has a heading", "lua/bare.lua", "local x = 1\n", 1),
    ("long line", "lines are at most 100 columns", "lib/core/thing.cpp",
     "// " + "x" * 98 + "\n", 4),
    ("source not built", "each source is built", "lib/core/dead.cpp", "// Dead.\n", 1),
    ("Lua not bundled", "each source is built", "lua/dead.lua", "-- Dead.\n", 1),
    ("header not included", "each header is included", "lib/core/dead.hpp", "// Dead.\n", 1),
    ("default over codes", "switches over codes have no default", "lib/core/thing.cpp",
     CODES % "default: break;", 4),
    ("clock", "banned: clock", "lib/core/thing.cpp",
     "auto t = std::chrono::steady_clock::now();\n", 4),
    ("C clock", "banned: clock", "lib/core/thing.cpp", "auto t = time(nullptr);\n", 4),
    ("randomness", "banned: randomness", "lib/core/thing.cpp", "randombytes_buf(p, 1);\n", 4),
    ("sleep", "banned: sleep", "daemon/uv/loop.cpp", "std::this_thread::sleep_for(d);\n", 3),
    ("sleep in Python", "banned: sleep-in-python", "tests/lua/test_keys.py", "time.sleep(1)\n", 2),
    ("thread", "banned: thread", "daemon/uv/loop.cpp", "std::thread t;\n", 3),
    ("exception", "banned: exception", "lib/core/thing.cpp", "throw 1;\n", 4),
    ("shared ownership", "banned: shared-ownership", "lib/core/thing.cpp",
     "std::shared_ptr<int> p;\n", 4),
    ("unsafe C", "banned: unsafe-c", "lib/core/thing.cpp", "strcpy(a, b);\n", 4),
    ("bare assert", "banned: bare-assert", "lib/core/thing.cpp", "assert(x);\n", 4),
    ("unfinished", "banned: unfinished", "lua/keys.lua", "-- TODO later\n", 2),
]

# The folder that is in no layer needs a source to be seen.
COMPANIONS = {
    "folder in no layer": ("lib/odd/odd.cpp", '// Odd.\n#include "lib/base/leaf.hpp"\n', 2),
}


def grow(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def breaches_with(check, files):
    with tempfile.TemporaryDirectory(prefix="starlease-tidy-") as scratch:
        grow(Path(scratch), files)
        return {rule: [(str(breach.path), breach.line) for breach in breaches]
                for rule, breaches in check(Path(scratch)).items() if breaches}


def planted_breaches(check):
    """(name, complaints) of the clean tree and of each planted breach; no complaint is right."""
    clean = breaches_with(check, CLEAN)
    results = [("a clean tree", [f"found {clean} in a clean tree"] if clean else [])]
    for name, rule, path, text, line in PLANTED:
        files = {**CLEAN, path: CLEAN.get(path, "") + text}
        if name in COMPANIONS:
            path, text, line = COMPANIONS[name]
            files[path] = text
        found = breaches_with(check, files)
        seen = (path, line) in found.get(rule, [])
        results.append((name, [] if seen else [f"{path}:{line} not found by '{rule}' in {found}"]))
    return results
