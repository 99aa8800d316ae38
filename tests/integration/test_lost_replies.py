"""The reply of Valkey is lost after submission (contract "acquire response lost", "timeout after
submission"): the same request_id gives the same result, and the counter has made one step."""

import pytest

from support import ipc, proxy

BREAKS = [(proxy.CUT, {}), (proxy.CUT_AT, {"at": 1}), (proxy.CUT_AT, {"at": 7}),
          (proxy.CUT_AT, {"at": 40}), (proxy.HALF_CLOSE, {})]
IDS = ["cut", "cut-at-1", "cut-at-7", "cut-at-40", "half-close"]
SHORT_TIMEOUT_MS = 400
TTL_MS = 10000


@pytest.fixture(name="link")
def fixture_link(folder, backend):
    with proxy.Proxy(folder / "proxy.sock", backend.socket) as between:
        yield between


@pytest.fixture(name="worker")
def fixture_worker(link, configured):
    with configured(link.listen_path).connect(timeout_s=20) as client:
        yield client


def assert_one_step(worker, wanted, grant):
    """The next acquisition's token is the very next: nothing was spent on the lost reply."""
    worker.call("release", lease_id=ipc.lease_id(grant), fencing_token=ipc.token(grant))
    assert ipc.token(worker.acquire(wanted)) == ipc.token(grant) + 1


@pytest.mark.parametrize(("action", "options"), BREAKS, ids=IDS)
def test_acquire_whose_connection_breaks_is_answered_once_it_is_back(link, worker, action, options):
    wanted, request = ipc.identity(), ipc.unique("request")
    link.add("acquire", action, **options)
    grant = worker.acquire(wanted, request_id=request, ttl_ms=TTL_MS, timeout_ms=10000)
    assert link.count("fault", "acquire") == 1
    again = worker.acquire(wanted, request_id=request, ttl_ms=TTL_MS, timeout_ms=10000)
    assert again["replayed"] is True and again["current_state"] == "active"
    assert ipc.lease_id(again) == ipc.lease_id(grant)
    assert ipc.token(again) == ipc.token(grant)
    assert_one_step(worker, wanted, grant)


@pytest.mark.asan
def test_acquire_without_an_answer_is_unknown_and_its_retry_is_the_original(link, worker):
    wanted, request = ipc.identity(), ipc.unique("request")
    link.add("acquire", proxy.SWALLOW)
    unknown = worker.acquire(wanted, expect="lease_outcome_unknown", request_id=request,
                             ttl_ms=TTL_MS, timeout_ms=SHORT_TIMEOUT_MS)
    assert unknown["retryable"] is True
    grant = worker.acquire(wanted, request_id=request, ttl_ms=TTL_MS, timeout_ms=10000)
    assert grant["replayed"] is True and grant["current_state"] == "active"
    assert grant["valid_for_ms"] < TTL_MS - SHORT_TIMEOUT_MS
    assert_one_step(worker, wanted, grant)


def test_acquire_that_was_never_submitted_is_done_once_by_its_retry(link, worker):
    wanted, request = ipc.identity(), ipc.unique("request")
    before = worker.acquire(wanted)
    worker.release(before)
    link.add("acquire", proxy.DROP)
    worker.acquire(wanted, expect="lease_outcome_unknown", request_id=request,
                   timeout_ms=SHORT_TIMEOUT_MS)
    grant = worker.acquire(wanted, request_id=request, timeout_ms=10000)
    assert grant["replayed"] is False
    assert ipc.token(grant) == ipc.token(before) + 1


