"""Many workers ask for one identity at once (contract "two concurrent acquires")."""

import collections

import pytest

from support import ipc

WORKERS = 100


@pytest.mark.asan
def test_hundred_connections_get_one_grant_and_spend_one_token(shared):
    wanted = ipc.identity()
    with shared.connect() as probe:
        before = probe.acquire(wanted)
        probe.release(before)
    workers = [shared.connect() for _ in range(WORKERS)]
    try:
        asked = [worker.send("acquire", identity=wanted) for worker in workers]
        answers = [worker.answer(number) for worker, number in zip(workers, asked)]
        codes = collections.Counter(answer["code"] for answer in answers)
        assert codes == {"lease_acquired": 1, "lease_conflict": WORKERS - 1}
        winner = next(i for i, answer in enumerate(answers) if answer["code"] == "lease_acquired")
        assert ipc.token(answers[winner]) == ipc.token(before) + 1
        for answer in answers:
            if answer["code"] == "lease_conflict":
                assert answer["retryable"] is True and answer["retry_after_ms"] > 0
        workers[winner].release(answers[winner])
        after = workers[0].acquire(wanted)
        assert ipc.token(after) == ipc.token(answers[winner]) + 1
        workers[0].release(after)
    finally:
        for worker in workers:
            worker.close()
