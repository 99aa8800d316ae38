"""A held lease: valid as long as it is said to be, renewed without the worker, lost by nobody."""

import pytest

from support import ipc
from support.starleased import patience
from support.wait import boot_ms


@pytest.mark.asan
def test_lease_is_held_over_three_ttls_without_the_worker(shared):
    with shared.connect(notify=["renewed"]) as holder, shared.connect() as other:
        grant = holder.acquire(ipc.identity(), ttl_ms=500)
        valid_until = grant["valid_until_boottime_ns"]
        while boot_ms() < ipc.valid_until_boot_ms(grant) + 3 * 500:
            event = holder.wait_event(timeout_s=patience(2))
            assert event["event"] == "lease_renewed"
            assert event["fencing_token"] == ipc.token(grant)
            # Renewed before the last validity ended, and moved on.
            assert boot_ms() * 1e6 < valid_until or patience(1) > 1
            assert event["valid_until_boottime_ns"] > valid_until
            valid_until = event["valid_until_boottime_ns"]
            other.acquire(grant["lease"]["lock_identity"], expect="lease_conflict")
        holder.release(grant)


def test_validity_is_counted_from_before_the_request_and_shortened(client):
    asked = boot_ms()
    grant = client.acquire(ipc.identity(), ttl_ms=5000)
    answered = boot_ms()
    until = ipc.valid_until_boot_ms(grant)
    assert asked + 5000 - 5000 * 0.002 - 2 <= until <= answered + 5000 - 5000 * 0.002 - 2
    assert 0 < grant["valid_for_ms"] <= 4988
    assert grant["lease"]["state"] == "active" and grant["replayed"] is False
    assert grant["lease"]["renewed_at"] == grant["lease"]["acquired_at"]
    assert ipc.expires_ms(grant) == ipc.acquired_ms(grant) + 5000
    client.release(grant)


def test_answer_carries_lease_and_envelope_in_full(client):
    wanted = ipc.identity()
    grant = client.acquire(wanted, execution_id="execution-1", trace_id="trace-1", job_id="job-1")
    lease, envelope = grant["lease"], grant["envelope"]
    assert lease["lock_identity"] == {**wanted, "target_id": wanted["target_id"].lower(),
                                      "workflow_name": "default", "operation_class": "default"}
    assert envelope == {"lock_key": envelope["lock_key"], "lease_id": lease["lease_id"],
                        "fencing_token": lease["fencing_token"],
                        "expires_at": lease["expires_at"], "execution_id": "execution-1",
                        "trace_id": "trace-1"}
    client.release(grant)


def test_manual_lease_is_not_renewed_and_ends_at_its_margin(shared):
    with shared.connect(notify=["renewed"]) as holder:
        grant = holder.acquire(ipc.identity(), ttl_ms=600, renew="manual")
        renewed = holder.renew(grant, ttl_ms=900)
        assert renewed["lease"]["ttl_ms"] == 900
        assert ipc.expires_ms(renewed) > ipc.expires_ms(grant)
        assert renewed["lease"]["acquired_at"] == grant["lease"]["acquired_at"]
        lost = holder.wait_event(timeout_s=patience(5))
        assert (lost["event"], lost["reason"]) == ("lease_lost", "expired")
        assert lost["valid_for_ms"] <= 900 // 5
        holder.renew(grant, expect="lease_lost")


def test_released_lease_is_over_and_evidence_stays(client):
    grant = client.acquire(ipc.identity())
    released = client.release(grant)
    assert released["lease_id"] == ipc.lease_id(grant)
    assert released["fencing_token"] == ipc.token(grant)
    seen = client.call("inspect", lease_id=ipc.lease_id(grant))["lease"]
    assert seen["state"] == "released"
    client.renew(grant, expect="lease_lost")
    client.release(grant, expect="lease_lost")
    client.no_event(0.05)


def test_wrong_token_is_lost_and_changes_nothing(client):
    grant = client.acquire(ipc.identity())
    wrong = {"lease": {**grant["lease"], "fencing_token": ipc.token(grant) + 1}}
    client.renew(wrong, expect="lease_lost")
    client.release(wrong, expect="lease_lost")
    assert client.call("inspect", lease_id=ipc.lease_id(grant))["lease"]["state"] == "active"
    client.renew(grant)
    client.release(grant)


def test_another_instance_can_neither_renew_nor_release(shared):
    with shared.connect() as holder, shared.connect() as other:
        grant = holder.acquire(ipc.identity())
        other.renew(grant, expect="lease_lost")
        other.release(grant, expect="lease_lost")
        holder.renew(grant)
        holder.release(grant)


def test_inspect_by_identity_and_by_id_agree(shared):
    wanted = ipc.identity()
    with shared.connect() as holder, shared.connect() as reader:
        assert reader.call("inspect", identity=wanted)["code"] == "lease_not_found"
        grant = holder.acquire(wanted)
        by_identity = reader.call("inspect", identity=wanted)
        by_id = reader.call("inspect", lease_id=ipc.lease_id(grant))
        assert by_identity["code"] == by_id["code"] == "lease_inspected"
        assert by_identity["lease"]["lease_id"] == by_id["lease"]["lease_id"]
        assert by_id["lease"]["fencing_token"] == ipc.token(grant)
        holder.release(grant)
        later = holder.acquire(wanted)
        assert ipc.token(later) == ipc.token(grant) + 1
        assert ipc.lease_id(later) != ipc.lease_id(grant)
        first = reader.call("inspect", lease_id=ipc.lease_id(grant))
        assert first["code"] in ("lease_inspected", "lease_not_found")
        if first["code"] == "lease_inspected":
            assert first["lease"]["state"] == "released"
        holder.release(later)
