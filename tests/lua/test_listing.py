"""Lists of active leases, and the history of ended ones, as single calls of the functions."""

import itertools

import pytest

from support.library import compact, sha256
from support import resp


def walk(leases, by, request, limit):
    """All pages of a list, as one."""
    found, after = [], b""
    while True:
        page, after, more, skipped = leases.list(by, request, after, limit)
        assert len(page) <= limit and skipped == 0
        found += page
        if not more:
            return found


def targets(found):
    return {one["target_id"].decode() for one in found}


def program_position(request):
    """Where a lease stands in the list of its program."""
    return sha256(compact(request.target_namespace, request.target_id))[:4] + request.digest


@pytest.fixture(name="three")
def fixture_three(leases):
    """Leases of two owners in two programs, on targets that they share."""
    return [leases.held(f"target_{i}", program_id=program, owner_principal_id=owner,
                        actor_name=f"{owner}_{program}")
            for i, program, owner in itertools.product(range(5), ("program-a", "program-b"),
                                                       ("prn_one", "prn_two"))]


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_each_list_has_its_own_leases_once_and_in_order(leases, three, limit):
    for by, same in (("owner", ("owner_principal_id",)), ("program", ("tenant_id", "program_id")),
                     ("target", ("tenant_id", "program_id", "target_id"))):
        for asked in three[:4]:
            found = walk(leases, by, asked, limit)
            expected = [r for r in three
                        if all(getattr(r, name) == getattr(asked, name) for name in same)]
            assert sorted(one["lease_id"].decode() for one in found) \
                == sorted(r.lease_id for r in expected)
            positions = [one["position"] for one in found]
            assert positions == sorted(positions)


def test_a_listed_lease_is_told_as_granted(leases):
    lease = leases.held(ttl_ms=4000)
    granted = leases.inspect(lease)
    (told,), reached, more, skipped = leases.list("program", lease)
    assert told["position"] == reached == program_position(lease)
    assert leases.list("owner", lease)[1] == lease.digest
    assert [told[name] for name in ("lease_id", "token", "acquired_at", "renewed_at",
                                    "expires_at", "ttl_ms")] \
        == [lease.lease_id.encode(), *granted[5:6], *granted[7:11]]
    assert [told[name].decode() for name in ("tenant_id", "program_id", "target_id")] \
        == [lease.tenant_id, lease.program_id, lease.target_id]
    assert (more, skipped) == (0, 0)


def test_only_active_leases_are_told(leases, clock):
    kept, released, expired = (leases.held(f"target_{i}", ttl_ms=ttl)
                               for i, ttl in enumerate((30000, 30000, 1000)))
    leases.release(released)
    clock.by_ms(1100)
    assert targets(leases.list("owner", kept)[0]) == {kept.target_id}
    # Nobody has swept it yet: it is looked at, and left out.
    assert leases.list("owner", expired, limit=1)[2] == 1
    leases.recover(grace="none")
    found, _, more, skipped = leases.list("owner", kept)
    assert (found, more, skipped) == ([], 0, 0)


def test_another_owner_takes_a_lease_from_the_former_ones_list(leases):
    former = leases.held()
    leases.release(former)
    successor = leases.held(owner_principal_id="prn_other", service_instance_id="instance_2")
    assert leases.list("owner", former)[0] == []
    assert len(leases.list("owner", successor)[0]) == 1


def test_what_shares_the_beginning_of_a_hash_is_not_taken_for_it(leases):
    """The index has four bytes of it; the record decides."""
    lease = leases.held()
    stranger = leases.request("other", owner_principal_id="prn_stranger")
    command = list(leases.list_command("owner", stranger))
    command[10] = sha256(lease.owner_principal_id)[:8]
    answer = leases.client(*command)
    assert answer[0] == b"listed" and answer[4:] == [0, lease.digest, 0]


def test_corrupt_records_are_left_out_and_counted(leases):
    held = [leases.held(f"target_{i}") for i in range(4)]
    leases.client("SET", leases.key("lease", held[0]), b"garbage")
    leases.client("SETRANGE", leases.key("lease", held[1]), 3, b"\xff" * 7)
    found, _, _, skipped = leases.list("owner", held[0])
    assert targets(found) == {"target_2", "target_3"} and skipped == 2
    # One that somebody has met is marked, and stays left out when the bad value has gone.
    sound = leases.client("GET", leases.key("lease", held[2]))
    leases.client("SET", leases.key("lease", held[2]), b"garbage")
    assert leases.renew_once(held[2])[0] == b"quarantined"
    leases.client("SET", leases.key("lease", held[2]), sound, "EX", 100)
    assert targets(leases.list("owner", held[0])[0]) == {"target_3"}
    # One that is gone is no lease any more, and none that anybody could look into.
    leases.client("DEL", leases.key("lease", held[3]))
    assert leases.list("owner", held[0])[3] == 3


