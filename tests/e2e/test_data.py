"""Data volumes, host directories, configuration files and shared memory, as root and as nobody."""
import os
import re

import pytest

from waiting import await_words

MIB = 1 << 20


@pytest.fixture(params=["cluster", "nobody_cluster"])
def any_cluster(request):
    return request.getfixturevalue(request.param)


def folder(cluster, name, mode=0o700, owner=None, **files):
    """A directory of the cluster's user (or `owner`), with text files in it."""
    path = cluster.path(name)
    os.makedirs(path)
    owner = cluster.uid if owner is None else owner
    for file, text in files.items():
        with open(os.path.join(path, file), "w") as handle:
            handle.write(text)
        os.chown(os.path.join(path, file), owner, owner)
    os.chmod(path, mode)
    os.chown(path, owner, owner)
    return path


def await_text(cluster, name, text):
    """Until `get` says so."""
    await_words(text, lambda: cluster.run("get", name).stdout)


def log(cluster, name, instance="master-0"):
    return cluster.run("logs", name, "-i", f"{name}-{instance}").stdout


def test_two_instances_read_and_write_one_volume(any_cluster):
    cluster = any_cluster
    data = folder(cluster, "data", digits="0123456789")
    cluster.run("data", "create", "training-data", "--path", data)
    # Each writes a file and waits for the other's, so both must have it at once.
    cluster.submit("pair", "cat /mnist_data/digits && echo $RANK > /mnist_data/rank-$RANK && "
                           "until [ -s /mnist_data/rank-0 ] && [ -s /mnist_data/rank-1 ]; "
                           "do sleep 0.05; done; cat /mnist_data/rank-0 /mnist_data/rank-1",
                   "--workers=2", "--data=training-data:/mnist_data")
    cluster.wait_for_all("pair", "SUCCEEDED")
    for instance in ("master-0", "worker-0"):
        assert log(cluster, "pair", instance) == "01234567890\n1\n"
    assert sorted(os.listdir(data)) == ["digits", "rank-0", "rank-1"]
    assert os.stat(os.path.join(data, "rank-1")).st_uid == cluster.uid
    assert not os.path.exists("/mnist_data")


@pytest.mark.parametrize("how", ["flag", "volume"])
def test_a_volume_that_may_only_be_read(any_cluster, how):
    cluster = any_cluster
    data = folder(cluster, "data", digits="0123")
    cluster.run("data", "create", "training-data", "--path", data,
                *(["--read-only"] if how == "volume" else []))
    mode = "ReadOnlyMany" if how == "volume" else "ReadWriteMany"
    assert mode in cluster.run("data", "list").stdout
    suffix = ":ro" if how == "flag" else ""
    cluster.run("data", "create", "scratch", "--path", folder(cluster, "scratch"))
    # A master that ends before its worker has started ends the job.
    cluster.submit("reader", "exec 2>&1; cat /d/digits; touch /d/x || echo refused; rm -f /d/digits || true; touch /s/$RANK; "
                             "until [ -e /s/0 ] && [ -e /s/1 ]; do sleep 0.05; done",
                   f"--data=training-data:/d{suffix}", "--data=scratch:/s", "--workers=2")
    cluster.wait_for_all("reader", "SUCCEEDED", "FAILED")
    for instance in ("master-0", "worker-0"):
        text = log(cluster, "reader", instance)
        assert text.startswith("0123") and "refused\n" in text, text
        assert "Read-only file system" in text
    assert os.listdir(data) == ["digits"]


def test_what_is_written_beside_the_code_reaches_the_volume(any_cluster, repository):
    cluster = any_cluster
    data = folder(cluster, "data", digits="0123")
    cluster.run("data", "create", "training-data", "--path", data)
    cluster.submit("beside", "ls code/mnist-pytorch/mnist.py && cat digits > model.pt",
                   "--working-dir=/mnist_data", "--data=training-data:/mnist_data",
                   "--sync-mode=git", f"--sync-source=file://{repository}")
    cluster.wait_for_all("beside", "SUCCEEDED", "FAILED")
    assert log(cluster, "beside") == "code/mnist-pytorch/mnist.py\n"
    with open(os.path.join(data, "model.pt")) as file:
        assert file.read() == "0123"
    assert os.listdir(os.path.join(data, "code")) == [], "the place of the code, and no code"


