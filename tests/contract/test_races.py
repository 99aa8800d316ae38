"""The contract's race table, function by function on a real Valkey: each interleaving is forced,
in both orders where a race has two, and what is judged is what the store holds afterwards: the
record, the counters, the stored answers, the terminal evidence and the audit entries. Rows about
lost connections and daemons are in test_races_of_daemons.py."""

import struct

import pytest

from observed import Answer, End, Lock
from support.library import serial

SHORT_MS = 1000
ACQUIRED = ("target_lease_acquire", "lease_acquired")
RENEWED = ("target_lease_renew", "lease_renewed")
RELEASED = ("target_lease_release", "lease_released")
EXPIRED = ("target_lease_expire", "expired")
SWEPT = ("target_lease_expire", "swept")
COMMITTED = ("target_lease_commit", "lease_committed")
REJECTED = ("target_lease_commit_rejected", "lease_lost")
REPORT = {"name": "report", "body": '{"by":"former"}'}
# Every kind of write that the fence guards; None only authorizes.
WRITES = {"authorize": None, "target_state": {**REPORT, "type": "target_state"}, "result": REPORT,
          "checkpoint": {**REPORT, "type": "checkpoint", "sequence": 7},
          "terminal_state": {**REPORT, "type": "terminal_state"},
          "schedule": {**REPORT, "type": "schedule", "completed_execution_id": "execution_1",
                       "next_due_at": 2000}}


def lock_of(leases, request):
    return Lock(leases.client, request.digest)


def rival(leases, **values):
    """Another owner's acquisition of the same lock."""
    return leases.request(owner_principal_id="prn_rival", service_instance_id="instance_rival",
                          execution_id="execution_rival", **values)


def succeed(leases, **values):
    """A rival's acquisition, granted."""
    successor = rival(leases, **values)
    assert leases.acquire(successor)[0] == b"acquired"
    return successor


def is_held_by(lock, lease):
    """The store has exactly this lease as the active one."""
    record = lock.record()
    assert (record.state, record.lease_id, record.token, record.owner) == \
        ("active", lease.lease_id, lease.token, lease.owner_principal_id)
    assert lock.due() == record.expires_at
    return True


# --- two concurrent acquires ----------------------------------------------------------------------

@pytest.mark.parametrize("first", [0, 1])
def test_of_two_acquires_the_first_wins_and_one_token_is_spent(leases, first):
    """Both are on their way before either is answered."""
    requests = [leases.request(), rival(leases)]
    winner, loser = requests[first], requests[1 - first]
    lock = lock_of(leases, winner)
    before, entries = lock.counters(), lock.audit()
    won, lost = leases.client.pipeline([leases.acquire_command(winner),
                                        leases.acquire_command(loser)])
    assert won[0] == b"acquired" and lost[0] == b"conflict" and lost[5] == b""
    winner.token = won[5]
    assert before.given == 0 and winner.token == leases.gate_block()["token_floor"] + 1
    assert lock.counters() == (winner.token, 0, False)
    assert is_held_by(lock, winner)
    assert lock.events(entries) == [ACQUIRED]
    assert lock.answers() == [] and lock.ends() == []
    assert leases.resolve(loser)[0] == b"not_found"


# --- acquire response lost ------------------------------------------------------------------------

def end_released(leases, _, lease):
    assert leases.release(lease)[0] == b"released"


def end_expired(_, clock, __):
    clock.by_ms(SHORT_MS + 100)


def test_lost_answer_of_an_acquire_is_given_again_while_the_lease_is_active(server, leases):
    request = leases.request()
    with server.client(text=False, protocol=2) as broken:
        first = broken(*leases.acquire_command(request))  # and nobody hears it
    lock = lock_of(leases, request)
    before = lock.all()
    again = leases.acquire(request.altered(lease_id=serial("lease")))
    assert again[0] == b"replayed" and again[4] == b"active" and again[7:] == first[4:]
    assert lock.all() == before and lock.counters().given == first[5]


