"""README and docs: every command block runs, every link leads somewhere, and what the program says of itself is what the pages say."""
import filecmp
import glob
import json
import os
import re
import subprocess

import pytest

import manual_pages
from places import BINARY, ROOT
from test_tensorboard import tensorboard_python, use_python  # noqa: F401
from waiting import PATIENCE

MANUAL = sorted([os.path.join(ROOT, name) for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "SECURITY.md")] +
                glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True))
NAMES = [os.path.relpath(path, ROOT) for path in MANUAL]


def is_run(block):
    return block.language in ("sh", "console") and not block.needs


WITH_COMMANDS = [name for name in NAMES if any(map(is_run, manual_pages.blocks_of(os.path.join(ROOT, name))))]


def read_page(name, cluster):
    for other in ("arena", "ads", "torchrun"):
        os.symlink(cluster.binary, cluster.path("bin", other))
    env = {**cluster.env, "PATH": cluster.path("bin") + ":" + cluster.env["PATH"], "MUSTER_SOURCE": ROOT,
           "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@localhost", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@localhost"}
    reader = manual_pages.Reader(env, cluster.path("home"), cluster.folder, cluster._become())
    for block in filter(is_run, manual_pages.blocks_of(os.path.join(ROOT, name))):
        reader.read(block)


def test_the_first_ten_minutes_are_the_same_for_an_ordinary_user(nobody_cluster):
    read_page("docs/quickstart.md", nobody_cluster)


# The quickstart has been read by the ordinary user.
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.soak) if name == "docs/quickstart.md" else name
                                  for name in WITH_COMMANDS])
def test_commands_run_as_written(name, cluster, request):
    if name == "docs/howto/tensorboard.md":
        use_python(cluster, request.getfixturevalue("tensorboard_python"))
    read_page(name, cluster)


@pytest.mark.parametrize("name", NAMES)
def test_commands_that_are_not_run_are_shell(name):
    for block in manual_pages.blocks_of(os.path.join(ROOT, name)):
        if block.language == "sh" and block.needs:
            done = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True, timeout=PATIENCE)
            assert done.returncode == 0, f"{block}: {done.stderr}"


