#!/usr/bin/env python3
"""Runs the scenarios of bench-operator against `muster operator` and compares what is observed with
what Kubeflow's operator 1.9 did. A difference that EXPLAINED does not name fails.

  tests/compat/operator/compare.py BENCH-OPERATOR-FOLDER [--observed FILE.json]

Takes three minutes, most of it pauses of the scenarios; part of `make soak` where MUSTER_BENCH_OPERATOR names the folder.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
sys.path[:0] = [os.path.join(ROOT, "tests", folder) for folder in ("integration", "support")]
from ports import free_ports  # noqa: E402
from real_kubernetes import tools  # noqa: E402

# Where it differs -> why that is as it should be (docs/operator.md, "Differences").
EXPLAINED = [
    (r"/_about|/metric_", "what the run was; more metrics, and each job counted once"),
    (r"/basic/pods\[\d\]/initContainers\[0\]/command",
     "an image without nslookup looks the name up by getent"),
    (r"/basic/pods\[\d\]/initContainers\[0\]/securityContext",
     "namespaces that enforce `restricted` take the init container"),
    (r".*/selector", "a finished job keeps its selector: the scale subresource reads it"),
    (r"/created_lost/", "Created is there though the job changed early"),
    (r"/deadline/", "the deadline has a timer"),
    (r"/elastic_hpa/hpa_after_success", "the autoscaler goes with the job"),
    (r"/env_modes/.*/svc_ports/", "ports in the template's order, not at random"),
    (r"/failures/ExitCode worker Failed\((1|127)\)/(events|status/completionTime)$",
     "no Restarting, a completionTime"),
    (r"/failures/ExitCode worker Failed\(1\) ttl=2/", "the job is deleted after its time"),
    (r"/index_hole/events", "a pod that goes as the job shrinks is not made once more"),
    (r"/failures/backoffLimit=0 .*/(events|pods/j-worker-0|svcs|status/replicaStatuses/Worker/failed)$",
     "the pod that failed stays, with its log"),
    (r"/(restart_count_backoff|failures/backoffLimit=0 .*)/.*/replicaStatuses", "none is active once a limit has ended the job"),
    (r"/self_heal/foreign pod", "a stranger's pod holds up nothing but its own index"),
    (r"/managed_by/(update_managedBy|then_pods)", "managedBy cannot be changed"),
    (r"/managed_by/create", "the two supported values in a fixed order"),
    (r"/master_done_worker_failed/", "which is seen first decides, and together the master"),
    (r"/suspend/resumed_running/replicaStatuses/Worker/active",
     "read the moment Running is there, which the master's pod brings: the workers are counted next"),
    (r"/suspend/.*events", "Suspended and Resumed are told once"),
    (r"/ttl/ttl=0/events", "events are written behind all else: it looks the moment the job is gone"),
    (r"/validation/rdzvConf \[\] outcome", "as if unset, where v1 panics"),
    (r"/validation/managedBy", "the two supported values in a fixed order"),
]


def each_apart(event):
    """An event of several children as one for each, as v1 tells them."""
    told = re.match(r"(\w+ \w+ x\d+): (Created|Deleted) \d+ (\w+)s: (.*) (\[\w+\])$", event)
    if not told:
        return [event]
    return [f"{told[1]}: {told[2]} {told[3]}: {name} {told[5]}" for name in told[4].split(", ")]


def plain(value):
    """Without what differs from run to run."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()
                if key not in ("uid", "resourceVersion", "creationTimestamp", "took_s", "after_s")}
    if isinstance(value, list):
        if value and all(isinstance(x, str) and re.match("(Normal|Warning) ", x) for x in value):
            return sorted(part for event in value for part in each_apart(plain(event)))
        # Before the template's own variables, in each container: the token of a job's nodes.
        return [plain(item) for item in value if "MUSTER_RDZV_TOKEN" not in str(item)[:40]]
    return re.sub(r"\bs\d\d\b", "NS", value) if isinstance(value, str) else value