@pytest.mark.parametrize("successor_comes", [False, True])
@pytest.mark.parametrize("end", [end_released, end_expired])
def test_lost_answer_of_an_acquire_is_given_again_after_the_end(leases, clock, end,
                                                                successor_comes):
    request = leases.request(ttl_ms=SHORT_MS)
    first = leases.acquire(request)
    end(leases, clock, request)
    successor = succeed(leases) if successor_comes else None
    lock = lock_of(leases, request)
    before = lock.all()
    again = leases.acquire(request)
    assert again[0] == b"replayed" and again[4].decode() == end.__name__[4:]
    assert again[5] == 0 and again[7:] == first[4:]
    assert lock.all() == before
    if successor:
        assert is_held_by(lock, successor) and successor.token == first[5] + 1
        assert Answer("acquire", "acquired") in lock.answers()


# --- renew races expiry ---------------------------------------------------------------------------

def renew_timed(leases, lease):
    return leases.renew_command([lease], 10, ttl_ms=SHORT_MS)


def renew_asked(leases, lease):
    return leases.renew_once_command(lease, ttl_ms=SHORT_MS)


RENEWALS = pytest.mark.parametrize("renewal", [renew_timed, renew_asked])


def is_renewed(answer):
    return answer[0] == b"renewed" and (len(answer) > 6 or answer[4] == 0)


def is_refused(answer, state):
    """`state`: in which the refusal says that the lease has ended."""
    codes = {b"expired": 3, b"released": 4, b"revoked": 5}
    if answer[0] == b"renewed":
        return answer[4] == codes[state]
    return answer[0] == b"lost" and answer[4] == state


@RENEWALS
def test_renewal_before_the_expiry_wins_and_the_expiry_does_nothing(leases, clock, renewal):
    lease = leases.held(ttl_ms=SHORT_MS)
    lock = lock_of(leases, lease)
    given = lock.record()
    clock.by_ms(SHORT_MS - 400)
    assert is_renewed(leases.client(*renewal(leases, lease)))
    renewed = lock.record()
    assert renewed.expires_at == renewed.renewed_at + SHORT_MS > given.expires_at
    clock.by_ms(SHORT_MS + 100)  # past the first end
    assert leases.sweep()[4] == 0
    assert leases.acquire(rival(leases))[0] == b"conflict"
    assert is_held_by(lock, lease) and lock.record() == renewed
    assert lock.counters().given == lease.token and lock.ends() == []


@RENEWALS
@pytest.mark.parametrize("is_swept", [False, True])
def test_renewal_after_the_expiry_revives_nothing(leases, clock, renewal, is_swept):
    lease = leases.held(ttl_ms=SHORT_MS)
    lock = lock_of(leases, lease)
    clock.by_ms(SHORT_MS + 100)
    if is_swept:
        assert leases.sweep()[4] == 1
    before = lock.all()
    assert is_refused(leases.client(*renewal(leases, lease)), b"expired")
    assert lock.all() == before
    # Nor does it once the clock says again that there is time left.
    assert leases.renew([leases.held("other")], 10)[4] == 0
    before = lock.standing()
    clock.by_ms(0)
    assert is_refused(leases.client(*renewal(leases, lease)), b"expired")
    assert lock.standing() == before
    successor = succeed(leases)
    assert successor.token == lease.token + 1 and is_held_by(lock, successor)
    assert lock.ends() == [End("expired", lease.lease_id, lease.token)]


# --- renew races release, and the revocation of a recovery ----------------------------------------

@RENEWALS
def test_renewal_before_the_release_is_done_and_released(leases, clock, renewal):
    lease = leases.held(ttl_ms=SHORT_MS)
    lock = lock_of(leases, lease)
    given, entries = lock.record(), lock.audit()
    clock.by_ms(SHORT_MS - 600)
    renewed, released = leases.client.pipeline([renewal(leases, lease),
                                                leases.release_command(lease)])
    assert is_renewed(renewed) and released[0] == b"released"
    record = lock.record()
    assert record.state == "released" and record.ended_at == released[4]
    assert record.renewed_at > given.renewed_at and record.expires_at > given.expires_at
    assert lock.ends() == [End("released", lease.lease_id, lease.token)] and lock.due() is None
    assert lock.events(entries) == [RENEWED, RELEASED]
    by_request = [Answer("renew", "renewed")] if renewal is renew_asked else []
    assert lock.answers() == [Answer("release", "released"), *by_request]


