"""What people expect to find beside the sources, and that it does what it says."""
import collections
import json
import os
import re
import subprocess

import pytest
import yaml

from places import ROOT
from waiting import PATIENCE



def read(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


def presets(kind, program="cmake"):
    flag = {"test": ["--list-presets"]}.get(kind, [f"--list-presets={kind}"])
    said = subprocess.run([program, *flag], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=True)
    return set(re.findall(r'^  "([\w-]+)"', said.stdout, re.MULTILINE))


def test_every_preset_that_is_configured_can_be_built_and_tested_by_its_name():
    configured = presets("configure")
    assert presets("build") == configured
    assert {"unit", "all", "asan", "tsan", "coverage"} <= presets("test", "ctest")
    for preset in json.loads(read("CMakePresets.json"))["testPresets"]:
        assert preset.get("configurePreset", "dev") in configured


@pytest.mark.parametrize("hook", yaml.safe_load(read(".pre-commit-config.yaml"))["repos"][0]["hooks"],
                         ids=lambda hook: hook["id"])
def test_a_hook_before_commits_refuses_what_is_broken(hook, tmp_path):
    if hook["id"] == "clang-format" and subprocess.run(["which", "clang-format-19"], capture_output=True).returncode:
        pytest.skip("no clang-format-19 here: `make lint` installs it")
    # The entry as pre-commit calls it: words as a shell reads them, then the names of files.
    def call(*files):
        return subprocess.run(["/bin/sh", "-c", f'{hook["entry"]} "$@"', "sh", *map(str, files)], cwd=ROOT, timeout=PATIENCE,
                              capture_output=True)

    good, bad = tmp_path / "good", tmp_path / "bad"
    if hook["id"] == "clang-format":
        good = tmp_path / "good.cc"
        good.write_text("int  x ;\n")
        assert call(good).returncode == 0
        assert good.read_text() == "int x;\n"
        return
    good.write_text("if true; then :; fi\n" if "shell" in hook["id"] else "x = 1\n")
    bad.write_text("if true\n")
    assert call(good).returncode == 0
    assert call(good, bad).returncode != 0


def test_the_licence_is_whole_and_the_container_of_developers_has_what_it_names():
    licence = read("LICENSE")
    assert "Apache License" in licence and "END OF TERMS AND CONDITIONS" in licence
    container = read(".devcontainer", "Dockerfile")
    copied = re.findall(r"^COPY (\S+)", container, re.MULTILINE)
    assert copied and all(os.path.exists(os.path.join(ROOT, path)) for path in copied)
    sets = re.search(r"install-packages (.+?) \\", container).group(1).split()
    known = set(re.findall(r"^  \[(\w+)\]=", read("scripts", "install-packages"), re.MULTILINE))
    assert sets and set(sets) <= known


def test_a_folder_has_some_twenty_sources_at_most():
    """A source and its header are one, and tests are none; a fuller folder needs layers (ARCHITECTURE.md)."""
    tracked = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    units = {os.path.splitext(path)[0] for path in tracked
             if path.endswith((".cc", ".h")) and not path.endswith("_test.cc") and "/testing/" not in path}
    held = collections.Counter(os.path.dirname(unit) for unit in units)
    assert {folder: count for folder, count in held.items() if count > 22} == {}


def rows_of_ten_changes():
    for line in read("CONTRIBUTING.md").split("## Ten changes")[1].splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 3 and "`" in cells[2]:
            yield pytest.param(cells[1], cells[2].strip("`").replace("\\|", "|"), id=cells[0].replace(" ", "-"))


@pytest.mark.parametrize("files, example", rows_of_ten_changes())
def test_a_change_of_the_table_touches_the_files_it_names(files, example):
    """`src/a/`: `b.cc`, `c.cc`; `d.cc`: a name without a folder is of the last folder with a colon."""
    named, folder = set(), ""
    for word, colon in re.findall(r"`([^`]+)`(:?)", files):
        if colon:
            folder = word
        elif word.endswith((".cc", ".h", ".yaml")):
            named.add(word if word.startswith(("src/", "deploy/")) else folder + word)
    done = subprocess.run(["git", "grep", "-lE", example, "--", "src", "deploy"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = {path for path in done.stdout.split() if "_test." not in path and "/testing/" not in path}
    assert found <= named
    assert {path for path in named if not os.path.exists(os.path.join(ROOT, path))} == set()
    assert len(named - found) <= 2  # where only some of such changes go


def test_the_table_has_ten_changes():
    assert len(list(rows_of_ten_changes())) == 10


@pytest.mark.parametrize("line, told", [
    ("", ""),
    ('exception "CUDA out of memory"', ""),
    ("colour red", 'a.rule: what is "colour red"?'),
    ("do nothing", 'a.rule: what is "do nothing"?'),
    ('exception "open', 'a.rule: what is "exception "open"?'),
    ('raised "a"', 'a.rule: what is "raised "a""?'),
    (None, "a.rule has no sample"),
])
def test_a_broken_rule_of_explain_fails_the_build(tmp_path, line, told):
    rule = tmp_path / "a.rule"
    rule.write_text("class a\ntitle b\n" + (f'{line}\nsample line "x"\n' if line is not None else ""))
    script = tmp_path / "check.cmake"
    script.write_text(f'include({ROOT}/cmake/EmbedRules.cmake)\nfile(READ {rule} content)\nmuster_check_rule(a "${{content}}")\n')
    done = subprocess.run(["cmake", "-P", str(script)], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode == 0) == (told == "") and told in " ".join(done.stderr.split())
