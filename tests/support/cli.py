"""Runs the command-line program as a user would."""

import json
import os
import subprocess

from support import processes, starleased

TIMEOUT_S = 30


class Cli:
    """starlease against one daemon's sockets."""

    def __init__(self, daemon):
        self.environment = {**os.environ, "STARLEASE_SOCKET": daemon.socket,
                            "STARLEASE_ADMIN_SOCKET": daemon.admin_socket}

    def command(self, *arguments):
        return [str(starleased.program("starlease")), *map(str, arguments)]

    def run(self, *arguments, **options):
        """Runs to its end; returncode, stdout and stderr as text."""
        return subprocess.run(self.command(*arguments), capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=False,
                              env={**self.environment, **options.pop("env", {})},
                              **{"stdin": subprocess.DEVNULL, **options})

    def json(self, *arguments, expect=0, **options):
        """Runs with --json; the one object it printed."""
        done = self.run("--json", *arguments, **options)
        assert done.returncode == expect, (done.returncode, done.stdout, done.stderr)
        return json.loads(done.stdout)

    def start(self, *arguments, **options):
        """Starts it with pipes at all three streams; the caller ends it."""
        return subprocess.Popen(self.command(*arguments), text=True, stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=processes.die_with_parent, env=self.environment,
                                **options)


def run_alone(*arguments):
    """Runs a command that needs no daemon."""
    return subprocess.run([str(starleased.program("starlease")), *map(str, arguments)],
                          capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
                          stdin=subprocess.DEVNULL)


def identity_word(identity):
    """An identity as the command line takes it."""
    return "/".join(identity[name] for name in ("tenant_id", "program_id", "target_namespace",
                                                "target_id", "actor_name"))
