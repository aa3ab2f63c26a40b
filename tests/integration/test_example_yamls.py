"""The YAMLs of examples/mnist-pytorchjob on a real API server with muster's operator: the pods that they
come to, and what those are told (docs/launch.md)."""
import os

import pytest

from real_kubernetes import ROOT
from running_operator import wait_until

EXAMPLE = os.path.join(ROOT, "examples", "mnist-pytorchjob")


@pytest.mark.parametrize("yaml,pods,gpus,is_host,by", [
    ("mnist_dp", 1, 4, False, "muster"), ("mnist_ddp_launch", 4, 1, False, "kubectl"),
    ("mnist_ddp_launch_host", 2, 4, True, "kubectl"), ("mnist_ddp_launch_host_4x2", 4, 2, True, "muster"),
    ("mnist_ddp_launch_host_8x1", 8, 1, True, "kubectl"), ("mnist_ddp_mp_file", 2, 2, False, "kubectl"),
    ("mnist_ddp_mp_tcp_host", 8, 1, True, "muster")])
def test_the_pods_of_each_yaml(real_cluster, muster, api, namespace, yaml, pods, gpus, is_host, by):
    path = os.path.join(EXAMPLE, "yamls", f"{yaml}.yaml")
    name = yaml.replace("_", "-")
    apply = real_cluster.kubectl if by == "kubectl" else muster.run
    applied = apply("apply", "-n", namespace, "-f", path)
    # Without a warning: every field is one of the definition.
    assert (applied.stdout, applied.stderr) == (f"pytorchjob.kubeflow.org/{name} created\n", "")
    names = [f"{name}-master-0", *(f"{name}-worker-{index}" for index in range(pods - 1))]
    wait_until(f"the pods of {yaml}", lambda: api.names("pods", namespace) == names)
    ports = set()
    for rank, pod in enumerate(names):
        spec = api.get("pods", namespace, pod)["spec"]
        container = spec["containers"][0]
        env = {each["name"]: each["value"] for each in container["env"]}
        assert (env["MASTER_ADDR"], env["WORLD_SIZE"], env["RANK"]) == (names[0], str(pods), str(rank))
        assert "LOCAL_RANK" not in env
        assert container["resources"]["limits"] == {"nvidia.com/gpu": str(gpus)}
        assert spec.get("hostNetwork", False) == is_host
        assert spec["dnsPolicy"] == ("ClusterFirstWithHostNet" if is_host else "ClusterFirst")
        # In the hosts' network the port is the host's: rank 0 alone names it, so that a node takes
        # several pods of a job (docs/errata.md).
        on_host = [int(env["MASTER_PORT"])] if rank == 0 else []
        assert [port.get("hostPort") for port in container.get("ports", [])] == (
            on_host if is_host else [None])
        ports.add(env["MASTER_PORT"])
    assert len(ports) == 1 and (ports != {"23456"}) == is_host


def test_the_shared_volume(real_cluster, namespace):
    path = os.path.join(EXAMPLE, "yamls", "shared_volume.yaml")
    applied = real_cluster.kubectl("apply", "-n", namespace, "-f", path)
    assert (applied.stdout, applied.stderr) == ("persistentvolumeclaim/mnist-shared created\n", "")
