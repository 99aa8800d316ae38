"""What a caller's scope leaves out stays out of its sight and its reach, whether it is named by
identity or by lease id (contract "inspect and list", "different tenant, program ...")."""

import pytest

from observed import Lock
from support import ipc, starleased, store

NARROW = {"tenants": ["tenant-main"], "programs": ["program-a"],
          "target_namespaces": ["starintel-target"], "targets": ["known-*"],
          "actors": ["usernamegen"], "workflows": ["default"], "operation_classes": ["default"]}
OUTSIDE = {"tenant_id": "tenant-other", "program_id": "program-b",
           "target_namespace": "other-namespace", "target_id": "hidden-1",
           "actor_name": "other-actor", "workflow_name": "other-workflow"}


@pytest.fixture(name="everyone")
def fixture_everyone(backend, configured):
    """Of a daemon whose principal may do everything."""
    with configured(backend.socket).connect() as client:
        yield client


@pytest.fixture(name="narrow")
def fixture_narrow(everyone, backend, configured):
    """Of a daemon whose principal has one program and some targets, on the same Valkey."""
    assert everyone.hello_answer["backend"]["state"] == "ready"
    row = starleased.principal(id="prn_narrow", **NARROW)
    daemon = configured(backend.socket, tree={"principal": [row]})
    daemon.wait_backend()
    with daemon.connect() as client:
        yield client


def known(**changes):
    return ipc.identity(ipc.unique("known"), **changes)


def refused(answer):
    """Nothing of the lease, the key or the backend is in it."""
    assert answer["code"] in ("access_denied", "lease_not_found"), answer
    assert not {"lease", "document", "result", "envelope"} & set(answer), answer
    assert "starlease:" not in str(answer) and "starintel:target-lease" not in str(answer)
    return answer["code"]


def test_what_is_in_scope_can_be_seen_and_had(everyone, narrow):
    grant = everyone.acquire(known())
    seen = narrow.call("inspect", identity=grant["lease"]["lock_identity"])
    assert seen["lease"]["lease_id"] == ipc.lease_id(grant)
    assert narrow.call("inspect", lease_id=ipc.lease_id(grant))["code"] == "lease_inspected"
    narrow.release(narrow.acquire(known()))


@pytest.mark.parametrize("component", OUTSIDE)
def test_each_component_out_of_scope_hides_the_lease(everyone, narrow, direct, component):
    wanted = known(**{component: OUTSIDE[component]})
    request = ipc.unique("request")
    grant = everyone.acquire(wanted, ttl_ms=8000, request_id=request)
    everyone.commit(grant, {"name": "report"})
    lock = Lock(direct, store.digest(grant), "tests")
    before = lock.record(), lock.counters(), lock.documents(), lock.ends()
    assert refused(narrow.call("inspect", identity=wanted)) == "access_denied"
    refused(narrow.call("inspect", lease_id=ipc.lease_id(grant)))
    refused(narrow.call("document", identity=wanted, name="report"))
    refused(narrow.call("resolve", identity=wanted, operation="acquire", request_id=request))
    assert refused(narrow.call("acquire", identity=wanted)) == "access_denied"
    for call in (narrow.renew, narrow.release, narrow.commit):
        call(grant, expect="lease_lost")
    assert (lock.record(), lock.counters(), lock.documents(), lock.ends()) == before


def test_a_lease_that_is_hidden_looks_like_one_that_never_was(everyone, narrow):
    hidden = everyone.acquire(known(program_id="program-b"))
    absent = everyone.acquire(known())
    everyone.release(absent)
    never = ipc.lease_id(absent)[:-1] + ("A" if ipc.lease_id(absent)[-1] != "A" else "B")
    answers = [narrow.call("inspect", lease_id=lease_id)
               for lease_id in (ipc.lease_id(hidden), never)]
    told = [{name: value for name, value in answer.items() if name not in ("id", "correlation_id")}
            for answer in answers]
    assert told[0] == told[1]
