"""Lists of active leases and histories of ended ones, over the sockets and the command line
(ipc.md `list`, `history`)."""

import base64
import itertools

import pytest

from support import cli, ipc, starleased

MANY, PAGE = 300, 50


def pages(client, op, key, **asked):
    """Each page of a walk to its end."""
    cursor = {}
    while True:
        answer = client.call(op, **asked, **cursor)
        assert answer["code"] == f"lease_{'listed' if op == 'list' else 'history'}", answer
        assert len(answer[key]) <= asked.get("page_size", 50)
        yield answer[key]
        if "next_cursor" not in answer:
            return
        cursor = {"cursor": answer["next_cursor"]}


def walk(client, op, key, **asked):
    return list(itertools.chain.from_iterable(pages(client, op, key, **asked)))


def listed(client, **asked):
    return walk(client, "list", "leases", **asked)


def history(client, identity, **asked):
    return walk(client, "history", "history", identity=identity, **asked)


def program(name):
    return {"by": "program", "tenant_id": "tenant-main", "program_id": name}


def acquire_many(client, identities, **fields):
    """Their grants; all asked before the first answer is read."""
    asked = [client.send("acquire", identity=one, **fields) for one in identities]
    grants = [client.answer(one) for one in asked]
    assert all(one["code"] == "lease_acquired" for one in grants)
    return grants


def release_many(client, grants):
    asked = [client.send("release", lease_id=ipc.lease_id(one), fencing_token=ipc.token(one))
             for one in grants]
    assert all(client.answer(one)["code"] == "lease_released" for one in asked)


def ids(leases):
    return [one["lease_id"] for one in leases]


@pytest.mark.parametrize("partitions", [1, 8])
def test_who_is_active_during_a_whole_walk_is_told_exactly_once(backend, configured, partitions):
    """Every second lease goes, and others come, between the pages of the walk."""
    daemon = configured(backend.socket, {"valkey.partitions": partitions,
                                         "policy.default_ttl_ms": 10000})
    with daemon.connect() as client, daemon.connect() as reader:
        grants = acquire_many(client, [ipc.identity() for _ in range(MANY)])
        staying, leaving = grants[::2], grants[1::2]
        for by in ({"by": "owner"}, program("program-a")):
            told = []
            for page in pages(reader, "list", "leases", page_size=PAGE, **by):
                told += page
                release_many(client, leaving[:15])
                leaving = leaving[15:]
                acquire_many(client, [ipc.identity() for _ in range(10)])
            assert len(told) == len(set(ids(told)))
            assert {ipc.lease_id(one) for one in staying} <= set(ids(told))
            assert all(one["state"] == "active" for one in told)
        found = {one["lease_id"]: one for one in listed(reader, by="owner", page_size=100)}
        first = ipc.lease_id(staying[0])
        assert found[first]["lock_identity"] == staying[0]["lease"]["lock_identity"]
        assert found[first]["fencing_token"] == ipc.token(staying[0])


@pytest.mark.asan
def test_list_by_owner_target_and_program(shared):
    name = ipc.unique("program")
    wanted = [ipc.identity("x", program_id=name, actor_name=actor) for actor in ("one", "two")]
    other = ipc.identity("y", program_id=name)
    with shared.connect() as client, shared.connect_admin() as admin:
        grants = acquire_many(client, [*wanted, other])
        target = {"by": "target", "tenant_id": " Tenant-Main ", "program_id": name,
                  "target_namespace": "starintel-target", "target_id": "X"}
        for asker in (client, admin):
            assert set(ids(listed(asker, **target))) == set(map(ipc.lease_id, grants[:2]))
            assert set(ids(listed(asker, **program(name)))) == set(map(ipc.lease_id, grants))
            assert set(map(ipc.lease_id, grants)) <= set(ids(listed(asker, by="owner")))
        assert listed(client, by="owner", owner_principal_id="somebody") == []
        refused = client.call("list", **{**target, "target_id": "a/b"})
        assert refused["code"] == "invalid_lease_request" and refused["field"] == "target_id"
        release_many(client, grants)
        assert listed(client, **program(name)) == []


def restricted(configured, backend, keeper, **changes):
    """A daemon after `keeper`, with its state, whose principal is another."""
    return configured(backend.socket, tree={
        "": {"state_directory": str(keeper.folder / "state")},
        "principal": [starleased.principal(**changes)]})