def differences(path, ours, theirs):
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            yield from differences(f"{path}/{key}", ours.get(key), theirs.get(key))
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        if all(isinstance(item, str) for item in ours + theirs):
            if collections.Counter(ours) != collections.Counter(theirs):
                yield path, ours, theirs
            return
        for number, pair in enumerate(zip(ours, theirs)):
            yield from differences(f"{path}[{number}]", *pair)
    elif ours != theirs:
        yield path, ours, theirs


def observe(bench, folder, only=""):
    """What the scenarios (all, or those whose names match) saw of MUSTER_BINARY."""
    binary = os.environ.get("MUSTER_BINARY", os.path.join(ROOT, "build", "muster"))
    etcd, _, server, metrics, probes, webhook = free_ports(6)  # etcd's peers take the next one
    out = os.path.join(folder, "observed.json")
    hook = f"validator.training-operator.kubeflow.org:/validate-kubeflow-org-v1-pytorchjob:{webhook}"
    environment = {
        **os.environ, "HOME": folder, "BENCH_OPERATOR": bench, "BIN": tools(), "EPORT": str(etcd), "APORT": str(server),
        "D": os.path.join(folder, "cluster"), "WEBHOOK": hook, "ROLE": "",
        "CERTSECRET": "kubeflow/training-operator-webhook-cert",
        "CERTDIR": os.path.join(folder, "certificates"),
        "CRDS": os.path.join(ROOT, "deploy", "crd.yaml"),
        "READY": f"http://127.0.0.1:{probes}/readyz", "METRICS": f"http://127.0.0.1:{metrics}/metrics",
        "OPARGS": f"operator --metrics-bind-address=127.0.0.1:{metrics} "
                  f"--health-probe-bind-address=127.0.0.1:{probes} --webhook-server-port={webhook}"}
    # scen.sh runs the scenarios.py beside it: ours, which calls the original.
    linked = tempfile.mkdtemp(dir=folder)
    os.symlink(os.path.join(bench, "scen.sh"), os.path.join(linked, "scen.sh"))
    os.symlink(os.path.join(HERE, "scenarios.py"), os.path.join(linked, "scenarios.py"))
    subprocess.run([os.path.join(linked, "scen.sh"), out, binary, "",
                    *(["--only", only] if only else [])],
                   check=True, env=environment, cwd=folder, timeout=1800)
    with open(out) as file:
        return json.load(file)


def unexplained(ours, theirs, counts):
    """path -> the two, of what EXPLAINED does not name; the others are counted by their reason."""
    found = {}
    for path, one, other in differences("", {key: ours.get(key) for key in theirs}, theirs):
        why = next((why for pattern, why in EXPLAINED if re.match(pattern, path)), None)
        if why:
            counts[why] += 1
        else:
            found[path] = (one, other)
    return found


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("bench")
    options.add_argument("--observed")
    chosen = options.parse_args()
    bench = os.path.abspath(chosen.bench)
    with open(os.path.join(bench, "golden", "scenarios.json")) as file:
        theirs = plain(json.load(file))
    counts = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="muster-scenarios-") as folder:
        if chosen.observed:
            with open(chosen.observed) as file:
                left = unexplained(plain(json.load(file)), theirs, counts)
        else:
            left = unexplained(plain(observe(bench, folder)), theirs, counts)
            # The scenarios look after fixed pauses: on a busy machine that may be too soon.
            again = sorted({path.split("/")[1] for path in left})
            if again:
                some = plain(observe(bench, folder, f"^({'|'.join(again)})$"))
                left = unexplained(some, {key: theirs[key] for key in again},
                                   collections.Counter())
    for why, count in counts.items():
        print(f"{count:>4}  {why}")
    for path, (one, other) in left.items():
        print(f"{path}\n  ours:   {json.dumps(one)}\n  theirs: {json.dumps(other)}")
    if not left:
        print(f"nothing else differs in {len(theirs)} scenarios")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
