"""Calls of the function library as lua/README.md states them, by name. Each `*_command` gives the
arguments of one FCALL; `Leases` knows which partition and what it was granted."""

import base64
import hashlib
import itertools
import json
import os
import subprocess
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

COMPONENTS = ("tenant_id", "program_id", "target_namespace", "target_id", "actor_name",
              "workflow_name", "operation_class")
GATE_BLOCK = ("reason", "observed", "server_id", "gate_server_id", "state", "epoch", "token_floor",
              "highest_us", "sequence", "largest_ttl_ms", "recovered_at", "grace_until",
              "namespace_id", "partition_count", "schema_version", "quarantined", "time_us")
RECORD_BLOCK = ("state", "token", "epoch", "acquired_at", "renewed_at", "expires_at", "ttl_ms",
                "maximum_lifetime_ms", "renew_sequence", "ended_at", "end_reason", "lease_id",
                "owner_principal_id", "owner_client_id", "owner_credential_id",
                "service_instance_id", *COMPONENTS, "execution_id", "job_id", "trace_id",
                "request_id", "metadata")
DOCUMENT = ("type", "revision", "token", "accepted_at", "sequence", "next_due_at",
            "completed_execution_id", "lease_id", "execution_id", "trace_id", "body")
LISTED = ("position", "lease_id", "token", "acquired_at", "renewed_at", "expires_at", "ttl_ms",
          *COMPONENTS)
GRANT = ("lease_id", "token", "acquired_at", "renewed_at", "expires_at", "ttl_ms")

_serial = itertools.count(1)


def built_library():
    """The library's text: from the build, or bundled here as meson does."""
    given = os.environ.get("STARLEASE_LUA")
    if given:
        return Path(given).read_text(encoding="utf-8")
    build = os.environ.get("STARLEASE_BUILD")
    built = Path(build) / "lua/starlease.lua" if build else None
    if built and built.exists():
        return built.read_text(encoding="utf-8")
    return bundle()


def lua_files():
    """The library's files in their order, as lua/meson.build names them."""
    text = (ROOT / "lua/meson.build").read_text(encoding="utf-8")
    listed = text[text.index("files("):text.index(")")]
    return [ROOT / "lua" / name.strip().strip("',") for name in listed.splitlines()[1:]
            if name.strip()]


def bundle():
    out = subprocess.run(["/usr/bin/python3", ROOT / "lua/bundle.py", "--lua", "/dev/stdout",
                          *lua_files()], check=True, capture_output=True, text=True)
    return out.stdout


def sha256(text):
    return hashlib.sha256(text.encode()).digest()


def compact(*parts):
    return json.dumps(parts, separators=(",", ":"), ensure_ascii=False)


def serial(prefix):
    """A new id of the length that the daemon's have."""
    return f"{prefix}_{next(_serial):026d}"


@dataclass
class Request:
    """An acquisition and, once granted, the lease."""

    target: str
    tenant_id: str = "tenant-main"
    program_id: str = "program-a"
    target_namespace: str = "starintel-target"
    actor_name: str = "usernamegen"
    workflow_name: str = "default"
    operation_class: str = "default"
    owner_principal_id: str = "prn_actor_01"
    owner_client_id: str = "client_01"
    owner_credential_id: str = "key_01"
    service_instance_id: str = "instance_01kes2v5x8d4w9q3m7t6bchz0f"
    lease_id: str = ""
    ttl_ms: int = 30000
    maximum_lifetime_ms: int = 300000
    execution_id: str = "execution_01kes2v5x8d4w9q3m7t6"
    job_id: str = "job_01kes2v5x8d4w9q3m7t6"
    trace_id: str = "4bf92f3577b34da6a3ce929d0e0e4736"
    metadata: str = "{}"
    request_id: str = field(default_factory=lambda: serial("request"))
    scope: str = ""
    request_digest: bytes = b""
    retention_ms: int = 400000
    refusal_retention_ms: int = 0
    record_retention_ms: int = 60000
    correlation_id: str = field(default_factory=lambda: serial("corr"))
    decision_id: str = field(default_factory=lambda: serial("dec"))
    principal_class: str = "worker"
    deadline_ms: int = 0
    lock_delay_ms: int = 0
    token: int = 0
    expires_at: int = 0
    digest: bytes = b""

    def __post_init__(self):
        self.target_id = self.target
        self.digest = self.digest or sha256(compact(*self.identity()))
        if not self.lease_id:
            suffix = base64.urlsafe_b64encode(self.digest).decode().rstrip("=")
            self.lease_id = f"{serial('lease')}_{suffix}"
        self.scope = self.scope or self.scope_of("acquire")
        self.request_digest = self.request_digest or sha256(
            compact(self.ttl_ms, self.maximum_lifetime_ms, self.metadata, self.execution_id))

    def identity(self):
        return [getattr(self, name) for name in COMPONENTS]

    def scope_of(self, operation, request_id=None):
        text = compact(operation, self.digest.hex(), self.owner_principal_id,
                       request_id or self.request_id)
        return base64.urlsafe_b64encode(sha256(text)).decode().rstrip("=")

    def but(self, **changes):
        """A copy with other values; what is derived from them is derived again."""
        kept = {one.name: getattr(self, one.name) for one in fields(self)}
        for derived in ("scope", "request_digest", "digest", "lease_id"):
            kept[derived] = type(kept[derived])()
        return Request(**{**kept, **changes})

    def altered(self, **changes):
        """A copy with exactly these values changed: for what a confused caller might send."""
        return replace(self, **changes)


