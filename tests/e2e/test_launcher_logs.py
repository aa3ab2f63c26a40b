"""`explain --logs` of whole logs as launchers leave them: the corpora of bench/verdicts."""
import json
import os
import subprocess

import pytest

import launcher_logs
import launcher_logs_more
import launcher_ranks
import source_texts
from places import BINARY

CASES = {**launcher_logs.CASES, **launcher_logs_more.CASES, **launcher_ranks.CASES}
SYMPTOMS = {**launcher_logs.SYMPTOMS, **launcher_logs_more.SYMPTOMS, **launcher_ranks.SYMPTOMS}


def verdict_of(folder, files):
    for name, text in files.items():
        path = os.path.join(str(folder), name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    done = subprocess.run([BINARY, "explain", "--logs", str(folder), "-o", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", CASES)
def test_the_class_the_first_rank_and_the_advice(name, tmp_path):
    kind, rank, advice, files = CASES[name]
    verdict = verdict_of(tmp_path, files)
    assert (verdict["class"], verdict["advice"]) == (kind, advice), verdict
    if rank is not None:
        assert verdict["who"]["rank"] == rank, verdict


@pytest.mark.parametrize("name", SYMPTOMS)
def test_symptoms_alone_decide_nothing(name, tmp_path):
    assert verdict_of(tmp_path, SYMPTOMS[name])["class"] == "unknown"


@pytest.mark.parametrize("family", source_texts.FAMILIES)
def test_texts_of_the_programs_sources(family, tmp_path):
    wrong = []
    for number, (source, kind, advice, text) in enumerate(source_texts.texts_of(family)):
        verdict = verdict_of(tmp_path / str(number), {"train.log": text})
        if verdict["class"] != kind or advice not in ("-", verdict["advice"]):
            wrong.append((source, kind, advice, verdict["class"], verdict["advice"]))
    assert not wrong
