"""Names of starlease's keys in Valkey, for tests that damage them. docs/data-model.md is the
authority."""

import base64

from support import resp

TAG = b"{starlease:tests:0}"
GATE = TAG + b"gate"
PARTITION_KEYS = {name: TAG + name.encode()
                  for name in ("expiry", "index", "history", "audit", "quarantine")}


def digest(grant):
    """The 32 bytes that a grant's lock key stands for."""
    return base64.urlsafe_b64decode(grant["envelope"]["lock_key"].rpartition(":")[2] + "=")


def lease_key(grant):
    return TAG + b"lease:" + digest(grant)


def fence_key(grant):
    """The hash that this identity's counters share with some others."""
    return TAG + b"fence:" + digest(grant)[:2].hex().encode()


def fence_field(direct, grant):
    """The field of that hash that belongs to this identity."""
    fields = [field for field in direct("HKEYS", fence_key(grant))
              if field in digest(grant) or digest(grant).endswith(field)]
    assert len(fields) == 1, fields
    return fields[0]


FOREIGN = {
    "string": ("SET", "not ours"),
    "empty string": ("SET", ""),
    "list": ("RPUSH", "a", "b"),
    "set": ("SADD", "a", "b"),
    "sorted set": ("ZADD", "1", "a"),
    "hash": ("HSET", "a", "b"),
    "stream": ("XADD", "*", "a", "b"),
}


def put_foreign(direct, key, kind):
    """Replaces `key` by a value that starlease never wrote."""
    command, *rest = FOREIGN[kind]
    direct("DEL", key)
    reply = direct(command, key, *rest)
    assert not isinstance(reply, resp.Error), reply
