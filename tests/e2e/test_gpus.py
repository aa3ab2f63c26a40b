"""GPUs as a stand-in for NVIDIA's library shows them (tests/support/fake_nvml.cc)."""
import os

import pytest

from embedded_muster import Cluster
from waiting import await_words


@pytest.fixture
def gpu_cluster(request):
    made = Cluster()
    made.show_gpus(request.param)
    made.run("up")
    yield made
    made.close()


def until(cluster, words, *args):
    """What the command says, once these words are in it."""
    return await_words(words, lambda: cluster.run(*args).stdout)


@pytest.mark.parametrize("gpu_cluster", ["1"], indirect=True)
def test_a_second_job_waits_until_the_gpu_is_free(gpu_cluster):
    until(gpu_cluster, "0/1 (0%)", "top", "node")
    gpu_cluster.submit("holds", "echo GPU=$CUDA_VISIBLE_DEVICES; sleep 600", "--gpus=1")
    gpu_cluster.wait("holds", "RUNNING")
    assert gpu_cluster.run("logs", "holds").stdout.startswith("GPU=0")
    until(gpu_cluster, "1/1 (100%)", "top", "node")

    gpu_cluster.submit("waits", "echo GPU=$CUDA_VISIBLE_DEVICES", "--gpus=1")
    shown = until(gpu_cluster, "Insufficient nvidia.com/gpu", "get", "waits")
    assert shown.startswith("STATUS: PENDING")
    gpu_cluster.run("delete", "holds")
    gpu_cluster.wait("waits", "SUCCEEDED")
    assert gpu_cluster.run("logs", "waits").stdout == "GPU=0\n"


@pytest.mark.parametrize("gpu_cluster", ["8"], indirect=True)
def test_a_gang_gets_all_its_gpus_or_waits(gpu_cluster):
    until(gpu_cluster, "0/8 (0%)", "top", "node")
    gpu_cluster.submit("gang", "echo GPU=$CUDA_VISIBLE_DEVICES; sleep 600", "--workers=3", "--gpus=2")
    gpu_cluster.wait("gang", "RUNNING")
    seen = set()
    for instance in ("gang-master-0", "gang-worker-0", "gang-worker-1"):
        line = until(gpu_cluster, "GPU=", "logs", "gang", "-i", instance).strip()
        seen.update(line.removeprefix("GPU=").split(","))
    assert len(seen) == 6
    gpu_cluster.submit("more", "true", "--workers=2", "--gpus=2")
    until(gpu_cluster, "Insufficient nvidia.com/gpu", "get", "more")
    until(gpu_cluster, "6/8 (75%)", "top", "node")


@pytest.fixture
def counting_cluster():
    """One GPU, whose uncorrected memory errors a file counts."""
    made = Cluster()
    made.show_gpus("1")
    path = made.path("home", "errors")
    with open(path, "w") as file:
        file.write("3")
    os.chmod(path, 0o666)
    made.env["MUSTER_FAKE_NVML_ERRORS"] = path
    made.run("up")
    yield made
    made.close()


# It runs on for a while after its start has been told: the daemon then reads what the GPU has counted so far.
CUDA_ERROR = ("python3 -c \"import os, time\n"
              "{before}time.sleep(2); {last}"
              "raise RuntimeError('CUDA error: an illegal memory access was encountered')\"")


def test_memory_errors_while_a_job_ran_decide_what_its_kernels_do_not(counting_cluster):
    errors, go = counting_cluster.path("home", "errors"), counting_cluster.path("home", "go")
    until(counting_cluster, "0/1 (0%)", "top", "node")
    counting_cluster.submit("sound", CUDA_ERROR.format(before="", last=""), "--gpus=1")
    counting_cluster.wait("sound", "FAILED")
    counting_cluster.submit("worn", CUDA_ERROR.format(before=f"while not os.path.exists('{go}'): time.sleep(0.05)\n",
                                                      last=f"open('{errors}', 'w').write('5'); "), "--gpus=1")
    counting_cluster.wait("worn", "RUNNING")
    open(go, "w").close()
    counting_cluster.wait("worn", "FAILED")
    said = until(counting_cluster, "gpu-hardware", "explain", "worn")
    assert "GPU's driver: GPU 0 (NVIDIA Fake 80GB): 2 uncorrected memory errors while the job ran" in said.replace("\n", " ")
    assert "(cuda-error)" in counting_cluster.run("explain", "sound").stdout


