"""The files in docs/cluster are read by the tools that they are for, as far as those are here."""

import ast
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from metrics.cli.main import parser

FILES = ("array.sh", "kubernetes.yaml", "matrix.yaml", "slurm.py")


@pytest.fixture
def folder(project: Path) -> Path:
    return project / "docs" / "cluster"


def test_each_file_is_in_the_page(folder):
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    page = folder.with_suffix(".md").read_text()
    assert all(f"(cluster/{name})" in page for name in FILES)


def test_the_scripts_are_valid(folder):
    ast.parse((folder / "slurm.py").read_text())
    subprocess.run(["bash", "-n", str(folder / "array.sh")], check=True)


@pytest.mark.parametrize("name", ["array.sh", "matrix.yaml"])
def test_their_commands_are_commands_of_assay(folder, name):
    text = (folder / name).read_text()
    commands = re.findall(r"python -m metrics (.+)", text)
    assert commands
    for command in commands:
        filled = re.sub(r'"?\$\{\{? *[^}]*\}?\}"?', "1", command).replace('"$@"', "suite.csv outputs.csv")
        parser().parse_args(shlex.split(filled.replace('"$workspace"', "shards/1")))


def test_the_cluster_of_kubernetes_is_one_of_the_operator(folder):
    cluster: dict[str, Any] = yaml.safe_load((folder / "kubernetes.yaml").read_text())
    assert (cluster["apiVersion"], cluster["kind"]) == ("kubernetes.dask.org/v1", "DaskCluster")
    scheduler, worker = (cluster["spec"][name]["spec"]["containers"][0] for name in ("scheduler", "worker"))
    assert scheduler["image"] == worker["image"]
    ports = {port["name"] for port in scheduler["ports"]}
    assert {port["targetPort"] for port in cluster["spec"]["scheduler"]["service"]["ports"]} == ports


def test_the_workflow_needs_every_shard(folder):
    jobs = yaml.safe_load((folder / "matrix.yaml").read_text())["jobs"]
    shards = jobs["shard"]["strategy"]["matrix"]["shard"]
    assert f"/{len(shards)} " in str(jobs["shard"]["steps"])
    assert jobs["merge"]["needs"] == "shard"