def test_lists_and_histories_write_nothing_and_need_no_more_than_they_say(leases):
    lease = leases.held()
    leases.release(lease)
    before = leases.gate_block()["sequence"]
    leases.list("program", lease)
    leases.history(lease)
    assert leases.gate_block()["sequence"] == before


@pytest.mark.parametrize("change, culprit", [
    ({4: "actor"}, b"by"), ({5: "x" * 129}, b"owner_principal_id"),
    ({6: "x" * 257}, b"tenant_id"), ({10: b"short"}, b"owner_hash"),
    ({13: b"x" * 37}, b"after"), ({14: 0}, b"limit"), ({14: 101}, b"limit"),
    ({14: "1.5"}, b"limit")])
def test_malformed_lists_are_refused(leases, change, culprit):
    command = list(leases.list_command("owner", leases.request()))
    for place, value in change.items():
        command[place] = value
    assert leases.client(*command)[::4] == [b"invalid", culprit]


@pytest.mark.parametrize("before, limit, culprit", [
    ("x", 1, b"before"), ("1", 1, b"before"), ("1-", 1, b"before"), ("(1-1", 1, b"before"),
    ("1" * 40 + "-1", 1, b"before"), ("", 0, b"limit"), ("", 51, b"limit")])
def test_malformed_histories_are_refused(leases, before, limit, culprit):
    answer = leases.client(*leases.history_command(leases.request(), before, limit))
    assert answer[::4] == [b"invalid", culprit]


def test_a_stream_id_that_is_no_number_of_the_servers_is_an_error_and_nothing_else(leases):
    answer = leases.client(*leases.history_command(leases.request(), "9" * 30 + "-1", 1))
    assert isinstance(answer, resp.Error) and "stream ID" in answer


@pytest.mark.parametrize("key, call", [("index", "list"), ("history", "history")])
def test_a_shared_key_of_a_foreign_type_is_told(leases, key, call):
    leases.client("SET", leases.key(key), "x")
    commands = {"list": leases.list_command("owner", leases.request()),
                "history": leases.history_command(leases.request())}
    assert leases.client(*commands[call])[::4] == [b"damaged", key.encode()]


def test_a_closed_gate_tells_nothing(leases, clock):
    lease = leases.held()
    clock.by_ms(-6000)
    for command in (leases.list_command("owner", lease), leases.history_command(lease)):
        assert leases.client(*command)[0] == b"recovering"


def test_history_is_newest_first_with_reasons(leases, clock):
    released = leases.held()
    leases.release(released)
    expired = leases.held(ttl_ms=1000)
    clock.by_ms(1100)
    assert leases.sweep()[4] == 1
    overdue = leases.held(ttl_ms=1000)
    clock.by_ms(2300)
    revoked = leases.held()
    assert leases.recover(grace="none")[0] == b"recovered"
    last = leases.held()
    found, going_on, skipped = leases.history(last, limit=50)
    assert [(one["lease_id"].decode(), one["state"], one["end_reason"]) for one in found] == [
        (revoked.lease_id, b"revoked", b"recovered"), (overdue.lease_id, b"expired", b"expired"),
        (expired.lease_id, b"expired", b"expired"), (released.lease_id, b"released", b"released")]
    assert found[2]["ended_at"] == found[2]["expires_at"]
    assert (going_on, skipped) == ("", 0)


def test_history_goes_on_from_where_it_came_to(leases):
    for _ in range(150):
        for target in ("target_a", "target_b"):
            leases.release(leases.held(target))
    asked = leases.request("target_a")
    found, before = [], ""
    while True:
        page, before, _ = leases.history(asked, before, limit=40)
        found += page
        assert len(page) <= 40
        if not before:
            break
    tokens = [one["token"] for one in found]
    assert len(tokens) == 150 and tokens == sorted(tokens, reverse=True)
    # A search for somebody of whom there is nothing ends as well, if not at the first call.
    nobody, before, _ = leases.history(leases.request("target_c"), limit=50)
    assert nobody == [] and before
    assert leases.history(leases.request("target_c"), before, limit=50)[1] == ""


def test_evidence_that_cannot_be_read_is_left_out_and_counted(leases):
    lease = leases.held()
    leases.release(lease)
    leases.client("XADD", leases.key("history"), "*", "digest", lease.digest, "record", "garbage")
    leases.client("XADD", leases.key("history"), "*", "digest", lease.digest)
    leases.client("XADD", leases.key("history"), "*", "other", "field")
    found, going_on, skipped = leases.history(lease, limit=50)
    assert len(found) == 1 and going_on == "" and skipped == 2