def test_only_what_is_in_scope_is_told(backend, configured):
    keeper = configured(backend.socket, {"policy.default_ttl_ms": 10000})
    with keeper.connect() as client:
        acquire_many(client, [ipc.identity(actor_name=actor)
                              for actor in ("one", "two") for _ in range(60)],
                     on_disconnect="keep")
        ended = client.acquire(ipc.identity("ended", actor_name="two"))
        client.release(ended)
        keeper.close()
    daemon = restricted(configured, backend, keeper, actors=["one"],
                        capabilities=["targets:read", "audit:read"])
    daemon.wait_backend()
    with daemon.connect() as client:
        # The tokens' epoch has not changed: the store is the same process.
        found = listed(client, page_size=7, **program("program-a"))
        assert len(found) == 60
        assert {one["lock_identity"]["actor_name"] for one in found} == {"one"}
        answer = client.call("history", identity=ended["lease"]["lock_identity"])
        assert answer["code"] == "access_denied"
    daemon.close()
    reader = restricted(configured, backend, keeper, id="prn_reader",
                        capabilities=["targets:read"])
    reader.wait_backend()
    with reader.connect() as client:
        assert len(listed(client, **program("program-a"))) == 120
        assert listed(client, by="owner") == []
        for asked in ({"op": "list", "by": "owner", "owner_principal_id": "prn_tests"},
                      {"op": "history", "identity": ipc.identity("ended")}):
            assert client.call(**asked)["code"] == "access_denied"
    reader.close()
    blind = restricted(configured, backend, keeper, capabilities=["targets:lease"])
    blind.wait_backend()
    with blind.connect() as client:
        assert client.call("list", by="owner")["code"] == "access_denied"


def altered(cursor):
    """The cursor with each of its bytes changed, with each length, and with something behind."""
    raw = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    for place in range(len(raw)):
        yield raw[:place] + bytes([raw[place] ^ 0x10]) + raw[place + 1:]
    yield from (raw[:length] for length in range(len(raw)))
    yield raw + b"\0"


def refused(client, op, cursor, **asked):
    answer = client.call(op, cursor=cursor, **asked)
    assert answer["code"] == "invalid_lease_request" and answer["field"] == "cursor", answer
    assert "without it" in answer["msg"] and answer["retryable"] is False


def test_a_cursor_serves_only_its_own_question_and_principal(backend, configured):
    keeper = configured(backend.socket, {"policy.default_ttl_ms": 10000})
    owner = {"by": "owner", "page_size": 2}
    target = {"by": "target", "tenant_id": "tenant-main", "program_id": "program-a",
              "target_namespace": "starintel-target", "target_id": "x"}
    ended = ipc.identity("ended")
    with keeper.connect() as client:
        acquire_many(client, [ipc.identity() for _ in range(5)], on_disconnect="keep")
        acquire_many(client, [ipc.identity("x", actor_name=f"a{i}") for i in range(5)],
                     on_disconnect="keep")
        for _ in range(5):
            client.release(client.acquire(ended))
        of_owner = client.call("list", **owner)["next_cursor"]
        of_target = client.call("list", page_size=2, **target)["next_cursor"]
        of_history = client.call("history", identity=ended, page_size=2)["next_cursor"]
        for raw in altered(of_owner):
            refused(client, "list", base64.urlsafe_b64encode(raw).decode().rstrip("="), **owner)
        for text in ("=", "a", of_owner + "=", of_owner + "\n", "x" * 5000):
            refused(client, "list", text, **owner)
        questions = {of_owner: ("list", {"by": "owner"}), of_target: ("list", target),
                     of_history: ("history", {"identity": ended})}
        others = [("list", program("program-a")), ("list", program("program-b")),
                  ("list", {"by": "owner", "owner_principal_id": "prn_other"}),
                  ("list", {**target, "target_id": "y"}),
                  ("history", {"identity": ipc.identity("x")})]
        for cursor, (op, asked) in questions.items():
            assert client.call(op, cursor=cursor, **asked)["status"] == "success"
            for other_op, other in [*questions.values(), *others]:
                if other != asked:
                    refused(client, other_op, cursor, **other)
        # The caller's own name is the same question as none.
        assert len(client.call("list", cursor=of_owner, by="owner",
                               owner_principal_id="prn_tests")["leases"]) == 8
    keeper.close()
    again = restricted(configured, backend, keeper)
    again.wait_backend()
    with again.connect() as client:
        assert len(client.call("list", cursor=of_owner, by="owner")["leases"]) == 8
    again.close()
    another = restricted(configured, backend, keeper, id="prn_other")
    another.wait_backend()
    with another.connect() as client:
        refused(client, "list", of_owner, by="owner", owner_principal_id="prn_tests")
        refused(client, "list", of_target, **target)
        refused(client, "history", of_history, identity=ended)