def test_mounts_inside_of_the_code(any_cluster, repository):
    cluster = any_cluster
    data = folder(cluster, "data", digits="0123 ")
    other = folder(cluster, "other", here="here ")
    settings = folder(cluster, "settings", **{"a.yaml": "lr: 1 "})
    cluster.run("data", "create", "training-data", "--path", data)
    project = "/root/code/mnist-pytorch"
    cluster.submit("inside", f"cd {project}; cat data/digits deep/other/here conf/a.yaml digits.py && ls mnist.py && touch data/new",
                   "--sync-mode=git", f"--sync-source=file://{repository}", f"--data=training-data:{project}/data",
                   f"--data-dir={other}:{project}/deep/other", f"--config-file={settings}/a.yaml:{project}/conf/a.yaml",
                   f"--data-dir={settings}/a.yaml:{project}/digits.py")
    cluster.wait_for_all("inside", "SUCCEEDED", "FAILED")
    assert log(cluster, "inside") == "0123 here lr: 1 lr: 1 mnist.py\n"
    assert sorted(os.listdir(data)) == ["digits", "new"]


def test_directories_of_the_machine(any_cluster):
    cluster = any_cluster
    same = folder(cluster, "same", here="same")
    moved = folder(cluster, "moved", here="moved")
    read = folder(cluster, "read", here="read")
    cluster.submit("dirs", f"exec 2>&1; cat {same}/here /moved/here /read/here; touch {same}/new /moved/new; "
                           "touch /read/new || echo refused",
                   f"--data-dir={same}", f"--data-dir={moved}:/moved", f"--data-dir={read}:/read:ro")
    cluster.wait_for_all("dirs", "SUCCEEDED")
    text = log(cluster, "dirs")
    assert text.startswith("samemovedread") and text.endswith("refused\n"), text
    assert [sorted(os.listdir(each)) for each in (same, moved, read)] == [
        ["here", "new"], ["here", "new"], ["here"]]


def manifest(cluster, name, command, *flags):
    """What submit would make, for apply, which makes it without submit's own checks."""
    path = cluster.path("tmp", f"{name}.yaml")
    with open(path, "w") as file:
        file.write(cluster.submit(name, command, "--dry-run=client", *flags).stdout)
    return path


def test_a_directory_that_is_not_there_is_the_reason(any_cluster):
    cluster = any_cluster
    missing = folder(cluster, "missing")
    job = manifest(cluster, "waits", "true", f"--data-dir={missing}:/d")
    os.rmdir(missing)
    cluster.run("apply", "-f", job)
    await_text(cluster, "waits", f'"{missing}": No such file or directory')


@pytest.mark.parametrize("dry", [[], ["--dry-run=client"], ["--dry-run=server"]])
def test_submit_refuses_a_directory_that_is_not_there(cluster, dry):
    missing = cluster.path("missing")
    refused = cluster.submit("never", "true", f"--data-dir={missing}:/d", *dry, code=2)
    assert f"--data-dir is invalid: {missing}: No such file or directory" in refused.stderr
    assert refused.stdout == "" and "never" not in cluster.run("list").stdout


@pytest.mark.parametrize("dry", [[], ["--dry-run=server"]])
def test_submit_refuses_a_claim_that_is_not_there(cluster, dry):
    refused = cluster.submit("never", "true", "--data=training-data:/d", *dry, code=1)
    assert ('persistentvolumeclaim "training-data" not found: `muster data create training-data --path DIR` makes '
            "one") in refused.stderr
    data = folder(cluster, "data")
    cluster.run("data", "create", "training-data", "--path", data)
    os.rmdir(data)
    refused = cluster.submit("never", "true", "--data=training-data:/d", *dry, code=1)
    assert f'persistentvolumeclaim "training-data": {data}: No such file or directory' in refused.stderr
    assert "never" not in cluster.run("list").stdout
    os.mkdir(data)
    cluster.submit("some", "true", "--data=training-data:/d", *dry)


def test_configuration_files(any_cluster):
    cluster = any_cluster
    text = "lr: 0.1  # 'quoted' \"twice\" $HOME ä\n\ttabbed\n"
    config = folder(cluster, "settings", **{"train.yaml": text, "other.ini": "[a]\nb=c"})
    cluster.submit("configured", "cat /etc/app/train.yaml; cat /etc/app/other.ini; echo; "
                                 f"cat {config}/train.yaml | head -c 2; ls /etc/hosts",
                   f"--config-file={config}/train.yaml:/etc/app/train.yaml",
                   f"--config-file={config}/other.ini:/etc/app/other.ini", "--workers=2", "--clean-task-policy=None")
    cluster.wait_for_all("configured", "SUCCEEDED")
    cluster.await_no_process()
    for instance in ("master-0", "worker-0"):
        assert log(cluster, "configured", instance) == text + "[a]\nb=c\nlr/etc/hosts\n"
    assert not os.path.exists("/etc/app")


