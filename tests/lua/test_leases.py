"""Every transition of a lease as one atomic call (contract "operations", "fencing", "release")."""

import pytest

from support.library import serial


def test_grant_says_what_was_granted(leases):
    request = leases.request(ttl_ms=2500)
    answer = leases.acquire(request)
    status, now, epoch, _, lease_id, token, acquired, renewed, expires, ttl = answer
    assert status == b"acquired" and lease_id.decode() == request.lease_id
    assert acquired == renewed == now and expires == now + 2500 and ttl == 2500
    assert token == epoch + 1
    found = leases.inspect(request)
    assert found[4] == b"active" and found[5] == token and found[9] == expires
    assert [part.decode() for part in found[20:27]] == request.identity()


def test_held_lease_is_in_the_way_until_it_ends(leases, clock):
    first = leases.held(ttl_ms=2000)
    second = leases.request(owner_principal_id="prn_other", service_instance_id="instance_2")
    answer = leases.acquire(second)
    assert answer[0] == b"conflict" and 0 < answer[4] <= 2000 and answer[5] == b""
    assert leases.acquire(leases.request())[5].decode() == first.lease_id  # its own instance
    clock.by_ms(1900)
    assert leases.acquire(second.but(request_id=serial("r")))[0] == b"conflict"
    clock.by_ms(2050)
    third = second.but(request_id=serial("r"))
    assert leases.acquire(third)[0] == b"acquired" and third.token == first.token + 1


def test_tokens_grow_for_each_identity_and_never_by_a_refusal(leases):
    tokens = []
    for _ in range(20):
        lease = leases.held()
        leases.acquire(leases.request(owner_principal_id="other"))
        tokens.append(lease.token)
        leases.release(lease)
    assert tokens == list(range(tokens[0], tokens[0] + 20))


def test_different_identities_do_not_meet(leases):
    held = [leases.held(f"target_{i}") for i in range(50)]
    assert len({lease.lease_id for lease in held}) == 50
    answer = leases.renew(held, 10)
    assert answer[0] == b"renewed" and answer[4::2] == [0] * 50


@pytest.mark.parametrize("swept", [False, True])
def test_lock_delay_keeps_an_expired_identity_closed(leases, clock, swept):
    leases.held(ttl_ms=1000)
    clock.by_ms(1500)
    if swept:
        assert leases.sweep()[4] == 1
    early = leases.request(lock_delay_ms=1000)
    answer = leases.acquire(early)
    assert answer[0] == b"conflict" and 0 < answer[4] <= 500 and answer[5] == b""
    clock.by_ms(2050)
    assert leases.acquire(leases.request(lock_delay_ms=1000))[0] == b"acquired"


def test_lock_delay_does_not_follow_a_release(leases):
    lease = leases.held()
    leases.release(lease)
    assert leases.acquire(leases.request(lock_delay_ms=60000))[0] == b"acquired"


def test_lock_delay_follows_a_recovery(leases, clock):
    leases.held()
    assert leases.recover(grace="none")[0] == b"recovered"
    assert leases.acquire(leases.request(lock_delay_ms=1000))[0] == b"conflict"
    clock.by_ms(1100)
    assert leases.acquire(leases.request(lock_delay_ms=1000))[0] == b"acquired"


def test_renewal_never_shortens(leases, clock):
    """Whoever relies on the end so far may never hear of this renewal."""
    lease = leases.held(ttl_ms=5000)
    clock.by_ms(500)
    assert leases.renew([lease], 10, ttl_ms=1000)[4:] == [0, lease.expires_at]
    answer = leases.renew_once(lease, ttl_ms=1000)
    assert answer[0] == b"renewed" and answer[9] == lease.expires_at
    clock.by_ms(4500)
    assert leases.renew([lease], 11, ttl_ms=1000)[5] > lease.expires_at


def test_renewal_extends_and_a_replayed_one_does_not(leases, clock):
    lease = leases.held(ttl_ms=1000)
    clock.by_ms(500)
    code, expires = leases.renew([lease], 10, ttl_ms=2000)[4:]
    assert code == 0
    clock.by_ms(600)
    for sequence in (10, 9, 1):
        assert leases.renew([lease], sequence, ttl_ms=9000)[4:] == [1, expires]
    assert leases.renew([lease], 11, ttl_ms=2000)[5] > expires


def test_renewal_ends_with_the_maximum_lifetime(leases, clock):
    lease = leases.held(ttl_ms=1000, maximum_lifetime_ms=1500)
    acquired = leases.inspect(lease)[7]
    clock.by_ms(800)
    assert leases.renew([lease], 10, ttl_ms=1000)[5] == acquired + 1500
    clock.by_ms(1600)
    assert leases.renew([lease], 11)[4] == 3


@pytest.mark.parametrize("changes", [
    {"token": 1}, {"lease_id": "lease_of_nobody"}, {"owner_principal_id": "prn_other"},
    {"service_instance_id": "instance_other"}])
def test_only_the_exact_holder_renews_and_releases(leases, changes):
    lease = leases.held()
    stranger = lease.altered(**changes)
    assert leases.renew([stranger], 10)[4:] == [2, 0]
    assert leases.renew_once(stranger)[0] == b"lost"
    assert leases.release(stranger)[0] == b"lost"
    assert leases.renew([lease], 10)[4] == 0


def test_one_lost_lease_of_a_batch_changes_nothing_for_the_others(leases, clock):
    kept = [leases.held(f"kept_{i}", ttl_ms=60000) for i in range(3)]
    ended, released = leases.held("ended", ttl_ms=500), leases.held("released")
    leases.release(released)
    clock.by_ms(600)
    unknown = leases.request("unknown").altered(token=5)
    answer = leases.renew([kept[0], ended, kept[1], released, unknown, kept[2]], 10)
    assert answer[4::2] == [0, 3, 0, 4, 2, 0]


