"""The gate: nothing is served where it is absent, corrupt, foreign or closed, and a recovery takes
a floor above every token ever given (contract "recovery"; docs/recovery.md)."""

import pytest

from support.library import Leases, built_library


def test_new_namespace_serves_at_once(fresh):
    assert fresh.gate_block()["reason"] == b"absent"
    assert fresh.acquire(fresh.request())[0] == b"recovering"
    answer = fresh.init()
    assert answer[0] == b"initialized"
    gate = fresh.gate_block()
    assert gate["answer"] == b"serving" and gate["reason"] == b""
    assert gate["epoch"] == gate["token_floor"] > 0
    assert fresh.acquire(fresh.request())[0] == b"acquired"


def test_second_init_changes_nothing(leases):
    before = leases.gate_block()
    assert leases.init()[0] == b"exists"
    after = leases.gate_block()
    assert after["epoch"] == before["epoch"] and after["sequence"] == before["sequence"]


def test_partition_whose_gate_was_lost_is_not_new(leases):
    leases.held()
    leases.client("DEL", leases.gate)
    assert leases.init()[0] == b"not_new"
    assert leases.acquire(leases.request("other"))[0] == b"recovering"


def test_recovery_of_a_lost_gate_gives_higher_tokens_after_the_grace(leases, clock):
    first = leases.held()
    leases.client("FLUSHALL")
    answer = leases.recover(least_grace_ms=5000)
    assert answer[0] == b"recovered"
    blocked = leases.acquire(leases.request())
    assert blocked[0] == b"grace" and 0 < blocked[4] <= 5000
    clock.by_ms(5100)
    second = leases.held()
    assert second.token > first.token


def test_recovery_revokes_what_was_held_and_keeps_the_evidence(leases):
    lease = leases.held()
    leases.call("gate_read")
    assert leases.recover(grace="none")[0] == b"recovered"
    found = leases.inspect(lease)
    assert found[0] == b"found" and found[4] == b"revoked" and found[14] == b"recovered"
    assert leases.renew([lease], 10)[4:] == [5, 0]
    assert leases.release(lease)[0:1] + leases.release(lease)[4:] == [b"lost", b"revoked"]
    again = leases.held()
    assert again.token > lease.token


def test_recovery_waits_out_the_largest_ttl_ever_granted(leases):
    leases.release(leases.held(ttl_ms=7000, target="a"))
    leases.held(ttl_ms=1000, target="b")
    leases.recover()
    gate = leases.gate_block()
    assert gate["grace_until"] - gate["recovered_at"] == 7000


def test_recovery_of_data_that_went_back_waits_for_as_long_as_the_daemon_says(leases, client):
    kept = client("DUMP", leases.gate)
    leases.held(ttl_ms=30000)
    client("RESTORE", leases.gate, 0, kept, "REPLACE")  # a copy that lacks the newest grant
    leases.recover(least_grace_ms=60000)
    gate = leases.gate_block()
    assert gate["largest_ttl_ms"] == 0
    assert gate["grace_until"] - gate["recovered_at"] == 60000


def test_recovery_is_done_once(leases):
    observed = leases.gate_block()["observed"]
    assert leases.recover(observed)[0] == b"recovered"
    epoch = leases.gate_block()["epoch"]
    assert leases.recover(observed)[0] == b"conflict"
    assert leases.gate_block()["epoch"] == epoch


@pytest.mark.parametrize("difference", [-600, 600, 10**6, -10**6])
def test_recovery_is_refused_while_the_clocks_differ(leases, difference):
    before = leases.gate_block()
    wall = before["time_us"] // 1000 + difference
    answer = leases.recover(wall_ms=wall)
    assert answer[0] == b"clock"
    assert abs(answer[21] + difference) < 100
    assert leases.gate_block()["epoch"] == before["epoch"]


def test_floor_is_above_what_the_recovering_daemon_has_seen(leases):
    seen = leases.gate_block()["token_floor"] + 10**12
    leases.recover(seen_token=seen, grace="none")
    assert leases.held().token > seen


def test_tokens_end_below_2_to_the_53(leases):
    assert leases.recover(seen_token=2**53 - 3, grace="none")[0] == b"recovered"
    last = leases.held()
    assert last.token == 2**53 - 1
    leases.release(last)
    assert leases.acquire(leases.request())[0] == b"exhausted"
    assert leases.recover(seen_token=2**53 - 1, grace="none")[0] == b"exhausted"