@pytest.mark.asan
def test_history_is_newest_first_and_says_why(shared):
    wanted = ipc.identity()
    with shared.connect() as client, shared.connect_admin() as admin:
        assert history(client, wanted) == []
        first = client.acquire(wanted)
        client.release(first)
        second = client.acquire(wanted, ttl_ms=100, renew="manual")
        client.wait_event("lease_lost", lease_id=ipc.lease_id(second))
        third = client.acquire(wanted, wait_ms=5000, timeout_ms=6000)
        client.release(third)
        for asker, size in ((client, 1), (client, 100), (admin, 2)):
            found = history(asker, wanted, page_size=size)
            assert [(one["lease_id"], one["state"], one["end_reason"]) for one in found] == [
                (ipc.lease_id(third), "released", "released"),
                (ipc.lease_id(second), "expired", "expired"),
                (ipc.lease_id(first), "released", "released")]
        assert found[1]["ended_at"] == found[1]["expires_at"]


def test_history_is_found_among_others(shared):
    """More of others than one call of the store looks through, before, between and behind."""
    wanted, others = ipc.identity(), [ipc.identity() for _ in range(210)]
    with shared.connect() as client:
        for times in (2, 1, 0):
            release_many(client, acquire_many(client, others))
            for _ in range(times):
                client.release(client.acquire(wanted))
        assert len(history(client, wanted, page_size=2)) == 3
        assert len(history(client, others[0])) == 3
        assert history(client, ipc.identity()) == []


def test_page_sizes(client):
    name = ipc.unique("program")
    acquire_many(client, [ipc.identity(program_id=name) for _ in range(120)])
    assert len(client.call("list", **program(name))["leases"]) == 50
    assert len(client.call("list", page_size=2**62, **program(name))["leases"]) == 100
    for size in (0, -1):
        client.send_json({"id": 9000 + size, "op": "list", "page_size": size, "by": "owner"})
        assert client.answer(9000 + size)["field"] == "page_size"


def test_command_line_walks_all_pages(shared):
    command = cli.Cli(shared)
    name = ipc.unique("program")
    wanted = ipc.identity(program_id=name)
    with shared.connect() as client:
        grants = acquire_many(client, [ipc.identity(program_id=name) for _ in range(230)])
        words = ("list", "--by", "program", "--tenant", "tenant-main", "--program", name)
        found = command.json(*words)
        assert found["code"] == "lease_listed" and found["more"] is False
        assert sorted(ids(found["leases"])) == sorted(map(ipc.lease_id, grants))
        some = command.json(*words, "--limit", "120")
        assert ids(some["leases"]) == ids(found["leases"])[:120] and some["more"] is True
        table = command.run(*words).stdout.splitlines()
        assert table[0].split()[:2] == ["IDENTITY", "TOKEN"] and len(table) == 231
        assert len(command.json("list", "--limit", "3")["leases"]) == 3
        for _ in range(3):
            client.release(client.acquire(wanted))
    ended = command.json("history", cli.identity_word(wanted))
    assert [one["end_reason"] for one in ended["history"]] == ["released"] * 3
    assert len(command.json("history", cli.identity_word(wanted), "--limit", "2")["history"]) == 2
    assert len(command.run("history", cli.identity_word(wanted)).stdout.splitlines()) == 4
    for wrong in (("--by", "program"), ("--by", "owner", "--tenant", "t"), ("--by", "actor"),
                  ("--by", "target", "--tenant", "t", "--program", "p"), ("--limit", "0")):
        assert command.run("list", *wrong).returncode == 200