@RENEWALS
def test_renewal_after_the_release_is_lost(leases, renewal):
    lease = leases.held(ttl_ms=5000)
    lock = lock_of(leases, lease)
    entries = lock.audit()
    released, renewed = leases.client.pipeline([leases.release_command(lease),
                                                renewal(leases, lease)])
    assert released[0] == b"released" and is_refused(renewed, b"released")
    record = lock.record()
    assert record.state == "released" and record.expires_at == lease.expires_at
    assert lock.ends() == [End("released", lease.lease_id, lease.token)] and lock.due() is None
    assert lock.events(entries) == [RELEASED]
    assert lock.answers() == [Answer("release", "released")]
    assert lock.counters() == (lease.token, 0, False)


@RENEWALS
@pytest.mark.parametrize("renews_first", [True, False])
def test_revocation_by_a_recovery_ends_the_lease_whichever_comes_first(leases, renewal,
                                                                       renews_first):
    lease = leases.held(ttl_ms=5000)
    lock = lock_of(leases, lease)
    if renews_first:
        assert is_renewed(leases.client(*renewal(leases, lease)))
    assert leases.recover(grace="none")[0] == b"recovered"
    before = lock.all()
    assert is_refused(leases.client(*renewal(leases, lease)), b"revoked")
    assert lock.all() == before
    successor = succeed(leases)
    assert successor.token > lease.token and is_held_by(lock, successor)
    assert lock.ends() == [End("revoked", lease.lease_id, lease.token)]


# --- stale release against a successor ------------------------------------------------------------

@pytest.mark.parametrize("end", [end_released, end_expired])
def test_release_after_a_reacquisition_leaves_the_successor(leases, clock, end):
    former = leases.held(ttl_ms=SHORT_MS)
    end(leases, clock, former)
    successor = succeed(leases)
    lock = lock_of(leases, former)
    before = lock.all()
    assert leases.release(former)[0] == b"lost"
    assert lock.all() == before and is_held_by(lock, successor)
    # A release that is right but for the lease, or but for the token, is as stale.
    for stale in (successor.altered(lease_id=former.lease_id),
                  successor.altered(token=former.token)):
        assert leases.release(stale)[0] == b"lost"
    assert lock.all() == before


def test_release_before_the_reacquisition_makes_room_for_it(leases):
    former, successor = leases.held(), rival(leases)
    lock = lock_of(leases, former)
    released, acquired = leases.client.pipeline([leases.release_command(former),
                                                 leases.acquire_command(successor)])
    assert released[0] == b"released" and acquired[0] == b"acquired"
    successor.token = acquired[5]
    assert successor.token == former.token + 1 and is_held_by(lock, successor)
    assert lock.ends() == [End("released", former.lease_id, former.token)]
    assert lock.answers() == [Answer("acquire", "acquired"), Answer("release", "released")]


# --- delayed expiry cleanup -----------------------------------------------------------------------

def test_cleanup_before_the_successor_leaves_the_evidence_once(leases, clock):
    former = leases.held(ttl_ms=SHORT_MS)
    lock = lock_of(leases, former)
    entries = lock.audit()
    clock.by_ms(SHORT_MS + 100)
    assert leases.sweep()[4:7] == [1, 0, 0]
    assert lock.record().state == "expired" and lock.due() is None
    successor = succeed(leases)
    assert is_held_by(lock, successor) and successor.token == former.token + 1
    assert lock.ends() == [End("expired", former.lease_id, former.token)]
    assert lock.events(entries) == [SWEPT, ACQUIRED]


def test_cleanup_that_was_meant_for_the_predecessor_leaves_the_successor(leases, clock):
    """The index still says that the lock is overdue, as a late notification would."""
    former = leases.held(ttl_ms=SHORT_MS)
    lock = lock_of(leases, former)
    entries = lock.audit()
    clock.by_ms(SHORT_MS + 100)
    successor = succeed(leases)
    held, counters = lock.record(), lock.counters()
    leases.client("ZADD", leases.key("expiry"), former.expires_at, former.digest)
    assert leases.sweep()[4:7] == [0, 1, 0]
    assert lock.record() == held and is_held_by(lock, successor)
    assert lock.counters() == counters == (successor.token, 0, False)
    assert lock.ends() == [End("expired", former.lease_id, former.token)]
    assert lock.events(entries) == [EXPIRED, ACQUIRED, SWEPT]


# --- former holders commit ------------------------------------------------------------------------

