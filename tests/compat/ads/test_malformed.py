"""train.yaml files that are wrong: one line names the field and what to do, and nothing crashes."""
import copy
import random

import pytest
import yaml

from train_yaml import TRAIN

WRONG = {"list": [1], "map": {"x": 1}, "number": 7, "text": "text", "empty": "", "true": True, "null": None, "no list": [],
         "deep": [[[[{"a": [[]]}]]]], "long": "x" * 5000, "lines": "a\nb\n"}


def whole():
    """With every part that there is."""
    document = yaml.safe_load(TRAIN)
    spec = document["spec"]
    spec["infrastructure"]["spec"].update(
        shapeConfigDetails={"ocpus": 1, "memoryInGBs": 16}, freeformTags={"a": "b"}, definedTags={"n": {"a": "b"}},
        storageMount=[{"src": "oci://b@n/p", "dest": "x"}], blockStorageSizeGB="50GB", jobType="DEFAULT",
        jobInfrastructureType="STANDALONE")
    cluster = spec["cluster"]["spec"]
    cluster.update(name="n", ephemeral=True, ps={"name": "p", "replicas": 1},
                   certificate={"caCert": {"id": "a", "downloadLocation": "x"}, "cert": {"id": "b"}})
    cluster["config"]["startOptions"] = ["--a"]
    cluster["worker"]["config"] = {"env": [{"name": "A", "value": 1}], "startOptions": ["--b"]}
    spec["runtime"]["spec"].update(kwargs="k", uri="u", env=[{"name": "B", "value": "b"}], pythonPath="x")
    return document


def paths(node, at=()):
    """Every place of the document."""
    for key in (node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()):
        yield (*at, key)
        yield from paths(node[key], (*at, key))


PATHS = [path for path in paths(whole()) if path[-1] != "apiVersion"]


def replaced(path, value):
    document = copy.deepcopy(whole())
    at = document
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    return document


def check(opctl, text, *flags):
    """The line that it is refused with; None where it is accepted."""
    opctl.write("train.yaml", text)
    done = opctl.start("run", "-f", "train.yaml", "--dry-run", *flags)
    out, error = done.communicate(timeout=120)
    assert done.returncode in (0, 1), f"exit {done.returncode}: {error}\n{text[:2000]}"
    if done.returncode == 0:
        assert "Ending dryrun mode" in out
        return None
    assert error.count("\n") == 1 and error.strip(), f"{error}\n{text[:2000]}"
    assert "train.yaml" in error and "Entering dryrun" not in out
    assert len(error) < 500, error
    return error


@pytest.mark.parametrize("path", PATHS, ids=lambda path: ".".join(map(str, path)))
def test_a_value_of_another_kind_is_named_or_taken_as_it_is(opctl, path):
    named = str(path[-1] if not isinstance(path[-1], int) else path[-2])
    for kind, value in WRONG.items():
        text = yaml.safe_dump(replaced(path, value), sort_keys=False)
        strict = check(opctl, text)
        assert strict is None or named in strict, f"{kind}: {strict}"
        # A map or a list is not what a text is wanted for, and the other way round.
        right = whole()
        for key in path:
            right = right[key]
        if "Tags" in str(path) and len(path) > 4:
            continue  # what a tag may be is the service's business, before the first request
        is_other = {type(value), type(right)} & {dict, list} and type(value) is not type(right) and value is not None
        takes_anything = path[-1] in ("args", "kwargs", "value") or "args" in path
        assert strict or not is_other or takes_anything, f"{kind} is accepted"
        if isinstance(value, (dict, list)) or value is None:
            check(opctl, text, "--no-strict")


TEXTS = {
    "nothing": "", "a text": "hello", "a list": "- a\n", "two documents": TRAIN + "---\n" + TRAIN,
    "unclosed": "kind: distributed\nspec: {a: [1, 2\n", "a tab": "kind: distributed\nspec:\n\tinfrastructure: 1\n",
    "an unknown alias": "kind: distributed\nspec: *a\n", "an alias of itself": "kind: distributed\nspec: &a [*a]\n",
    "merge of a text": "kind: distributed\nspec: {<<: text}\n", "a map as key": "kind: distributed\n? {a: 1}\n: 2\n",
    "deep": "kind: distributed\nspec: " + "[" * 5000, "deep and closed": "kind: distributed\nspec: " + "[" * 500 + "]" * 500,
    "deep maps": "kind: distributed\nspec: " + "{a: " * 500 + "}" * 500,
    "deep blocks": "kind: distributed\nspec:\n" + "".join(" " * i + "a:\n" for i in range(1, 400)),
    "a bomb": "kind: distributed\na0: &a0 [x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)),
    "a bomb of merges": "kind: distributed\na0: &a0 {x: 1}\n" + "".join(
        f"a{i}: &a{i} {{k{i}: *a{i - 1}, l{i}: *a{i - 1}, <<: [{', '.join([f'*a{i - 1}'] * 10)}]}}\n" for i in range(1, 40)),
    "an unknown tag": "kind: !!python/object:os.system distributed\n", "a kind that is a list": "kind: [distributed]\n",
    "a kind that is nothing": "kind:\n", "a directive": "%YAML 9.9\n---\nkind: distributed\n",
    "control characters": "kind: \x01\x02\n", "many keys": "kind: distributed\n" + "".join(f"k{i}: 1\n" for i in range(50000)),
    "a long text": "kind: " + "x" * 3_000_000 + "\n", "too large": "kind: distributed\n#" + "x" * (5 << 20) + "\n",
    "a number too large": TRAIN.replace("replicas: 3", "replicas: " + "9" * 400),
    "nodes without end": TRAIN.replace("replicas: 3", "replicas: 4000000000"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_is_no_training_is_one_line(opctl, name):
    for flags in ([], ["--no-strict"]):
        assert check(opctl, TEXTS[name], *flags), "it is accepted"


def test_bytes_that_are_no_text_are_one_line(opctl):
    for content in (b"\xff\xfe\x00k", b"kind: \xc3\x28\n", b"\x00" * 100, b"kind: distributed\nspec: \xed\xa0\x80\n"):
        with open(opctl.path("work", "train.yaml"), "wb") as file:
            file.write(content)
        refused = opctl.run("run", "-f", "train.yaml", "--dry-run", code=1)
        assert refused.stderr.count("\n") == 1 and "train.yaml" in refused.stderr


def test_damaged_files_never_crash(opctl):
    pick = random.Random(15)
    text = yaml.safe_dump(whole(), sort_keys=False)
    for _ in range(300):
        lines = text.split("\n")
        for _ in range(pick.randrange(1, 4)):
            at = pick.randrange(len(lines))
            lines[at] = pick.choice([
                "", lines[at] + " " + lines[pick.randrange(len(lines))].strip(), lines[pick.randrange(len(lines))],
                lines[at].replace(":", "", 1), "  " + lines[at], lines[at][2:], lines[at] + pick.choice("[]{}&*!|>'\"%@`,#"),
                pick.choice("[{&*!|>'\"%@`-?:") + lines[at]])
        check(opctl, "\n".join(lines), *pick.choice([[], ["--no-strict"]]))
