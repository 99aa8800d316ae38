"""The rows of the contract's race table in which a daemon, a connection or Valkey goes away, with
real daemons and a proxy that keeps back, swallows or drops what the row says; and the races of two
daemons, in both orders. What is judged is what the store holds afterwards."""

import pytest

from observed import Answer, End, Lock
from support import ipc, proxy, store
from support.starleased import patience
from support.wait import eventually

TTL_MS = 8000
SHORT_TTL_MS = 1500
SOON_MS = 400
DEAD_AFTER_MS = 1500
LATER_MS = 10000
ACQUIRED = ("target_lease_acquire", "lease_acquired")
RELEASED = ("target_lease_release", "lease_released")
REJECTED = ("target_lease_commit_rejected", "lease_lost")


@pytest.fixture(name="daemon")
def fixture_daemon(link, configured):
    """Behind the proxy; a connection that answers no more is soon replaced."""
    return configured(link.listen_path, {"valkey.reconnect_max_ms": 100,
                                         "valkey.dead_after_ms": DEAD_AFTER_MS})


@pytest.fixture(name="worker")
def fixture_worker(daemon):
    with daemon.connect(timeout_s=20) as client:
        yield client


@pytest.fixture(name="other_daemon")
def fixture_other_daemon(daemon, backend, configured):
    """Beside it, with nothing between it and Valkey."""
    assert daemon.partitions()
    return configured(backend.socket)


@pytest.fixture(name="other")
def fixture_other(other_daemon):
    with other_daemon.connect(timeout_s=20) as client:
        yield client


def lock_of(direct, grant):
    return Lock(direct, store.digest(grant), "tests")


def free_lock(worker, direct):
    """An identity that was held once and is free, so that its lock has a digest and a counter."""
    grant = worker.acquire(ipc.identity())
    worker.release(grant)
    return grant["lease"]["lock_identity"], lock_of(direct, grant), ipc.token(grant)


def is_held_by(lock, grant):
    record = lock.record()
    assert (record.state, record.lease_id, record.token) == \
        ("active", ipc.lease_id(grant), ipc.token(grant))
    assert lock.counters().given == ipc.token(grant)
    return True


def resume_of(client):
    return {"service_instance_id": client.hello_answer["service_instance_id"],
            "resume": client.hello_answer["resume"]}


# --- two daemons ----------------------------------------------------------------------------------

@pytest.mark.parametrize("kept_back_wins", [True, False])
def test_of_two_daemons_acquires_one_wins(link, worker, other, direct, kept_back_wins):
    """The first daemon's call is on its way and kept back; the other's is made before or after it
    arrives."""
    wanted, lock, spent = free_lock(worker, direct)
    entries = lock.audit()
    link.add("acquire", proxy.HOLD)
    asked = worker.send("acquire", identity=wanted, ttl_ms=TTL_MS, timeout_ms=LATER_MS)
    link.await_event("fault", "acquire")
    if kept_back_wins:
        link.release()
        first = worker.answer(asked)
        second = other.call("acquire", identity=wanted, ttl_ms=TTL_MS)
    else:
        first = other.call("acquire", identity=wanted, ttl_ms=TTL_MS)
        link.release()
        second = worker.answer(asked)
    assert (first["code"], second["code"]) == ("lease_acquired", "lease_conflict")
    assert ipc.token(first) == spent + 1 and is_held_by(lock, first)
    assert lock.events(entries) == [ACQUIRED]


def test_release_that_was_kept_back_leaves_the_successor(link, worker, other, direct):
    former = worker.acquire(ipc.identity(), ttl_ms=SHORT_TTL_MS, renew="manual")
    lock = lock_of(direct, former)
    link.add("release", proxy.HOLD)
    asked = worker.send("release", lease_id=ipc.lease_id(former), timeout_ms=LATER_MS,
                        fencing_token=ipc.token(former))
    link.await_event("fault", "release")
    successor = other.acquire(former["lease"]["lock_identity"], ttl_ms=TTL_MS, wait_ms=5000,
                              timeout_ms=6000)
    entries = lock.audit()
    link.release()
    assert worker.answer(asked)["code"] == "lease_lost"
    assert ipc.token(successor) == ipc.token(former) + 1 and is_held_by(lock, successor)
    assert RELEASED not in lock.events(entries)
    assert lock.ends() == [End("expired", ipc.lease_id(former), ipc.token(former))]


