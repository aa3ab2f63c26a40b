#!/usr/bin/env python3
"""bench-operator's scenarios.py, with one difference: a job that is gone has no status. The original ends a scenario at it,
and Kubeflow's operator never deleted the job that muster deletes after its ttlSecondsAfterFinished."""
import os
import sys

sys.path.insert(0, os.environ["BENCH_OPERATOR"])
import scenarios  # noqa: E402 (the original)

status_of_existing = scenarios.K.status


def status(self, ns, name="j"):
    try:
        return status_of_existing(self, ns, name)
    except RuntimeError:
        jobs = self.api.req("GET", self.jobs(ns))["items"]
        if any(job["metadata"]["name"] == name for job in jobs):
            raise
        return None


scenarios.K.status = status
if __name__ == "__main__":
    scenarios.main()