@pytest.mark.parametrize("kind", WRITES)
def test_every_kind_of_write_is_accepted_from_the_holder(leases, kind):
    """Or else the refusals below would prove nothing."""
    lease = leases.held()
    assert leases.commit(lease, WRITES[kind])[0] == b"committed"
    lock = lock_of(leases, lease)
    assert lock.counters().committed == lease.token
    assert list(lock.documents()) == ([] if WRITES[kind] is None else [b"report"])


def test_commit_before_the_expiry_stands_after_it(leases, clock):
    lease = leases.held(ttl_ms=SHORT_MS)
    lock = lock_of(leases, lease)
    entries = lock.audit()
    assert leases.commit(lease, REPORT)[0] == b"committed"
    clock.by_ms(SHORT_MS + 100)
    assert leases.sweep()[4] == 1
    document = leases.document(lease, "report")
    assert (document["lease_id"].decode(), document["token"]) == (lease.lease_id, lease.token)
    assert lock.counters() == (lease.token, lease.token, False)
    assert lock.answers() == [Answer("commit", "committed")]
    assert lock.events(entries) == [COMMITTED, SWEPT]


@pytest.mark.parametrize("kind", WRITES)
@pytest.mark.parametrize("is_swept", [False, True])
def test_commit_after_the_expiry_is_lost(leases, clock, kind, is_swept):
    lease = leases.held(ttl_ms=SHORT_MS)
    lock = lock_of(leases, lease)
    clock.by_ms(SHORT_MS + 100)
    if is_swept:
        assert leases.sweep()[4] == 1
    before, entries = lock.standing(), lock.audit()
    answer = leases.commit(lease, WRITES[kind])
    assert answer[0] == b"lost" and answer[4] == b"expired"
    assert lock.standing() == before and lock.documents() == {}
    assert lock.events(entries) == [REJECTED]
    assert lock.audit()[-1].lease_id == lease.lease_id


@pytest.mark.parametrize("successor_writes", [False, True])
@pytest.mark.parametrize("end", [end_released, end_expired])
def test_commit_after_a_new_acquisition_is_lost(leases, clock, end, successor_writes):
    former = leases.held(ttl_ms=SHORT_MS)
    end(leases, clock, former)
    successor = succeed(leases)
    if successor_writes:
        assert leases.commit(successor, {"name": "report"})[0] == b"committed"
    lock = lock_of(leases, former)
    before, entries = lock.standing(), lock.audit()
    revision = int(successor_writes)
    assert leases.commit(former, {**REPORT, "expect_revision": revision})[0] == b"lost"
    # The lower token is refused also in an envelope that is the successor's otherwise.
    forged = successor.altered(token=former.token)
    assert leases.commit(forged, {**REPORT, "expect_revision": revision})[0] == b"lost"
    assert lock.standing() == before and is_held_by(lock, successor)
    assert lock.events(entries) == [REJECTED] * 2
    assert lock.counters() == (successor.token, successor.token * successor_writes, False)


@pytest.mark.parametrize("kind", WRITES)
def test_lower_token_is_refused_although_its_record_is_back(leases, kind):
    """The durable mark alone refuses, where a record of before was put back by a bad copy."""
    former = leases.held()
    lock = lock_of(leases, former)
    of_before = lock.packed()
    leases.release(former)
    successor = succeed(leases)
    assert leases.commit(successor)[0] == b"committed"
    leases.client("SET", lock.key("lease"), of_before, "PX", 60000)
    assert lock.record().state == "active" and lock.record().lease_id == former.lease_id
    before, entries = lock.standing(), lock.audit()
    assert leases.commit(former, WRITES[kind])[0] == b"lost"
    assert lock.standing() == before and lock.events(entries) == [REJECTED]
    assert lock.counters() == (successor.token, successor.token, False)


def test_commit_before_the_new_acquisition_stands_and_the_next_goes_on_from_it(leases):
    former = leases.held()
    lock = lock_of(leases, former)
    assert leases.commit(former, REPORT)[0] == b"committed"
    leases.release(former)
    successor = succeed(leases)
    assert leases.document(former, "report")["token"] == former.token
    assert leases.commit(successor, {"name": "report"})[0] == b"commit_conflict"
    done = leases.commit(successor, {"name": "report", "expect_revision": 1})
    assert done[0] == b"committed" and done[5] == 2
    assert leases.document(former, "report")["token"] == successor.token
    assert lock.counters() == (successor.token, successor.token, False)


