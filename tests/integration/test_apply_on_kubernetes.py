"""`muster apply` and `muster diff`: the same cases on a real API server and on the embedded cluster."""
import json
import subprocess

import pytest

from muster_user import Muster
from places import BINARY
from embedded_cluster import EmbeddedCluster

CLUSTERS = ("embedded", "real")


class Place:
    """A muster, and a namespace of a test's own on its cluster."""

    def __init__(self, muster, namespace):
        self._muster, self.namespace = muster, namespace

    def run(self, *args, code=0, stdin=""):
        done = subprocess.run([BINARY, *args], env=self._muster.env, cwd=self._muster.folder, text=True,
                              input=stdin, capture_output=True, timeout=120)
        assert done.returncode == code, f"{args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def apply(self, text, *args, code=0):
        """stdout and stderr of an apply of `text` from standard input."""
        done = self.run("apply", "-n", self.namespace, "-f", "-", *args, code=code, stdin=text)
        return done.stdout if code == 0 else done.stdout + done.stderr

    def diff(self, text, code):
        return self.run("diff", "-n", self.namespace, "-f", "-", code=code, stdin=text).stdout

    def write(self, name, text):
        path = self._muster.path(self.namespace + name)
        with open(path, "w") as file:
            file.write(text)
        return path


@pytest.fixture(scope="module")
def embedded():
    cluster = EmbeddedCluster()
    yield cluster.muster
    cluster.close()


@pytest.fixture(scope="module")
def real(real_cluster):
    made = Muster(real_cluster.kubeconfig)
    yield made
    made.close()


@pytest.fixture
def place(request, cluster):
    name = "apply-" + request.node.originalname.removeprefix("test_").replace("_", "-")
    made = Place(request.getfixturevalue(cluster), name)
    made.run("apply", "-f", "-", stdin=f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n")
    return made


on_both = pytest.mark.parametrize("cluster", CLUSTERS)


def settings(name, **data):
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})


JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: j}
spec:
  runPolicy: {suspend: true}
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template: {spec: {containers: [{name: pytorch, image: torch, command: ["true"]}]}}
"""


@on_both
def test_objects_are_made_changed_and_left_alone(place):
    several = f"{JOB}---\n{settings('a', x='1')}\n---\n"
    assert place.apply(several) == "pytorchjob.kubeflow.org/j created\nconfigmap/a created\n"
    assert place.apply(several) == "pytorchjob.kubeflow.org/j unchanged\nconfigmap/a unchanged\n"
    changed = several.replace("replicas: 1", "replicas: 2")
    assert place.diff(changed, 1).count("\n+      replicas: 2\n") == 1
    assert place.apply(changed) == "pytorchjob.kubeflow.org/j configured\nconfigmap/a unchanged\n"
    assert place.diff(changed, 0) == ""


@on_both
def test_a_list_is_its_objects(place):
    items = [json.loads(settings(name, x="1")) for name in ("a", "b")]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    assert place.apply(listed) == "configmap/a created\nconfigmap/b created\n"
    assert place.apply(listed, "-o", "name") == "configmap/a\nconfigmap/b\n"


@on_both
def test_fields_no_longer_named_go(place):
    place.apply(settings("a", x="1", gone="1"))
    assert "\n-  gone: \"1\"\n" in place.diff(settings("a", x="1"), 1)
    assert place.apply(settings("a", x="1")) == "configmap/a configured\n"
    shown = json.loads(place.apply(settings("a", x="1"), "-o", "json"))
    assert shown["data"] == {"x": "1"}


@on_both
def test_refusals_name_the_object(place):
    refused = place.apply(settings("a", x="1") + "\n---\n" + settings("UPPER"), code=1)
    assert refused.startswith("configmap/a created\n"), refused
    assert "document 2" in refused and "configmap/UPPER" in refused and "metadata.name" in refused
    absent = place.run("apply", "-n", "no-such-namespace", "-f", "-", stdin=settings("a"), code=1)
    assert 'configmap/a: namespaces "no-such-namespace" not found' in absent.stderr
    kind = place.apply("apiVersion: v1\nkind: Nothing\nmetadata: {name: a}\n", code=1)
    assert "knows no Nothing of v1" in kind
    group = place.apply("apiVersion: nowhere.example/v1\nkind: Thing\nmetadata: {name: a}\n", code=1)
    assert "knows no Thing of nowhere.example/v1" in group


@on_both
def test_conflicts_are_settled_by_force(place):
    place.apply(settings("a", x="1"))
    refused = place.apply(settings("a", x="2"), "--field-manager=other", code=1)
    assert "muster" in refused and ".data.x" in refused and "--force-conflicts" in refused, refused
    assert place.apply(settings("a", x="1"), "--field-manager=other") == "configmap/a unchanged\n"
    assert place.apply(settings("a", x="2"), "--field-manager=other", "--force-conflicts") == (
        "configmap/a configured\n")


@on_both
def test_dry_runs_change_nothing(place):
    for where, note in (("client", "dry run"), ("server", "server dry run")):
        assert place.apply(settings("a", x="1"), f"--dry-run={where}") == f"configmap/a created ({note})\n"
    assert place.apply(settings("a", x="1")) == "configmap/a created\n"
    for where, note in (("client", "dry run"), ("server", "server dry run")):
        assert place.apply(settings("a", x="2"), f"--dry-run={where}") == (
            f"configmap/a configured ({note})\n")
    assert place.apply(settings("a", x="1")) == "configmap/a unchanged\n"


@on_both
@pytest.mark.parametrize("how", ("strict", "warn", "ignore"))
def test_unknown_fields_are_named(place, how):
    refused = place.apply(JOB.replace("suspend: true", "suspend: true, suspnd: 1"), f"--validate={how}",
                          code=1)
    assert ".spec.runPolicy.suspnd: field not declared in schema" in refused, refused
    assert "pytorchjob.kubeflow.org/j" in refused


@on_both
def test_several_files_in_their_order(place):
    first = place.write("b.yaml", settings("b", x="1"))
    second = place.write("a.json", settings("a", x="1"))
    done = place.run("apply", "-n", place.namespace, "-f", first, "-f", second)
    assert done.stdout == "configmap/b created\nconfigmap/a created\n"


DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pears.fruit.example}
spec:
  group: fruit.example
  scope: Namespaced
  names: {kind: Pear, plural: pears, singular: pear}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {a: {type: integer}}}}
---
apiVersion: fruit.example/v1
kind: Pear
metadata: {name: conference}
spec: {a: 1}
"""


@pytest.mark.parametrize("cluster", ["real"])
def test_a_definition_and_an_object_of_it(place):
    dry = place.apply(DEFINITION, "--dry-run=server", code=1)
    assert "pears.fruit.example created (server dry run)" in dry and "knows no Pear" in dry
    label = "pear.fruit.example/conference"
    assert place.apply(DEFINITION).endswith(f"pears.fruit.example created\n{label} created\n")
    assert place.apply(DEFINITION).endswith(f"pears.fruit.example unchanged\n{label} unchanged\n")
    assert place.diff(DEFINITION, 0) == ""
    assert "-  a: 1\n+  a: 2\n" in place.diff(DEFINITION.replace("spec: {a: 1}", "spec: {a: 2}"), 1)


@pytest.mark.parametrize("cluster", ["embedded"])
def test_the_embedded_cluster_has_its_own_kinds_alone(place):
    refused = place.apply(DEFINITION, code=1)
    assert '"pears.fruit.example": the embedded cluster accepts no definitions of other kinds' in refused
    assert "the embedded cluster knows no Pear" in refused
