"""A kubelet as it treats pods that end, with the scheduler and the eviction around it: what fakes
that set phases at once leave out. The facts (Kubernetes 1.33, docs "Pod Lifecycle", "Disruptions",
"API-initiated Eviction"; that the API server does its part is asked in test_operator_recovery.py):

* A pod that is bound to a node is not deleted by DELETE: it gets deletionTimestamp = now + grace and
  stays Running while its containers die, up to terminationGracePeriodSeconds (30).
* When they are dead the kubelet writes how (state.terminated, phase Failed or Succeeded, with the
  deletionTimestamp still there), then sends DELETE with gracePeriodSeconds 0 and the uid as
  precondition. That one renews deletionTimestamp and sets deletionGracePeriodSeconds to 0.
* A program that handles SIGTERM may well end with 0: then such a pod ends Succeeded.
* Under restartPolicy OnFailure or Always a container is restarted in place: the pod stays Running,
  restartCount rises, state.running is new, and lastState.terminated has the end.
* `kubectl drain` posts an Eviction: the API server sets condition DisruptionTarget
  (EvictionByEvictionAPI) and deletes with grace. The scheduler's preemption (PreemptionByScheduler)
  and the taint manager (DeletionByTaintManager) set it themselves before they delete.
* A node under pressure deletes nothing: its kubelet writes phase Failed, reason Evicted and
  DisruptionTarget (TerminationByKubelet).
* A node that is cut off does nothing at all: its pods stay as they are, deletionTimestamp or not.
"""
import threading
import time

from running_operator import Api, Refused


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class DyingKubelet(threading.Thread):
    """The node and the scheduler of a namespace: runs every pod until the test says otherwise. Use
    it as a context. Containers take `death_seconds` to die (30 in reality) and end with
    `exit_on_term`, or as `exits_on_term` says by pod."""

    def __init__(self, cluster, namespace, death_seconds=3, exit_on_term=143):
        super().__init__(daemon=True)
        self.api, self._mine = Api(cluster), Api(cluster)
        self.namespace, self.node = namespace, f"node-of-{namespace}"
        self.death_seconds, self.exit_on_term, self.exits_on_term = death_seconds, exit_on_term, {}
        self.is_cut_off = False
        self._dying, self._over, self._lock = {}, threading.Event(), threading.Lock()
        self.failure = None

    def __enter__(self):
        try:
            self.api.ask("POST", "/api/v1/nodes", {"metadata": {"name": self.node}})
        except Refused as refused:
            assert refused.status == 409
        self.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self.join()
        assert self.failure is None, self.failure

    def run(self):
        while not self._over.wait(0.05):
            with self._lock:
                if self.is_cut_off:
                    continue
                for pod in self._mine.items("pods", self.namespace).values():
                    try:
                        self._look_after(pod)
                    except Refused as refused:
                        if refused.status not in (404, 409):  # gone or another since
                            self.failure = refused
                            return

    def _look_after(self, pod):
        meta = pod["metadata"]
        path = self._mine.path("pods", self.namespace, meta["name"])
        if "nodeName" not in pod["spec"]:
            if "deletionTimestamp" not in meta:
                self._mine.ask("POST", path + "/binding", {"metadata": {"name": meta["name"]},
                                                           "target": {"kind": "Node", "name": self.node}})
            return
        if "deletionTimestamp" in meta:
            self._end(pod, path)
        elif pod["status"].get("phase", "Pending") == "Pending":
            self._write(pod, "Running", [{"running": {"startedAt": now()}}] * self._count(pod))

    def _end(self, pod, path):
        meta = pod["metadata"]
        began = self._dying.setdefault(meta["uid"], time.monotonic())
        has_ended = pod["status"].get("phase") in ("Failed", "Succeeded")
        grace = meta.get("deletionGracePeriodSeconds", 0)
        if not has_ended and time.monotonic() < began + min(self.death_seconds, grace):
            return
        if not has_ended:
            code = self.exits_on_term.get(meta["name"], self.exit_on_term)
            self._write(pod, "Failed" if code else "Succeeded", self._ended(pod, code))
        self._mine.ask("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1",
                                        "gracePeriodSeconds": 0,
                                        "preconditions": {"uid": meta["uid"]}})

    @staticmethod
    def _count(pod):
        return len(pod["spec"]["containers"])

    def _ended(self, pod, code, message=""):
        old = pod["status"].get("containerStatuses") or [{}] * self._count(pod)
        return [{"terminated": {
            "exitCode": code, "reason": "Error" if code else "Completed", "message": message,
            "startedAt": status.get("state", {}).get("running", {}).get("startedAt", now()),
            "finishedAt": now()}} for status in old]

    def _write(self, pod, phase, states, restarted=None, **more):
        old = pod["status"].get("containerStatuses") or [{}] * self._count(pod)
        statuses = []
        for container, state, before in zip(pod["spec"]["containers"], states, old):
            is_restarted = restarted is not None and container["name"] == "pytorch"
            statuses.append({
                "name": container["name"], "image": "x", "imageID": "x", "ready": phase == "Running",
                "restartCount": before.get("restartCount", 0) + (1 if is_restarted else 0),
                "state": state,
                "lastState": restarted if is_restarted else before.get("lastState", {})})
        meta = pod["metadata"]
        self._mine.patch("pods", self.namespace, meta["name"], {
            "metadata": {"uid": meta["uid"]},
            "status": {"phase": phase, "containerStatuses": statuses, **more}}, "/status")

    def exit(self, name, code, message=""):
        """The program of a running pod ends by itself."""
        with self._lock:
            pod = self._mine.get("pods", self.namespace, name)
            ended = self._ended(pod, code, message)
            policy = pod["spec"]["restartPolicy"]
            if policy == "Always" or (policy == "OnFailure" and code):
                self._write(pod, "Running", [{"running": {"startedAt": now()}}] * self._count(pod),
                            restarted=ended[0])
            else:
                self._write(pod, "Failed" if code else "Succeeded", ended)

    def drain(self, name):
        """As `kubectl drain` does it."""
        self.api.ask("POST", self.api.path("pods", self.namespace, name) + "/eviction", {
            "apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"name": name, "namespace": self.namespace}})

    def _disrupt(self, name, by, words, **more):
        self.api.ask("PATCH", self.api.path("pods", self.namespace, name) + "/status", {"status": {
            "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": by,
                            "message": words, "lastTransitionTime": now()}], **more}},
                     "application/strategic-merge-patch+json")

    def preempt(self, name):
        """A pod of a higher priority needs the place."""
        self._disrupt(name, "PreemptionByScheduler", "default-scheduler: preempting to accommodate a "
                      "higher priority pod")
        self.api.ask("DELETE", self.api.path("pods", self.namespace, name))

    def taint(self, name):
        """The node has a NoExecute taint."""
        self._disrupt(name, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
        self.api.ask("DELETE", self.api.path("pods", self.namespace, name))

    def press(self, name):
        """The node runs out of memory: it says so, then ends the containers."""
        message = "The node was low on resource: memory."
        with self._lock:
            self._disrupt(name, "TerminationByKubelet", message, phase="Failed", reason="Evicted",
                          message=message)
            pod = self._mine.get("pods", self.namespace, name)
            if pod is None:
                return  # a pod that has failed is deleted at once
            try:
                self._write(pod, "Failed", self._ended(pod, 137))
            except Refused as refused:
                assert refused.status in (404, 409)