def test_another_namespace_or_partition_count_is_a_mismatch(leases):
    gate = leases.gate_block()
    for name, count in (("other", 1), ("test", 2)):
        answer = leases.call("recover", gate["observed"], gate["time_us"] // 1000, 500, 0, "ttl",
                             1000, 0, 0, name, count, "request_1", "", "", "", "")
        assert answer[0] == b"mismatch"


@pytest.mark.parametrize("value", ["", "x", b"\x00" * 200])
def test_corrupt_gate_is_closed_and_recovered_as_lost(leases, value):
    lease = leases.held()
    leases.client("SET", leases.gate, value)
    assert leases.gate_block()["reason"] == b"corrupt"
    assert leases.renew([lease], 10)[0] == b"recovering"
    assert leases.recover(grace="none")[0] == b"recovered"
    assert leases.held().token > lease.token


def test_restarted_server_serves_only_after_a_recovery(server, client, leases):
    lease = leases.held()
    server.kill()
    server.start()
    with server.client(text=False, protocol=2) as again:
        after = Leases(again)
        assert after.gate_block()["reason"] == b"foreign"
        for answer in (after.acquire(after.request("x")), after.renew([lease], 10),
                       after.release(lease), after.inspect(lease), after.resolve(lease)):
            assert answer[0] == b"recovering"
        assert after.recover(grace="none")[0] == b"recovered"
        assert after.inspect(lease)[4] == b"revoked"


def test_restart_may_keep_the_leases_where_nothing_was_lost(server, client, leases):
    lease = leases.held(ttl_ms=60000)
    sequence, epoch = leases.gate_block()["sequence"], leases.gate_block()["epoch"]
    server.kill()
    server.start()
    with server.client(text=False, protocol=2) as again:
        after = Leases(again)
        assert after.recover(keep=1, seen_sequence=sequence + 1)[0] == b"keep_refused"
        assert after.recover(keep=1, seen_sequence=sequence)[0] == b"rebound"
        assert after.gate_block()["epoch"] == epoch
        assert after.renew([lease], 10)[4] == 0
        assert after.acquire(after.request())[0] == b"conflict"


def test_library_loaded_again_carries_on(leases):
    lease = leases.held()
    leases.client("FUNCTION", "LOAD", "REPLACE", built_library())
    assert leases.renew([lease], 10)[4] == 0
    assert leases.gate_block()["reason"] == b""


# --- the clock ------------------------------------------------------------------------------------

def test_small_step_back_is_clamped(leases, clock):
    lease = leases.held(ttl_ms=10000)
    now = leases.inspect(lease)[1]
    clock.by_ms(-3000)
    assert leases.inspect(lease)[1] >= now
    renewed = leases.renew([lease], 10, ttl_ms=1000)
    assert renewed[0] == b"renewed" and renewed[5] >= now + 1000
    later = leases.held("other")
    assert leases.inspect(later)[7] >= now


def test_expired_lease_never_revives(leases, clock):
    lease = leases.held(ttl_ms=1000)
    clock.by_ms(1200)
    successor = leases.held("other")  # the gate has seen this time
    clock.by_ms(0)
    assert leases.renew([lease], 10)[4:] == [3, 0]
    assert leases.held().token > lease.token
    assert leases.renew([successor], 10)[4] == 0


def test_large_step_back_closes_until_a_recovery(leases, clock):
    lease = leases.held()
    clock.by_ms(-5100)
    answer = leases.renew([lease], 10)
    assert answer[0] == b"recovering" and answer[4] == b"clock"
    clock.by_ms(0)
    assert leases.gate_block()["reason"] == b"closed"
    assert leases.renew([lease], 11)[0] == b"recovering"
    assert leases.recover(grace="none")[0] == b"recovered"
    assert leases.held("other").token > lease.token


def test_recovery_waits_until_the_clock_has_passed_the_highest_time_seen(leases, clock):
    clock.by_ms(60000)
    leases.held()
    clock.by_ms(0)
    assert leases.acquire(leases.request("other"))[4] == b"clock"
    refused = leases.recover()
    assert refused[0] == b"clock" and refused[22] > 50000
    clock.by_ms(60100)
    assert leases.recover(grace="none")[0] == b"recovered"
