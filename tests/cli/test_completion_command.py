"""Shell completion: the script is one that its shell takes, and it completes commands and options."""

import shutil
import subprocess
import sys

import pytest

from metrics.cli.completion_command import SHELLS
from metrics.cli.main import main

# what bash does at a tab: the words of the line so far, and which of them is being typed
TAB = """
source {script}
COMP_WORDS=({line})
COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_shtab_assay
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_has_a_script_that_names_the_commands(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("assay", "evaluate", "studio", "completion", "workspace"))
    if program := shutil.which(shell):
        checked = subprocess.run([program, "-n"], input=script, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(("line", "offered"), [
    pytest.param("assay eval", {"eval", "evaluate", "evaluators"}, id="commands"),
    pytest.param("assay studio --p", {"--port"}, id="options of a command"),
    pytest.param("assay completion t", {"tcsh"}, id="choices"),
])  # fmt: skip
@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has a bash of 2007")
def test_bash_completes(line, offered, capsys, tmp_path):
    main(["completion", "bash"])
    script = tmp_path / "assay"
    script.write_text(capsys.readouterr().out)
    done = subprocess.run(["bash", "-c", TAB.format(script=script, line=line)], capture_output=True, text=True)
    assert set(done.stdout.split()) == offered, done.stderr