def anchors_of(path):
    with open(path) as file:
        text = file.read()
    headings = re.findall(r"^#+ +(.*)$", text, re.MULTILINE) + re.findall(r"^(.+)\n[-=]{3,}$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    with open(os.path.join(ROOT, name)) as file:
        text = re.sub(r"```.*?```", "", file.read(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        full = os.path.normpath(os.path.join(ROOT, os.path.dirname(name), path)) if path else os.path.join(ROOT, name)
        assert os.path.exists(full), f"{name}: {target}"
        assert not anchor or anchor in anchors_of(full), f"{name}: {target}, there are {anchors_of(full)}"


def test_every_page_is_reached_from_the_readme():
    seen, left = set(), [os.path.join(ROOT, "README.md")]
    while left:
        page = left.pop()
        if page in seen or not page.endswith(".md"):
            continue
        seen.add(page)
        with open(page) as file:
            for target in re.findall(r"\]\(([^)#\s]+)", file.read()):
                if "://" not in target and os.path.isfile(found := os.path.normpath(os.path.join(os.path.dirname(page), target))):
                    left.append(found)
    assert not set(MANUAL) - seen


def test_the_readme_is_read_in_two_minutes():
    with open(os.path.join(ROOT, "README.md")) as file:
        lines = file.read().splitlines()
    assert len(lines) <= 120 and max(map(len, lines)) <= 120
    paragraph = 0
    is_fenced = False
    for line in lines:
        is_fenced ^= line.startswith("```")
        paragraph = 0 if is_fenced or not line or line[0] in "|#-*`" else paragraph + 1
        assert paragraph <= 4, line


def pages_below(folder):
    return {os.path.relpath(path, folder) for path in glob.glob(os.path.join(folder, "**", "*.md"), recursive=True)}


def test_the_reference_is_what_the_program_says(tmp_path):
    """`scripts/reference` brings the pages up to date."""
    subprocess.run([os.path.join(ROOT, "scripts", "reference"), tmp_path], check=True, timeout=PATIENCE,
                   env={**os.environ, "MUSTER_BINARY": BINARY})
    written = os.path.join(ROOT, "docs", "reference")
    made = pages_below(tmp_path)
    assert made and pages_below(os.path.join(written, "commands")) == pages_below(tmp_path / "commands")
    stale = [page for page in made if not filecmp.cmp(os.path.join(written, page), tmp_path / page, shallow=False)]
    assert not stale, f"scripts/reference writes them anew: {stale}"


# These print cobra's words, or the words of their tables of flags.
WITHOUT_A_PAGE = ("muster completion", "muster help", "muster launch", "muster python-shim")


def words_of(text):
    return " ".join(text.split())


def test_the_help_of_every_verb_is_a_page_beside_its_source():
    pages = set()
    for path in glob.glob(os.path.join(ROOT, "src", "**", "*.md"), recursive=True):
        with open(path) as file:
            pages.add(words_of(file.read().split("## Examples")[0].replace("{program}", "muster")))
    version = subprocess.run([os.path.join(ROOT, "scripts", "version")], capture_output=True, text=True, check=True).stdout.strip()
    found = 0
    for path in glob.glob(os.path.join(ROOT, "docs", "reference", "commands", "*.md")):
        with open(path) as file:
            verbs = re.findall(r"^## (muster [^\n]*)\n\n```text\n(.*?)```", file.read(), re.MULTILINE | re.DOTALL)
        for verb, printed in verbs:
            is_group = re.search(r"^(Available )?Commands:$", printed, re.MULTILINE)
            if is_group or verb.startswith(WITHOUT_A_PAGE):
                continue
            if printed.startswith("Usage:"):
                text = re.split(r"^\w+:$", printed.split("\n\n", 1)[1], flags=re.MULTILINE)[0]
            else:
                text = printed.split("\nUsage:", 1)[0]
            assert words_of(text).replace(version, "{version}") in pages, f"{verb}: src has no page with this text: {text}"
            found += 1
    assert found > 45


# What muster's processes tell each other, and what only tests set.
INTERNAL = {"MUSTER_ENVIRONMENT_TEST", "MUSTER_SIMULATIONS", "MUSTER_SEED", "MUSTER_FAKE_NVML", "MUSTER_DAEMON_READY",
            "MUSTER_GIT_USERNAME", "MUSTER_GIT_PASSWORD", "MUSTER_WARM_BROKER", "MUSTER_WARM_PYTHON"}


def test_every_variable_is_in_the_reference():
    found = set()
    for path in glob.glob(os.path.join(ROOT, "src", "**"), recursive=True):
        if path.endswith((".h", ".cc")) and not path.endswith("_test.cc"):
            with open(path) as file:
                found |= set(re.findall(r"""\b((?:MUSTER|XDG)_[A-Z_]*[A-Z])["']""", file.read()))
    assert "MUSTER_CLUSTER" in found
    with open(os.path.join(ROOT, "docs", "reference", "variables.md")) as file:
        page = file.read()
    named = set(re.findall(r"`([A-Z_]+)[`=]", page))
    assert not found - INTERNAL - named
    assert not {name for name in named if name.startswith("MUSTER_")} - found


def fields_of(heading):
    """The names in the first column of the tables below a heading of docs/reference/json.md."""
    with open(os.path.join(ROOT, "docs", "reference", "json.md")) as file:
        section = file.read().split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", " ".join(cells)))


def test_the_fields_of_a_job_are_in_the_reference(cluster):
    cluster.submit("failing", "exit 7", "--wait", "--selector=disk=ssd", code=1)
    job = cluster.get("failing")
    # `progress` is absent until a job tells how far it is.
    assert fields_of("muster get JOB -o json") == set(job) | set(job["instances"][0]) | {"progress"}
    listed = json.loads(cluster.run("list", "-o", "json").stdout)[0]
    assert set(job) - set(listed) == {"warnings"}


def test_the_fields_of_a_failure_are_in_the_reference(cluster):
    report = cluster.path("failure.json")
    cluster.run("launch", f"--failure-file={report}", "--nproc-per-node=1", "--no-python", "sh", "-c", "exit 7", code=7)
    with open(report) as file:
        failure = json.load(file)
    assert fields_of("failure.json") == set(failure) | set(failure["root_cause"]) | set(failure["failures"][0])


def test_the_fields_of_a_run_are_in_the_reference(cluster):
    for name, value in (("a", "1"), ("b", "2")):
        cluster.run("run", f"--name={name}", f"--env=X={value}", "true")
    shown = json.loads(cluster.run("show", "a", "-o", "json").stdout)
    assert fields_of("muster show RUN -o json") == set(shown) | set(shown["attempts"][0]) | {"progress"}
    assert set(json.loads(cluster.run("history", "-o", "json").stdout)[0]) < set(shown)
    compared = json.loads(cluster.run("compare", "a", "b", "-o", "json").stdout)
    assert fields_of("muster compare RUN RUN -o json") == set(compared)
    assert compared["differences"]["env X"] == ["1", "2"]


def test_the_fields_of_a_verdict_are_in_the_reference(cluster):
    cluster.submit("broken", "python3 -c 'open(\"nosuch.csv\")'", "--wait", code=1)
    verdict = json.loads(cluster.run("explain", "broken", "-o", "json").stdout)
    assert fields_of("muster explain RUN -o json") == set(verdict) | set(verdict["who"]) | (
        set(verdict["where"] or ("file", "line", "function"))) | set(verdict["evidence"][0])


def test_the_fields_of_a_finding_are_in_the_reference(cluster):
    findings = json.loads(cluster.run("doctor", "-o", "json", code=None).stdout)
    assert fields_of("muster doctor -o json") == set(findings[0])