@pytest.mark.parametrize("gpu_cluster", ["worn"], indirect=True)
def test_a_gpu_that_waits_for_its_reset_is_told_by_doctor(gpu_cluster):
    found = gpu_cluster.run("doctor").stdout
    assert "GPU 1 (NVIDIA Fake 80GB): a part of its memory is to be replaced at its next reset" in " ".join(found.split())


@pytest.mark.parametrize("gpu_cluster", ["mismatch"], indirect=True)
def test_a_broken_driver_is_no_gpu_and_jobs_run_on_the_cpu(gpu_cluster):
    gpu_cluster.submit("cpu", "true", "--gpus=1")
    gpu_cluster.wait("cpu", "SUCCEEDED")


@pytest.fixture
def amd_cluster(tmp_path):
    """Two GPUs, by the files that AMD's driver would show."""
    def put(path, text=""):
        os.makedirs(os.path.dirname(tmp_path / path), exist_ok=True)
        (tmp_path / path).write_text(text)

    put("dev/kfd")
    for i in range(2):
        put(f"dev/dri/renderD{128 + i}")
        put(f"sys/class/kfd/kfd/topology/nodes/{1 + i}/properties",
            f"simd_count 304\nlocation_id {(0x41 + i) << 8}\ndrm_render_minor {128 + i}\n"
            f"gfx_target_version 90402\nunique_id {os.getpid() << 8 | i}\n")
        put(f"sys/class/drm/renderD{128 + i}/device/gpu_busy_percent", "17\n")
    made = Cluster()
    made.env.update(MUSTER_NVML=str(tmp_path), MUSTER_GPU_ROOT=str(tmp_path))
    made.run("up")
    yield made
    made.close()


def test_amds_gpus_are_given_by_either_name(amd_cluster):
    until(amd_cluster, "0/2 (0%)", "top", "node")
    amd_cluster.submit("holds", "echo GPU=$ROCR_VISIBLE_DEVICES HIP=$HIP_VISIBLE_DEVICES; sleep 600", "--gpus=1")
    amd_cluster.wait("holds", "RUNNING")
    assert until(amd_cluster, "GPU=", "logs", "holds") == "GPU=0 HIP=0\n"
    until(amd_cluster, "1/2 (50%)", "top", "node")
    assert "17.0%" in amd_cluster.run("get", "holds", "-g").stdout

    amd_cluster.submit("waits", "echo GPU=$ROCR_VISIBLE_DEVICES HIP=$HIP_VISIBLE_DEVICES", "--device=amd.com/gpu=2")
    until(amd_cluster, "Insufficient amd.com/gpu: the job asks for 2", "get", "waits")
    amd_cluster.run("delete", "holds")
    amd_cluster.wait("waits", "SUCCEEDED")
    assert amd_cluster.run("logs", "waits").stdout == "GPU=0,1 HIP=0,1\n"


def test_a_pod_that_asked_for_none_sees_none_of_amds(amd_cluster):
    until(amd_cluster, "0/2 (0%)", "top", "node")
    amd_cluster.submit("none", "echo GPU=${ROCR_VISIBLE_DEVICES-unset} HIP=$HIP_VISIBLE_DEVICES")
    amd_cluster.wait("none", "SUCCEEDED")
    assert amd_cluster.run("logs", "none").stdout == "GPU= HIP=-1\n"