@pytest.mark.parametrize(("action", "options"), BREAKS, ids=IDS)
def test_renew_whose_connection_breaks_is_done_once(link, worker, action, options):
    wanted, request = ipc.identity(), ipc.unique("request")
    grant = worker.acquire(wanted, ttl_ms=TTL_MS, renew="manual")
    link.add("renew_once", action, **options)
    renewed = worker.renew(grant, request_id=request, ttl_ms=TTL_MS, timeout_ms=10000)
    assert link.count("fault", "renew_once") == 1
    assert ipc.lease_id(renewed) == ipc.lease_id(grant)
    assert ipc.token(renewed) == ipc.token(grant)
    again = worker.renew(grant, request_id=request, ttl_ms=TTL_MS, timeout_ms=10000)
    assert again["replayed"] is True
    assert again["lease"]["renewed_at"] == renewed["lease"]["renewed_at"]
    assert_one_step(worker, wanted, grant)


@pytest.mark.parametrize(("action", "options"), BREAKS, ids=IDS)
def test_release_whose_connection_breaks_is_done_once(link, worker, action, options):
    wanted, request = ipc.identity(), ipc.unique("request")
    grant = worker.acquire(wanted, ttl_ms=TTL_MS)
    link.add("release", action, **options)
    released = worker.release(grant, request_id=request, timeout_ms=10000)
    assert link.count("fault", "release") == 1
    again = worker.release(grant, request_id=request, timeout_ms=10000)
    assert again["replayed"] is True and again["released_at"] == released["released_at"]
    assert_one_step(worker, wanted, grant)


def test_stale_release_by_request_id_leaves_the_successor_alone(link, worker):
    wanted, request = ipc.identity(), ipc.unique("request")
    first = worker.acquire(wanted, ttl_ms=TTL_MS)
    link.add("release", proxy.CUT)
    worker.release(first, request_id=request, timeout_ms=10000)
    second = worker.acquire(wanted, ttl_ms=TTL_MS)
    worker.release(first, request_id=request)
    worker.acquire(wanted, expect="lease_conflict")
    assert worker.call("inspect", lease_id=ipc.lease_id(second))["lease"]["state"] == "active"


@pytest.mark.parametrize(("action", "options"), BREAKS, ids=IDS)
def test_timed_renewal_whose_reply_is_lost_costs_nothing(link, worker, action, options):
    grant = worker.acquire(ipc.identity(), ttl_ms=3000)
    rule = link.add("renew", action, **options)
    link.await_event("fault", "renew")
    link.await_event("replied", "renew", count=2)
    assert rule.hits == 1
    seen = worker.call("inspect", lease_id=ipc.lease_id(grant))["lease"]
    assert seen["state"] == "active" and seen["fencing_token"] == ipc.token(grant)
    assert ipc.unix_ms(seen["expires_at"]) > ipc.expires_ms(grant)
    worker.no_event(0.01, "lease_lost")


def test_resolve_tells_what_became_of_an_unknown_acquire(link, worker):
    wanted, request = ipc.identity(), ipc.unique("request")
    link.add("acquire", proxy.SWALLOW)
    worker.acquire(wanted, expect="lease_outcome_unknown", request_id=request, ttl_ms=TTL_MS,
                   timeout_ms=SHORT_TIMEOUT_MS)
    resolved = worker.call("resolve", request_id=request, operation="acquire", identity=wanted)
    assert resolved["code"] == "lease_resolved" and resolved["outcome"] == "committed"
    assert resolved["current_state"] == "active"
    assert resolved["result"]["code"] == "lease_acquired"
    nothing = worker.call("resolve", request_id=ipc.unique("request"), operation="acquire",
                          identity=wanted)
    assert nothing["outcome"] == "not_found"


def test_unknown_acquire_of_a_worker_that_left_is_released(link, configured, backend):
    wanted = ipc.identity()
    daemon = configured(link.listen_path)
    with daemon.connect() as leaver, daemon.connect() as waiter:
        link.add("acquire", proxy.SWALLOW)
        leaver.acquire(wanted, expect="lease_outcome_unknown", ttl_ms=TTL_MS,
                       timeout_ms=SHORT_TIMEOUT_MS)
        leaver.close()
        waiting = waiter.acquire(wanted, wait_ms=5000, timeout_ms=6000)
        with backend.client() as direct:
            assert direct.backend_ms() < ipc.acquired_ms(waiting) + TTL_MS
        waiter.release(waiting)