def test_commit_that_was_kept_back_writes_nothing_over_the_successor(link, worker, other, direct):
    former = worker.acquire(ipc.identity(), ttl_ms=SHORT_TTL_MS, renew="manual")
    lock = lock_of(direct, former)
    link.add("commit", proxy.HOLD)
    write = {"kind": "document", "type": "result", "name": "report", "body": {"by": "former"},
             "expect_revision": 0}
    asked = worker.send("commit", envelope=former["envelope"], write=write, timeout_ms=LATER_MS)
    link.await_event("fault", "commit")
    successor = other.acquire(former["lease"]["lock_identity"], ttl_ms=TTL_MS, wait_ms=5000,
                              timeout_ms=6000)
    standing, entries = lock.standing(), lock.audit()
    link.release()
    assert worker.answer(asked)["code"] == "lease_lost"
    assert lock.documents() == {} and lock.events(entries) == [REJECTED]
    assert lock.counters() == standing[1] and is_held_by(lock, successor)


# --- acquire response lost; timeout after submission ----------------------------------------------

def test_acquire_whose_answer_is_cut_off_is_answered_by_its_request_id(link, worker, direct):
    wanted, lock, spent = free_lock(worker, direct)
    entries, request = lock.audit(), ipc.unique("request")
    fields = {"request_id": request, "ttl_ms": TTL_MS, "timeout_ms": LATER_MS}
    link.add("acquire", proxy.CUT)
    grant = worker.acquire(wanted, **fields)
    again = worker.acquire(wanted, **fields)
    assert again["replayed"] is True and again["lease"]["lease_id"] == ipc.lease_id(grant)
    assert ipc.token(again) == ipc.token(grant) == spent + 1 and is_held_by(lock, grant)
    assert lock.events(entries) == [ACQUIRED]


def test_timeout_after_submission_is_unknown_and_resolved_as_done(link, worker, direct):
    wanted, lock, spent = free_lock(worker, direct)
    entries, request = lock.audit(), ipc.unique("request")
    link.add("acquire", proxy.SWALLOW)
    unknown = worker.acquire(wanted, expect="lease_outcome_unknown", request_id=request,
                             ttl_ms=TTL_MS, timeout_ms=SOON_MS)
    assert unknown["retryable"] is True
    assert lock.record().state == "active" and lock.record().token == spent + 1
    found = worker.call("resolve", request_id=request, operation="acquire", identity=wanted,
                        timeout_s=20)
    assert (found["outcome"], found["current_state"]) == ("committed", "active")
    grant = worker.acquire(wanted, request_id=request, ttl_ms=TTL_MS, timeout_ms=LATER_MS)
    assert grant["replayed"] is True
    assert found["result"]["lease"]["lease_id"] == ipc.lease_id(grant)
    assert ipc.token(grant) == spent + 1 and is_held_by(lock, grant)
    assert lock.events(entries) == [ACQUIRED]


def test_timeout_of_what_never_arrived_is_unknown_and_done_once_by_the_retry(link, worker, direct):
    wanted, lock, spent = free_lock(worker, direct)
    before, entries, request = lock.standing(), lock.audit(), ipc.unique("request")
    link.add("acquire", proxy.DROP)
    worker.acquire(wanted, expect="lease_outcome_unknown", request_id=request, ttl_ms=TTL_MS,
                   timeout_ms=SOON_MS)
    assert lock.standing() == before and lock.events(entries) == []
    grant = worker.acquire(wanted, request_id=request, ttl_ms=TTL_MS, timeout_ms=LATER_MS)
    assert grant["replayed"] is False
    assert ipc.token(grant) == spent + 1 and is_held_by(lock, grant)
    assert lock.events(entries) == [ACQUIRED]


