"""opctl run -b kubernetes on a real API server."""
import yaml

TRAIN = """
kind: distributed
spec:
  infrastructure:
    spec: {displayName: My Training, shapeName: BM.GPU4.8}
  cluster:
    kind: pytorch
    spec:
      image: iad.ocir.io/t/i:1
      config: {env: [{name: A, value: $(HOME) $$x}]}
      main: {name: m}
      worker: {name: w, replicas: 3}
  runtime:
    spec: {entryPoint: train.py, args: [--x, 1]}
"""


def test_a_train_yaml_is_a_pytorch_job(real_cluster, muster, namespace):
    with open(muster.path("train.yaml"), "w") as file:
        file.write(TRAIN)
    done = muster.run("opctl", "run", "-f", "train.yaml", "-b", "kubernetes", "--nobuild", "-q", "--namespace", namespace)
    info = yaml.safe_load(done.stdout)
    assert [list(run) for run in info["otherJobRunIds"]] == [["w_0"], ["w_1"], ["w_2"]]
    job = real_cluster.get("pytorchjob", info["jobId"], "-n", namespace)
    replicas = job["spec"]["pytorchReplicaSpecs"]
    assert {role: spec["replicas"] for role, spec in replicas.items()} == {"Master": 1, "Worker": 3}
    [container] = replicas["Worker"]["template"]["spec"]["containers"]
    env = {entry["name"]: entry.get("value") for entry in container["env"]}
    # $$ is a dollar of the service; $(HOME) is not to be Kubernetes'.
    assert (env["A"], env["OCI__MODE"], env["OCI__RENDEZVOUS"], env["JOB_OCID"]) == (
        "$$(HOME) $x", "WORKER", "environment", info["jobId"])
    assert "RANK" not in env and container["resources"]["limits"] == {"nvidia.com/gpu": "8"}
    assert info["jobId"] in muster.run("list", "-n", namespace).stdout
    # What the file asks for must be what the cluster takes.
    refused = muster.run("opctl", "run", "-f", "train.yaml", "-b", "kubernetes", "--nobuild", "--context", "none", code=1)
    assert "none" in refused.stderr