# --- one request id, two bodies -------------------------------------------------------------------

def two_bodies(leases, operation):
    """The lock, and two requests that differ in one input under one request id."""
    request_id = serial("request")
    if operation == "acquire":
        one = leases.request(request_id=request_id)
        other = leases.request(request_id=request_id, ttl_ms=one.ttl_ms - 1)
        return lock_of(leases, one), [leases.acquire_command(one), leases.acquire_command(other)]
    lease = leases.held()
    make = {"renew": lambda word: leases.renew_once_command(lease, request_id=request_id,
                                                            digest_of=word),
            "release": lambda word: leases.release_command(lease, request_id=request_id,
                                                           digest_of=word),
            "commit": lambda word: leases.commit_command(lease, {"name": word},
                                                         request_id=request_id)}[operation]
    return lock_of(leases, lease), [make("one"), make("other")]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("operation", ["acquire", "renew", "release", "commit"])
def test_second_body_under_a_request_id_changes_nothing(leases, operation, first):
    lock, bodies = two_bodies(leases, operation)
    done = leases.client(*bodies[first])
    assert done[0].decode() in ("acquired", "renewed", "released", "committed")
    before = lock.all()
    assert leases.client(*bodies[1 - first])[0] == b"idempotency_conflict"
    assert lock.all() == before
    assert leases.client(*bodies[first])[0] == b"replayed"
    assert lock.all() == before


# --- corruption -----------------------------------------------------------------------------------

@pytest.mark.parametrize("operation", ["acquire", "renew", "release", "commit", "sweep"])
@pytest.mark.parametrize("is_free", [False, True], ids=["held", "free"])
def test_corrupt_record_is_closed_whoever_meets_it_first(leases, clock, operation, is_free):
    lease = leases.held(ttl_ms=SHORT_MS)
    lock = lock_of(leases, lease)
    if is_free:
        leases.release(lease)
    damaged = lock.packed()[:-1]
    leases.client("SET", lock.key("lease"), damaged, "PX", 60000)
    if operation == "sweep":
        leases.client("ZADD", leases.key("expiry"), lease.expires_at, lease.digest)
    clock.by_ms(SHORT_MS + 100)
    entries, ends = lock.audit(), lock.ends()
    meet = {"acquire": lambda: leases.acquire(rival(leases)),
            "renew": lambda: leases.renew_once(lease), "release": lambda: leases.release(lease),
            "commit": lambda: leases.commit(lease, REPORT), "sweep": leases.sweep}
    answer = meet[operation]()
    assert answer[6] == 1 if operation == "sweep" else answer[0] == b"quarantined"
    new = [event for event, _ in lock.events(entries)]
    assert new.count("target_lease_quarantine") == 1
    for name in ("acquire", "renew", "release", "commit"):
        assert meet[name]()[0] == b"quarantined"
    assert lock.packed() == damaged and lock.ends() == ends and lock.documents() == {}
    assert lock.counters() == (lease.token, 0, True)
    assert leases.gate_block()["quarantined"] == 1
    assert leases.acquire(leases.request("neighbour"))[0] == b"acquired"


# --- the end of the numbers -----------------------------------------------------------------------

def test_last_token_is_given_once_and_never_again(leases):
    assert leases.recover(seen_token=2**53 - 2, grace="none")[0] == b"exhausted"
    assert leases.recover(seen_token=2**53 - 3, grace="none")[0] == b"recovered"
    last = leases.held()
    lock = lock_of(leases, last)
    assert lock.counters().given == last.token == 2**53 - 1
    leases.release(last)
    before = lock.all()
    assert leases.acquire(rival(leases))[0] == b"exhausted"
    assert lock.all() == before
    assert leases.recover(grace="none")[0] == b"exhausted"
    assert lock.all() == before


def test_other_locks_go_on_where_one_has_no_number_left(leases):
    spent = leases.held("spent")
    leases.release(spent)
    key, field = lock_of(leases, spent).fence()
    leases.client("HSET", key, field, struct.pack(">Q", 2**53 - 1)[1:] + bytes(8))
    before = lock_of(leases, spent).all()
    assert leases.acquire(leases.request("spent"))[0] == b"exhausted"
    assert lock_of(leases, spent).all() == before
    assert leases.acquire(leases.request("neighbour"))[0] == b"acquired"