@pytest.mark.parametrize("operation", ["renew", "release", "commit"])
def test_unknown_outcome_of_the_others_is_resolved_and_done_once(link, worker, direct, operation):
    grant = worker.acquire(ipc.identity(), ttl_ms=TTL_MS, renew="manual")
    lock, request = lock_of(direct, grant), ipc.unique("request")
    word = {"renew": "renew_once"}.get(operation, operation)
    link.add(word, proxy.SWALLOW)
    call = getattr(worker, operation)
    call(grant, expect="lease_outcome_unknown", request_id=request, timeout_ms=SOON_MS)
    before = lock.all()
    outcome = {"renew": "renewed", "release": "released", "commit": "committed"}[operation]
    assert Answer(operation, outcome) in before[2]
    found = worker.call("resolve", request_id=request, operation=operation, timeout_s=20,
                        identity=grant["lease"]["lock_identity"])
    assert found["outcome"] == "committed"
    again = call(grant, request_id=request, timeout_ms=LATER_MS)
    assert again["replayed"] is True
    assert lock.all() == before


# --- the service crashes --------------------------------------------------------------------------

def ask_and_crash(link, daemon, direct, action):
    """A worker asks; `action` befalls its call; the daemon is killed and started again. The lock,
    its last token, and the arguments to come back and to ask again with."""
    client = daemon.connect()
    wanted, lock, spent = free_lock(client, direct)
    fields = {"identity": wanted, "request_id": ipc.unique("request"), "ttl_ms": TTL_MS,
              "timeout_ms": LATER_MS, "on_disconnect": "keep"}
    before = lock.standing()
    link.add("acquire", action)
    client.send("acquire", **fields)
    link.await_event("fault", "acquire")
    daemon.kill()
    client.wait_closed()
    daemon.start()
    daemon.wait_backend()
    return lock, before, spent, resume_of(client), fields


def test_crash_after_the_backend_has_committed_is_resolved_from_the_record(link, daemon, direct):
    lock, before, spent, resume, fields = ask_and_crash(link, daemon, direct, proxy.SWALLOW)
    record = lock.record()
    assert lock.standing() != before and (record.state, record.token) == ("active", spent + 1)
    with daemon.connect(**resume) as client:
        grant = client.call("acquire", **fields)
        assert grant["code"] == "lease_acquired" and grant["replayed"] is True
        assert (ipc.lease_id(grant), ipc.token(grant)) == (record.lease_id, record.token)
        assert is_held_by(lock, grant)
        assert [event for event in lock.events() if event == ACQUIRED] == [ACQUIRED] * 2
        client.release(grant)


def test_crash_before_the_backend_has_committed_is_done_once_by_the_retry(link, daemon, direct):
    lock, before, spent, resume, fields = ask_and_crash(link, daemon, direct, proxy.HOLD)
    assert lock.standing() == before
    with daemon.connect(**resume) as client:
        grant = client.call("acquire", **fields)
        assert grant["code"] == "lease_acquired" and grant["replayed"] is False
        assert ipc.token(grant) == spent + 1 and is_held_by(lock, grant)
        again = client.call("acquire", **fields)
        assert again["replayed"] is True and ipc.lease_id(again) == ipc.lease_id(grant)
        assert [event for event in lock.events() if event == ACQUIRED] == [ACQUIRED] * 2
        client.release(grant)


# --- the backend is away --------------------------------------------------------------------------

def test_backend_that_is_away_is_said_and_nothing_is_taken_for_done(link, daemon, direct):
    with daemon.connect(notify=["backend"], timeout_s=20) as client:
        grant = client.acquire(ipc.identity(), ttl_ms=TTL_MS, renew="manual")
        wanted, lock, spent = free_lock(client, direct)
        held = lock_of(direct, grant)
        link.refuse()
        link.cut()
        client.wait_event("backend_state", state="unavailable")
        before = lock.all(), held.all()
        request = ipc.unique("request")
        refusals = [client.acquire(wanted, expect="lease_backend_unavailable", request_id=request,
                                   timeout_ms=SOON_MS),
                    client.renew(grant, expect="lease_backend_unavailable", timeout_ms=SOON_MS),
                    client.release(grant, expect="lease_backend_unavailable", timeout_ms=SOON_MS),
                    client.commit(grant, expect="lease_backend_unavailable", timeout_ms=SOON_MS)]
        assert all(refusal["retryable"] is True for refusal in refusals)
        assert (lock.all(), held.all()) == before
        link.refuse(False)
        client.wait_event("backend_state", state="ready")
        done = client.acquire(wanted, request_id=request, ttl_ms=TTL_MS)
        assert done["replayed"] is False and ipc.token(done) == spent + 1
        assert is_held_by(lock, done) and is_held_by(held, grant)