@pytest.mark.parametrize("flags, size", [(("--share-memory=64Mi",), 64 * MIB),
                                         ((), 2048 * MIB)])
def test_shared_memory_has_its_size(any_cluster, flags, size):
    cluster = any_cluster
    # The programs of one instance share it, and no other instance sees it.
    cluster.submit("shm", "df -B1 --output=size /dev/shm | tail -n 1; touch /dev/shm/of-$RANK; "
                          "ls /dev/shm; head -c 80M /dev/zero > /dev/shm/big || echo full",
                   "--workers=2", *flags)
    cluster.wait_for_all("shm", "SUCCEEDED")
    cluster.await_no_process()  # the worker may end a moment after the master
    for rank, instance in enumerate(("master-0", "worker-0")):
        lines = log(cluster, "shm", instance).splitlines()
        assert int(lines[0]) == size
        assert lines[1] == f"of-{rank}"
        assert (lines[-1] == "full") == (size < 80 * MIB)
    assert not [name for name in os.listdir("/dev/shm") if name.startswith("of-")]


def test_without_a_size_the_machines_own_memory_is_shared(any_cluster):
    cluster = any_cluster
    cluster.submit("shm", "df -B1 --output=size /dev/shm | tail -n 1", "--share-memory=")
    cluster.wait_for_all("shm", "SUCCEEDED")
    info = os.statvfs("/dev/shm")
    assert int(log(cluster, "shm")) == info.f_frsize * info.f_blocks


def test_list_create_delete(any_cluster):
    cluster = any_cluster
    data = folder(cluster, "data")
    cluster.run("data", "create", "training-data", "--path", data, "--description=digits",
                "--owner=tom")
    cluster.run("data", "create", "nas", "--path", data, "-n", "default", "--read-only")
    table = cluster.run("data", "list").stdout
    assert re.fullmatch(r"NAME           ACCESSMODE     DESCRIPTION  OWNER  AGE\n"
                        r"nas            ReadOnlyMany                       \d+s\n"
                        r"training-data  ReadWriteMany  digits       tom    \d+s\n", table), table
    everywhere = cluster.run("data", "list", "--allNamespaces").stdout.splitlines()
    assert everywhere[0].split() == ["NAME", "NAMESPACE", "ACCESSMODE", "DESCRIPTION", "OWNER",
                                     "AGE"]
    assert everywhere[1].split()[:3] == ["nas", "default", "ReadOnlyMany"]
    again = cluster.run("data", "create", "nas", "--path", data, code=1)
    assert "the data nas is already exist, please delete it first" in again.stderr
    deleted = cluster.run("data", "delete", "nas", "absent", "training-data")
    assert deleted.stdout == ("persistentvolumeclaim/nas deleted\n"
                              "persistentvolumeclaim/training-data deleted\n")
    assert "The data 'absent' does not exist,skip to delete it" in deleted.stderr
    assert cluster.run("data", "list").stdout == "NAME  ACCESSMODE  DESCRIPTION  OWNER  AGE\n"
    assert os.path.isdir(data)


def test_a_volume_is_kept_while_a_job_uses_it(any_cluster):
    cluster = any_cluster
    data = folder(cluster, "data")
    cluster.run("data", "create", "training-data", "--path", data)
    cluster.submit("user", "until [ -e /d/end ]; do sleep 0.05; done", "--data=training-data:/d")
    cluster.wait("user", "RUNNING")
    refused = cluster.run("data", "delete", "training-data", code=1)
    assert "the data training-data is in use by job user: delete that first" in refused.stderr
    with open(os.path.join(data, "end"), "w"):
        pass
    cluster.wait_for_all("user", "SUCCEEDED")
    cluster.run("data", "delete", "training-data")


def test_a_job_waits_for_its_volume(any_cluster):
    cluster = any_cluster
    data = folder(cluster, "data", digits="0123")
    cluster.run("apply", "-f", manifest(cluster, "early", "cat /d/digits", "--data=training-data:/d"))
    await_text(cluster, "early", 'persistentvolumeclaim "training-data" not found')
    cluster.run("data", "create", "training-data", "--path", data)
    cluster.wait_for_all("early", "SUCCEEDED")
    assert log(cluster, "early").strip() == "0123"
