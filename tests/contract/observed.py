"""What a partition holds about one lock, read from its keys and not through the functions: the
record, the counters, the stored answers, the terminal evidence, the audit entries, the documents.
docs/data-model.md is the authority. Never writes."""

from collections import namedtuple

STATES = {1: "active", 2: "expired", 3: "released", 4: "revoked"}
OPERATIONS = {1: "acquire", 2: "renew", 3: "release", 4: "commit"}
OUTCOMES = {1: "acquired", 2: "renewed", 3: "released", 4: "conflict", 5: "lost", 6: "committed",
            7: "commit_conflict"}
AUDIT_FIELDS = ("event", "code", "lease_id", "token", "previous_state", "state", "request_id",
                "reason")

Record = namedtuple("Record", "token epoch acquired_at state ended_at renewed_at expires_at "
                              "lease_id owner instance")
Counters = namedtuple("Counters", "given committed is_quarantined")
Answer = namedtuple("Answer", "operation outcome")
End = namedtuple("End", "state lease_id token")
Entry = namedtuple("Entry", AUDIT_FIELDS)


def number(packed):
    return int.from_bytes(packed, "big")


def texts(packed, count):
    """The first `count` texts of `packed`, each behind its length of one byte."""
    found, at = [], 0
    for _ in range(count):
        end = at + 1 + packed[at]
        found.append(packed[at + 1:end].decode())
        at = end
    return found


def record_of(packed):
    lengths = (3, 7, 7, 6, 4, 1, 1, 6, 6, 6, 7)
    parts, at = [], 0
    for length in lengths:
        parts.append(number(packed[at:at + length]))
        at += length
    _, token, epoch, acquired, _, state, _, ended, renewed, expires, _ = parts
    return Record(token, epoch, acquired, STATES[state], ended, renewed, expires,
                  *texts(packed[at:], 3))


class Lock:
    """One lock of a partition; `digest` is that of its identity."""

    def __init__(self, client, digest, namespace="test"):
        self.client = client
        self.digest = digest
        self.tag = f"{{starlease:{namespace}:0}}".encode()

    def key(self, kind):
        return self.tag + kind.encode() + b":" + self.digest

    def packed(self):
        """The record's bytes; None if there is none."""
        return self.client("GET", self.key("lease"))

    def record(self):
        packed = self.packed()
        return packed and record_of(packed)

    def fence(self):
        """Key and field of the counters."""
        return self.tag + b"fence:" + self.digest[:2].hex().encode(), self.digest[2:]

    def counters(self):
        packed = self.client("HGET", *self.fence()) or bytes(15)
        return Counters(number(packed[:7]), number(packed[7:14]), packed[14] == 1)

    def answers(self):
        """The stored answers of the whole partition, sorted; an acquisition has one of its own
        only once its record has gone."""
        keys = self.client("KEYS", self.tag.replace(b"{", b"\\{") + b"idem:*")
        heads = [self.client("GET", key) for key in keys]
        return sorted(Answer(OPERATIONS[head[1]], OUTCOMES[head[2]]) for head in heads)

    def ends(self):
        """The terminal evidence of this lock, oldest first."""
        found = []
        for _, fields in self.client("XRANGE", self.tag + b"history", "-", "+"):
            entry = dict(zip(fields[::2], fields[1::2]))
            if entry[b"digest"] == self.digest:
                ended = record_of(entry[b"record"])
                found.append(End(ended.state, ended.lease_id, ended.token))
        return found

    def audit(self):
        """Every entry of the partition, oldest first."""
        found = []
        for _, fields in self.client("XRANGE", self.tag + b"audit", "-", "+"):
            entry = {name.decode(): value.decode()
                     for name, value in zip(fields[::2], fields[1::2])}
            found.append(Entry(*(entry[name] for name in AUDIT_FIELDS)))
        return found

    def events(self, since=()):
        """(event, code) of the entries behind those of an earlier audit()."""
        return [(entry.event, entry.code) for entry in self.audit()[len(since):]]

    def documents(self):
        """Name and bytes of each document."""
        flat = self.client("HGETALL", self.key("doc"))
        return dict(zip(flat[::2], flat[1::2]))

    def due(self):
        """When the expiry index says that the lease ends; None if it is not there."""
        score = self.client("ZSCORE", self.tag + b"expiry", self.digest)
        return None if score is None else int(float(score))

    def all(self):
        """All of it, to be compared."""
        return (self.packed(), self.counters(), self.answers(), self.ends(), self.audit(),
                self.documents(), self.due(),
                self.client("HGETALL", self.tag + b"quarantine"))

    def standing(self):
        """All but the audit: what a refusal, which leaves an entry, must not touch."""
        everything = self.all()
        return everything[:4] + everything[5:]