def test_release_frees_at_once_leaves_evidence_and_tells(server, leases):
    lease = leases.held()
    with server.client(text=False, protocol=2) as listener:
        listener("SUBSCRIBE", leases.tag + "notice")
        answer = leases.release(lease)
        assert answer[0] == b"released"
        kind, rest = listener.read()[2].split(b" ", 1)
        assert kind == b"released" and rest.endswith(lease.digest)
        assert rest.startswith(lease.lease_id.encode() + b" ")
    found = leases.inspect(lease)
    assert found[4] == b"released" and found[14] == b"released" and found[13] == answer[4]
    assert leases.held().token == lease.token + 1


def test_released_lease_is_over_for_good(leases):
    lease = leases.held()
    leases.release(lease)
    assert leases.renew([lease], 10)[4:] == [4, 0]
    assert leases.renew_once(lease)[4] == b"released"
    assert leases.release(lease)[4] == b"released"


def test_late_release_leaves_the_successor_alone(leases, clock):
    lease = leases.held(ttl_ms=500)
    clock.by_ms(600)
    successor = leases.held()
    assert leases.release(lease)[0] == b"lost"
    assert leases.renew([lease], 99)[4] == 2
    assert leases.inspect(successor)[4] == b"active"


def test_inspect_means_one_lease_where_it_is_asked_to(leases):
    lease = leases.held()
    assert leases.inspect(lease, lease.lease_id)[0] == b"found"
    assert leases.inspect(lease, "lease_other")[0] == b"not_found"
    assert leases.inspect(leases.request("never"))[0] == b"not_found"


@pytest.mark.parametrize("function", ["acquire", "renew", "renew_once", "release"])
def test_passed_deadline_has_no_effect(leases, function):
    lease = leases.held("held")
    before = leases.client("GET", leases.key("lease", lease))
    passed = leases.inspect(lease)[1] - 1
    answer = {
        "acquire": lambda: leases.acquire(leases.request(deadline_ms=passed)),
        "renew": lambda: leases.renew([lease], 10, deadline_ms=passed),
        "renew_once": lambda: leases.renew_once(lease, deadline_ms=passed),
        "release": lambda: leases.release(lease, deadline_ms=passed),
    }[function]()
    assert answer[0] == b"deadline"
    assert leases.client("GET", leases.key("lease", lease)) == before
    assert leases.client("EXISTS", leases.key("lease", leases.request())) == 0


def test_sweep_leaves_evidence_of_what_expired_once(leases, clock):
    short = [leases.held(f"short_{i}", ttl_ms=500) for i in range(5)]
    long = leases.held("long", ttl_ms=60000)
    assert leases.sweep()[4] == 0
    clock.by_ms(600)
    answer = leases.sweep(3)
    assert (answer[4], answer[7]) == (3, 1)
    assert leases.sweep()[4] == 2 and leases.sweep()[4] == 0
    for lease in short:
        found = leases.inspect(lease)
        assert found[4] == b"expired" and found[14] == b"expired"
    assert leases.inspect(long)[4] == b"active"
    assert leases.client("XLEN", leases.key("history")) == 5


def test_history_has_one_entry_for_each_end(leases, clock):
    leases.release(leases.held("a"))
    leases.held("b", ttl_ms=500)
    clock.by_ms(600)
    leases.held("b")  # buries its predecessor
    assert leases.client("XLEN", leases.key("history")) == 2


def test_every_mutation_leaves_an_audit_entry(leases):
    before = leases.client("XLEN", leases.key("audit"))
    lease = leases.held()
    leases.renew_once(lease)
    leases.release(lease)
    assert leases.client("XLEN", leases.key("audit")) == before + 3


def test_sequence_grows_with_each_mutation_only(leases):
    lease = leases.held()
    sequence = leases.inspect(lease)[3]
    assert leases.inspect(lease)[3] == sequence
    assert leases.renew([lease], 10)[3] > sequence


@pytest.mark.parametrize(("place", "value", "name"), [
    (0, b"short", b"digest"), (13, "0", b"ttl_ms"), (13, "-1", b"ttl_ms"), (13, "1.5", b"ttl_ms"),
    (13, "", b"ttl_ms"), (13, "4294967296", b"ttl_ms"), (18, "", b"metadata"),
    (19, "", b"request_id"), (20, "short", b"scope"), (31, "x", b"deadline_ms")])
def test_malformed_argument_is_named_and_nothing_is_done(leases, place, value, name):
    command = list(leases.acquire_command(leases.request()))
    command[4 + place] = value
    answer = leases.client(*command)
    assert answer[0] == b"invalid" and answer[4] == name
    assert leases.client("EXISTS", leases.key("lease", leases.request())) == 0


def test_missing_and_extra_arguments_are_refused(leases):
    command = leases.acquire_command(leases.request())
    assert leases.client(*command[:-1])[0] == b"invalid"
    assert leases.client(*command, "more")[0] == b"invalid"


def test_ttl_beyond_the_lifetime_is_refused(leases):
    answer = leases.acquire(leases.request(ttl_ms=2000, maximum_lifetime_ms=1000))
    assert answer[0] == b"invalid"


def test_physical_ttl_outlasts_the_logical_one(leases):
    lease = leases.held(ttl_ms=1000, maximum_lifetime_ms=5000, record_retention_ms=3000,
                        retention_ms=1000)
    left = leases.client("PTTL", leases.key("lease", lease))
    assert 7000 < left <= 8000
    assert leases.client("PTTL", leases.key("fence", lease)) == -1
