"""A node of a real API server whose pods run: what a scheduler, a kubelet and the garbage collector would do for plain pods, on this
machine."""
import base64
import datetime
import os
import re
import signal
import subprocess
import tempfile
import threading
import time

from fake_servers import FakeKubelet
from ports import free_ports
from running_operator import Api, Refused
from waiting import PATIENCE


class RunningNode:
    """Binds the pods of a namespace, unpacks their code, runs their commands, serves their logs, reports their ends, and removes those
    whose job is gone. Instead of a network of pods there is this machine's loopback, with a port for each job."""

    def __init__(self, cluster, namespace, name, programs):
        """`programs` is the folder that stands first in the PATH of the pods: what their image holds."""
        self._api, self._namespace, self._name, self._programs = Api(cluster), namespace, name, programs
        self._kubelet = FakeKubelet(cluster, name)
        self._folder = tempfile.mkdtemp(prefix="muster-node-", dir="/tmp")
        self._processes = {}  # by the pod's uid
        self._ports = {}  # by the job's name
        self._lock = threading.Lock()  # of the API's one connection
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def close(self):
        self._stopped.set()
        self._thread.join()
        for process in self._processes.values():
            self._end(process)
        self._kubelet.close()
        subprocess.run(["rm", "-rf", self._folder], check=True)

    @staticmethod
    def _end(process):
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)

    def _look(self):
        while not self._stopped.wait(0.1):
            with self._lock:
                pods = self._api.items("pods", self._namespace)  # before the jobs: a pod comes after its job
                jobs = {job["metadata"]["uid"] for job in self._api.items("pytorchjobs", self._namespace).values()}
            for pod in pods.values():
                uid = pod["metadata"]["uid"]
                if "deletionTimestamp" in pod["metadata"] or pod["metadata"]["ownerReferences"][0]["uid"] not in jobs:
                    self._end(self._processes.get(uid))
                    self._ask(self._api.delete, "pods", self._namespace, pod["metadata"]["name"])
                elif uid not in self._processes:
                    self._processes[uid] = None
                    threading.Thread(target=self._run, args=(pod,), daemon=True).start()

    def _ask(self, request, *args, **options):
        try:
            with self._lock:
                return request(*args, **options)
        except Refused as refused:
            assert refused.status in (404, 409), refused  # it was deleted meanwhile

    def _run(self, pod):
        name, uid = pod["metadata"]["name"], pod["metadata"]["uid"]
        container, = pod["spec"]["containers"]
        self._ask(self._api.ask, "POST", self._api.path("pods", self._namespace, name) + "/binding",
                  {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": {"kind": "Node", "name": self._name}})
        folder = os.path.join(self._folder, uid)
        places = self._volumes(pod, folder)
        if places is None:
            return
        for init in pod["spec"].get("initContainers", []):
            if "muster" in init["command"][2]:  # not the one that waits for the master's name
                subprocess.run(self._placed(init["command"], places), check=True)
        self._ask(self._api.set_pod, self._namespace, name, "Running")
        self._kubelet.write(self._namespace, name, container["name"])
        process = subprocess.Popen(
            self._placed(container["command"], places), env=self._environment(container, pod["metadata"]["labels"]["training.kubeflow.org/job-name"]),
            cwd=self._placed([container["workingDir"]], places)[0], start_new_session=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._processes[uid] = process
        last = ""
        for line in process.stdout:
            last = line.rstrip("\n")
            self._kubelet.write(self._namespace, name, container["name"], last)
        code = process.wait()
        self._kubelet.end(self._namespace, name, container["name"])
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._ask(self._api.set_pod, self._namespace, name, "Succeeded" if code == 0 else "Failed",
                  code if code >= 0 else 128 - code,
                  terminated={"finishedAt": now, "startedAt": now, **({"message": last} if code else {})})

    def _volumes(self, pod, folder):
        """Folders of this machine by the paths at which the pod sees them; None if the pod's ConfigMaps never come."""
        places = {"/root": os.path.join(folder, "root")}
        os.makedirs(places["/root"])
        volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes", [])}
        for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
            for mount in container.get("volumeMounts", []):
                if mount["mountPath"].startswith("/dev/"):
                    continue
                place = places[mount["mountPath"]] = os.path.join(folder, mount["name"])
                os.makedirs(place, exist_ok=True)
                for source in volumes[mount["name"]].get("projected", {}).get("sources", []):
                    if not self._project(source["configMap"], place):
                        return None
        return places

    def _project(self, source, place):
        path = f"/api/v1/namespaces/{self._namespace}/configmaps/{source['name']}"
        part = self._ask(self._api.ask, "GET", path)
        deadline = time.monotonic() + PATIENCE
        while part is None:  # it is made after its job
            if self._stopped.wait(0.1) or time.monotonic() > deadline:
                return False
            part = self._ask(self._api.ask, "GET", path)
        for item in source["items"]:
            with open(os.path.join(place, item["path"]), "wb") as file:
                file.write(base64.b64decode(part["binaryData"][item["key"]]))
        return True

    @staticmethod
    def _placed(words, places):
        for path, place in sorted(places.items(), key=lambda pair: -len(pair[0])):
            words = [re.sub(re.escape(path) + r"(?=$|[/\s\"'])", place, word) for word in words]
        return words

    def _environment(self, container, job):
        env = {"PATH": f"{self._programs}:/usr/bin:/bin", "HOME": self._folder}
        for variable in container.get("env", []):
            env[variable["name"]] = variable.get("value", "")
        for prefix in ("", "PET_"):
            master = env.get(prefix + "MASTER_ADDR")
            if master:
                env[prefix + "MASTER_ADDR"] = "127.0.0.1"
                env[prefix + "MASTER_PORT"] = str(self._port_of(job))
        return env

    def _port_of(self, job):
        with self._lock:
            if job not in self._ports:
                self._ports[job], = free_ports(1)
            return self._ports[job]
