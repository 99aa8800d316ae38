"""Every lock-key vector holds through the socket (contract "lock identity")."""

import json
from pathlib import Path

import pytest

from support import ipc

VECTORS = json.loads((Path(__file__).parent.parent / "vectors/lock-keys.json").read_text())
COMPONENTS = ("tenant_id", "program_id", "target_namespace", "target_id", "actor_name",
              "workflow_name", "operation_class")


@pytest.mark.asan
@pytest.mark.parametrize("vector", VECTORS["accepted"], ids=lambda vector: vector["note"])
def test_accepted_identity_has_the_given_key(client, vector):
    wanted = vector["identity"]
    grant = client.acquire(wanted)
    assert grant["envelope"]["lock_key"] == vector["lock_key"]
    assert [grant["lease"]["lock_identity"][name] for name in COMPONENTS] == vector["canonical"]
    client.release(grant)


@pytest.mark.asan
@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda vector: vector["note"])
def test_refused_identity_names_the_field(client, vector):
    (changed, value), = vector["change"].items()
    wanted = {**VECTORS["accepted"][0]["identity"], changed: value}
    client.check = False  # some of these are not even of the right type
    answer = client.acquire(wanted, expect="invalid_lease_request")
    assert answer["field"] == f"identity.{changed}"
    assert answer["status"] == "error" and answer["retryable"] is False
    assert client.call("ping")["code"] == "pong"


def test_identities_that_normalize_alike_exclude_each_other(shared):
    target = ipc.unique("Target")
    with shared.connect() as first, shared.connect() as second:
        grant = first.acquire(ipc.identity(f"  {target.upper()}\t"))
        second.acquire(ipc.identity(target.lower()), expect="lease_conflict")
        first.release(grant)


def test_component_that_differs_in_one_place_is_another_lock(client):
    base = ipc.identity()
    grants = [client.acquire(base)]
    for name in ("tenant_id", "program_id", "target_namespace", "target_id", "actor_name",
                 "workflow_name"):
        grants.append(client.acquire({**base, name: "other"}))
    keys = {grant["envelope"]["lock_key"] for grant in grants}
    assert len(keys) == len(grants)
    for grant in grants:
        client.release(grant)