class Leases:
    """One partition's functions."""

    def __init__(self, client, namespace="test", partition=0):
        self.client = client
        self.namespace = namespace
        self.tag = f"{{starlease:{namespace}:{partition}}}"
        self.gate = self.tag + "gate"

    def key(self, kind, request=None, scope=None):
        """A key's name as bytes; `kind` as in docs/data-model.md."""
        tail = {"lease": lambda: request.digest, "doc": lambda: request.digest,
                "fence": lambda: request.digest[:2].hex().encode(),
                "idem": lambda: (scope or request.scope).encode()}
        head = (self.tag + kind).encode()
        return head + b":" + tail[kind]() if kind in tail else head

    def command(self, function, *arguments, verb="FCALL"):
        return (verb, f"starlease1_{function}", 1, self.gate, *arguments)

    def call(self, function, *arguments):
        return self.client(*self.command(function, *arguments))

    # --- commands

    def request(self, target="target_01", **values):
        return Request(target, **values)

    def acquire_command(self, r):
        return self.command(
            "acquire", r.digest, *r.identity(), r.owner_principal_id, r.owner_client_id,
            r.owner_credential_id, r.service_instance_id, r.lease_id, r.ttl_ms,
            r.maximum_lifetime_ms, r.execution_id, r.job_id, r.trace_id, r.metadata, r.request_id,
            r.scope, r.request_digest, r.retention_ms, r.refusal_retention_ms,
            r.record_retention_ms, sha256(r.owner_principal_id)[:8],
            sha256(compact(r.tenant_id, r.program_id))[:8],
            sha256(compact(r.target_namespace, r.target_id))[:8], r.correlation_id,
            r.decision_id, r.principal_class, r.deadline_ms, r.lock_delay_ms)

    @staticmethod
    def holder(r):
        return (r.digest, r.lease_id, r.token, r.owner_principal_id, r.service_instance_id)

    def renew_command(self, requests, sequence, ttl_ms=30000, deadline_ms=0):
        each = itertools.chain.from_iterable(
            (*self.holder(r), ttl_ms, sequence) for r in requests)
        return self.command("renew", deadline_ms, "", *each)

    def renew_once_command(self, r, ttl_ms=30000, request_id=None, retention_ms=400000,
                           refusal_retention_ms=0, digest_of="", deadline_ms=0):
        request_id = request_id or serial("request")
        return self.command(
            "renew_once", *self.holder(r), ttl_ms, request_id, r.scope_of("renew", request_id),
            sha256(compact("renew", r.lease_id, r.token, ttl_ms, digest_of)), retention_ms,
            refusal_retention_ms, r.correlation_id, r.decision_id, r.principal_class, deadline_ms)

    def release_command(self, r, request_id=None, retention_ms=400000, refusal_retention_ms=0,
                        terminal_retention_ms=60000, digest_of="", deadline_ms=0):
        request_id = request_id or serial("request")
        return self.command(
            "release", *self.holder(r), request_id, r.scope_of("release", request_id),
            sha256(compact("release", r.lease_id, r.token, digest_of)), retention_ms,
            refusal_retention_ms, terminal_retention_ms, r.correlation_id, r.decision_id,
            r.principal_class, deadline_ms)

    def commit_command(self, r, write=None, request_id=None, retention_ms=400000,
                       refusal_retention_ms=0, deadline_ms=0, expires_at=None, digest_of=""):
        """`write`: the document's fields by name; None only authorizes."""
        request_id = request_id or serial("request")
        write = {} if write is None else {"type": "result", "body": "{}", **write}
        return self.command(
            "commit", r.digest, r.lease_id, r.token, r.owner_principal_id, r.owner_client_id,
            r.owner_credential_id, r.service_instance_id,
            r.expires_at if expires_at is None else expires_at, r.execution_id, r.trace_id,
            "document" if write else "authorize", write.get("name", ""), write.get("type", ""),
            write.get("body", ""), write.get("expect_revision", 0), write.get("sequence", 0),
            write.get("completed_execution_id", ""), write.get("next_due_at", 0), request_id,
            r.scope_of("commit", request_id),
            sha256(compact("commit", r.lease_id, r.token, repr(write), digest_of)), retention_ms,
            refusal_retention_ms, r.correlation_id, r.decision_id, r.principal_class, deadline_ms)

    def invalidate_command(self, r, operation="revoke", request_id=None, why="leaked",
                           refusal_retention_ms=0, deadline_ms=0, digest_of=""):
        request_id = request_id or serial("request")
        return self.command(
            "invalidate", operation, r.digest, r.lease_id, r.token, why, '{"signed":"text"}',
            "signature", "key_ops", "prn_admin", "client_admin", "uid:0", "instance_admin",
            request_id, r.scope_of(operation, request_id),
            sha256(compact(operation, r.lease_id, r.token, why, digest_of)), 400000,
            refusal_retention_ms, r.correlation_id, r.decision_id, "administrator", deadline_ms)

    def inspect_command(self, r, lease_id=""):
        return self.command("inspect", r.digest, lease_id, verb="FCALL_RO")

    def resolve_command(self, r, operation="acquire", scope=None):
        return self.command("resolve", r.digest, operation, scope or r.scope, verb="FCALL_RO")

    def list_command(self, by, r, after=b"", limit=100):
        """The active leases of a request's owner, target or program."""
        of_owner, of_target = by == "owner", by == "target"
        return self.command(
            "list", by, r.owner_principal_id if of_owner else "",
            *("", "") if of_owner else (r.tenant_id, r.program_id),
            *(r.target_namespace, r.target_id) if of_target else ("", ""),
            sha256(r.owner_principal_id)[:8], sha256(compact(r.tenant_id, r.program_id))[:8],
            sha256(compact(r.target_namespace, r.target_id))[:8], after, limit, verb="FCALL_RO")

    def history_command(self, r, before="", limit=50):
        return self.command("history", r.digest, before, limit, verb="FCALL_RO")

    # --- calls

    def init(self, partition_count=1):
        return self.call("gate_init", self.namespace, partition_count, serial("request"), "", "",
                         "operator", "prn_admin")

    def adopt(self, requests):
        """Takes each granted token from the store."""
        found = self.client.pipeline([self.inspect_command(r) for r in requests])
        for request, answer in zip(requests, found):
            request.token = answer[5]

    def acquire(self, request):
        """The answer; a grant is kept in `request`."""
        answer = self.client(*self.acquire_command(request))
        if answer[0] == b"acquired":
            request.lease_id, request.token = answer[4].decode(), answer[5]
            request.expires_at = answer[8]
        return answer

    def held(self, target="target_01", **values):
        """A lease that was granted."""
        request = self.request(target, **values)
        answer = self.acquire(request)
        assert answer[0] == b"acquired", answer
        return request

    def renew(self, requests, sequence, **values):
        return self.client(*self.renew_command(requests, sequence, **values))

    def renew_once(self, request, **values):
        return self.client(*self.renew_once_command(request, **values))

    def release(self, request, **values):
        return self.client(*self.release_command(request, **values))

    def commit(self, request, write=None, **values):
        return self.client(*self.commit_command(request, write, **values))

    def document(self, request, name):
        """The stored document by the names of its fields; None if there is none."""
        answer = self.client(*self.command("document", request.digest, name, verb="FCALL_RO"))
        if answer[0] == b"not_found":
            return None
        assert answer[0] == b"found", answer
        return dict(zip(DOCUMENT, answer[4:]))

    def invalidate(self, request, operation="revoke", **values):
        return self.client(*self.invalidate_command(request, operation, **values))

    def inspect(self, request, lease_id=""):
        return self.client(*self.inspect_command(request, lease_id))

    def resolve(self, request, operation="acquire", scope=None):
        return self.client(*self.resolve_command(request, operation, scope))

    def list(self, by, request, after=b"", limit=100):
        """(leases by the names of their fields, reached, more, skipped)."""
        answer = self.client(*self.list_command(by, request, after, limit))
        assert answer[0] == b"listed", answer
        more, reached, skipped, *rest = answer[4:]
        size = len(LISTED)
        assert len(rest) % size == 0
        leases = [dict(zip(LISTED, rest[i:i + size])) for i in range(0, len(rest), size)]
        return leases, reached, more, skipped

    def history(self, request, before="", limit=50):
        """(records by the names of their fields, the id to go on from, skipped)."""
        answer = self.client(*self.history_command(request, before, limit))
        assert answer[0] == b"history", answer
        going_on, skipped, *rest = answer[4:]
        size = len(RECORD_BLOCK)
        assert len(rest) % size == 0
        records = [dict(zip(RECORD_BLOCK, rest[i:i + size])) for i in range(0, len(rest), size)]
        return records, going_on.decode(), skipped

    def sweep(self, limit=100):
        return self.call("sweep", limit, "")

    def gate_block(self):
        """The gate by the names of its fields, with the answer's status."""
        answer = self.client(*self.command("gate_read", verb="FCALL_RO"))
        return {"answer": answer[0], **dict(zip(GATE_BLOCK, answer[4:]))}

    def recover(self, observed=None, wall_ms=None, tolerance_ms=500, seen_token=0, grace="ttl",
                least_grace_ms=0, keep=0, seen_sequence=0):
        gate = self.gate_block()
        wall_ms = gate["time_us"] // 1000 if wall_ms is None else wall_ms
        return self.call("recover", gate["observed"] if observed is None else observed, wall_ms,
                         tolerance_ms, seen_token, grace, least_grace_ms, keep, seen_sequence,
                         self.namespace, 1, serial("request"), "", "", "", "")