# --- corruption and the last token, as a worker and an operator see them --------------------------

def test_corrupt_record_is_refused_and_told_to_the_operator(worker, daemon, direct):
    wanted, lock, spent = free_lock(worker, direct)
    direct("SET", lock.key("lease"), lock.packed()[:-1], "KEEPTTL")
    damaged, entries = lock.packed(), lock.audit()
    refusal = worker.acquire(wanted, expect="lease_backend_unavailable")
    assert refusal["retryable"] is True
    assert lock.packed() == damaged and lock.counters() == (spent, 0, True)
    assert lock.events(entries) == [("target_lease_quarantine", "quarantined")]
    assert "quarantine" in daemon.log_text()
    worker.acquire(wanted, expect="lease_backend_unavailable")
    assert lock.packed() == damaged and lock.counters() == (spent, 0, True)


def test_spent_counter_grants_nothing_and_is_told_to_the_operator(worker, daemon, direct):
    wanted, lock, _ = free_lock(worker, direct)
    direct("HSET", *lock.fence(), (2**53 - 1).to_bytes(7, "big") + bytes(8))
    before = lock.all()
    for _ in range(2):
        worker.acquire(wanted, expect="lease_backend_unavailable")
    assert lock.all() == before and lock.counters().given == 2**53 - 1
    assert "tokens are exhausted" in daemon.log_text()
    worker.release(worker.acquire(ipc.identity()))


# --- a partition of the network isolates a worker -------------------------------------------------

def test_isolated_worker_is_told_and_can_neither_renew_nor_commit(link, worker, other, direct):
    former = worker.acquire(ipc.identity(), ttl_ms=SHORT_TTL_MS)
    lock = lock_of(direct, former)
    worker.commit(former, {"name": "before"})
    link.freeze()
    unsure = worker.call("commit", envelope=former["envelope"], timeout_ms=100,
                         write={"kind": "authorize"})
    assert unsure["code"] in ("lease_outcome_unknown", "lease_backend_unavailable")
    lost = worker.wait_event("lease_lost", patience(10))
    assert lost["lease_id"] == ipc.lease_id(former) and lost["reason"] == "backend_unavailable"
    assert lost["valid_for_ms"] > 0 and lock.record().state == "active"
    successor = other.acquire(former["lease"]["lock_identity"], ttl_ms=TTL_MS, wait_ms=6000,
                              timeout_ms=7000)
    assert ipc.token(successor) == ipc.token(former) + 1
    other.commit(successor, {"name": "report", "body": {"by": "successor"}})
    standing = lock.standing()
    for call in (worker.renew, worker.release, worker.commit):
        call(former, expect="lease_lost", timeout_ms=SOON_MS)
    link.thaw()
    eventually(lambda: worker.call("ping")["backend"]["state"] == "ready", patience(10), "ready")
    worker.commit(former, {"name": "report", "expect_revision": 1}, expect="lease_lost")
    # Not even another connection, which never heard of the loss, writes under it.
    other.commit(former, {"name": "report", "expect_revision": 1}, expect="lease_lost")
    assert is_held_by(lock, successor) and set(lock.documents()) == {b"before", b"report"}
    assert lock.documents() == standing[4] and lock.counters() == standing[1]
    assert lock.ends() == [End("expired", ipc.lease_id(former), ipc.token(former))]


def test_partition_that_heals_in_time_costs_nothing(link, worker, direct):
    grant = worker.acquire(ipc.identity(), ttl_ms=TTL_MS, renew="manual")
    lock = lock_of(direct, grant)
    before = lock.record()
    link.freeze()
    asked = worker.send("renew", lease_id=ipc.lease_id(grant), fencing_token=ipc.token(grant),
                        request_id=ipc.unique("request"), ttl_ms=TTL_MS, timeout_ms=LATER_MS)
    link.thaw()
    assert worker.answer(asked)["code"] == "lease_renewed"
    assert is_held_by(lock, grant) and lock.record().renewed_at > before.renewed_at
    worker.commit(grant)
    assert lock.counters() == (ipc.token(grant), ipc.token(grant), False)
