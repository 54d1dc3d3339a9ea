"""Nothing that others write reaches the terminal as a command to it, whichever command prints it."""

import io
import json
import os
import re
import subprocess
import sys

import pytest

from metrics.cli.main import main
from metrics.cli.options import write_output
from metrics.cli.terminal import protect
from metrics.core.errors import InputError
from metrics.core.terminal_escapes import COMMANDS, RUNNERS, Shown, escape_controls, protected_stream
from tests.cli.every_command import every_command, write_folder
from tests.conftest import PROJECT

# the window's title, the clipboard, a link, a cleared screen three times, overwriting, the bell, text turned round
EVIL = "\x1b]0;owned\x07\x1b]52;c;b3duZWQ=\x07\x1b]8;;http://a.b\x1b\\\x1b[2J\x9b2J\x1bc\rover\x08\x7f\u202egnp.exe"
FILES = {
    "suite.jsonl": [{"case_id": f"c1{EVIL}", "question": EVIL, "expected_answer": "a", "tags": [EVIL]}],
    "outputs.jsonl": [{"case_id": f"c1{EVIL}", "model": f"m{EVIL}", "answer": EVIL}],
    "foreign.jsonl": [{"case_id": f"c2{EVIL}", "model": f"m{EVIL}", "answer": EVIL}],
    "labels.jsonl": [{"case_id": f"c1{EVIL}", "model": f"m{EVIL}", "rater": EVIL, "label": f"good{EVIL}"}],
    "log.jsonl": [{"id": EVIL, "time": EVIL, "answer": EVIL}],
}


@pytest.fixture
def folder(tmp_path, workspace):
    for name, rows in FILES.items():
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / f"suite{EVIL.replace('/', '')}.csv").write_text("")
    (tmp_path / f"plugin{EVIL.replace('/', '')}.py").write_text("raise ValueError('x')")
    return tmp_path


@pytest.mark.attack("suite author", "names with escape sequences drive the terminal", "control characters are shown")
def test_no_name_acts_on_the_terminal(folder, on_terminal):
    plain = EVIL.replace("/", "")
    text = on_terminal(
        folder,
        ["evaluate", "suite.jsonl", "outputs.jsonl", "--evaluators", "rouge", "--name", f"run{EVIL}"],
        ["evaluate", "suite.jsonl", "foreign.jsonl", "--quiet"],
        ["evaluate", f"suite{plain}.csv", "outputs.jsonl"],
        ["evaluate", "suite.jsonl", "outputs.jsonl", "--evaluators", EVIL],
        ["evaluate", "suite.jsonl", "outputs.jsonl", "--plugin", f"plugin{plain}.py"],
        ["describe", "latest", "--notes", EVIL, "--tag", "a"],
        ["runs"], ["runs", "--json"], ["describe", "latest"],
        ["gate", "latest", "--fail-under", "rougeL=0.1", "--markdown", "-"],
        ["export", "latest", "--what", "scores", "--format", "csv"],
        ["labels", "add", "latest", "labels.jsonl"],
        ["suites", "list"], ["suites", "diff", "suite.jsonl", EVIL],
        ["monitor", "log.jsonl", "--name", "chat", "--quiet", "--evaluators", "pii_leakage"],
        ["report", EVIL], [EVIL], ["runs", f"--{EVIL}"], ["judge", "list", EVIL],
    )  # fmt: skip
    assert "\x1b[?25l" in text, "the bars' own sequences"
    assert "run\\u001b]0;owned\\u0007" in text
    assert "\\u202egnp.exe" in text
    others = re.sub(r"\x1b\[(?:[0-9;]*[mAK]|\?25[lh]|1A|2K)|\r", "", text)
    assert [sign for sign in sorted({*others}) if not (sign.isprintable() or sign == "\n")] == []


@pytest.mark.attack("suite author", "a line end in a name fakes a line of output: a gate that passed", "a name is shown in one line, each line end as \\n")  # fmt: skip  # noqa: E501
def test_no_name_begins_a_line(tmp_path, workspace, on_terminal):
    fake = "\nFAKED"
    files = {
        "suite.jsonl": {"case_id": f"c{fake}", "question": "q", "expected_answer": "a", "tags": [f"t{fake}"]},
        "outputs.jsonl": {"case_id": f"c{fake}", "model": f"m{fake}", "answer": "a b"},
        "foreign.jsonl": {"case_id": f"d{fake}", "model": f"m{fake}", "answer": "a"},
        "labels.jsonl": {"case_id": f"c{fake}", "model": f"m{fake}", "rater": f"r{fake}", "label": f"good{fake}"},
        f"named{fake}.jsonl": {"case_id": f"c{fake}", f"column{fake}": "q"},
    }
    for name, row in files.items():
        (tmp_path / name).write_text(json.dumps(row) + "\n")
    given = ["suite.jsonl", "outputs.jsonl"]
    text = on_terminal(
        tmp_path,
        ["evaluate", *given, "--evaluators", "rouge", "--name", f"run{fake}", "--fail-under", "rougeL=0.9"],
        ["evaluate", *given, "--evaluators", "rouge", "--baseline", "latest", "--fail-if-worse"],
        ["evaluate", "suite.jsonl", "foreign.jsonl"], ["evaluate", f"named{fake}.jsonl", "outputs.jsonl"],
        ["evaluate", f"named{fake}.jsonl", "outputs.jsonl", "--all-problems"],
        ["evaluate", *given, "--evaluators", fake], ["evaluate", *given, "--param", f"rouge.a={fake}"], [f"x{fake}"],
        ["describe", "latest", "--name", f"n{fake}", "--notes", f"notes{fake}", "--tag", f"t{fake}"],
        ["runs"], ["describe", "latest"], ["gate", "latest", "--fail-under", "rougeL=0.1"], ["verify"],
        ["labels", "add", "latest", "labels.jsonl"], ["labels", "list", "latest"],
        ["suites", "list"], ["suites", "diff", "suite.jsonl", f"named{fake}.jsonl"],
        ["archive", "latest", "-o", f"a{fake}.zip"], ["import", f"a{fake}.zip"],
        ["monitor", "outputs.jsonl", "--name", f"chat{fake}", "--evaluators", "pii_leakage"], ["report", fake],
    )  # fmt: skip
    assert "m\\nFAKED" in text
    assert "run\\nFAKED" in text
    assert [line for line in text.split("\n") if line.startswith("FAKED")] == []


@pytest.mark.parametrize(("text", "expected"), [
    ("a\x1b[31mb", "a\\u001b[31mb"),
    ("title\x1b]0;x\x07", "title\\u001b]0;x\\u0007"),
    ("one byte \x9b2J", "one byte \\u009b2J"),
    ("bad\rgood", "bad\\u000dgood"),
    ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
    ("line\u2028end", "line\\u2028end"),
    ("a byte of no encoding \udc9b", "a byte of no encoding \\udc9b"),
    ("tab\tand\nlines", "tab\tand\nlines"),
    ("żółć 日本 👩‍👩‍👧 עברית", "żółć 日本 👩‍👩‍👧 עברית"),
    ("::set-output name=a::b", ":\\u003aset-output name=a::b"),
    ("x\n  ::add-mask::y", "x\n  :\\u003aadd-mask::y"),
    ("##vso[task.setvariable]y", "##vso\\u005btask.setvariable]y"),
    ("##teamcity[buildStop]", "##teamcity\\u005bbuildStop]"),
    ("x ##[add-mask]y", "x ##\\u005badd-mask]y"),
    ("a::b", "a::b"),
])  # fmt: skip
def test_what_is_shown(text, expected):
    assert escape_controls(text) == expected


def test_json_is_the_same_and_a_stream_knows_where_a_line_begins():
    data = {EVIL: [EVIL, "::a", "##[b"]}
    for indent in (None, 1):
        assert json.loads(escape_controls(json.dumps(data, ensure_ascii=False, indent=indent))) == data
    below = io.StringIO()
    stream = Shown(below)
    print("a", "::b", file=stream)
    print("::c", file=stream)
    stream.write("  ")
    stream.writelines(["::d\n", "::e\n"])
    assert below.getvalue() == "a ::b\n:\\u003ac\n  :\\u003ad\n:\\u003ae\n"


def test_streams_are_wrapped_once(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys, "stderr", None)
    protect()
    protect()
    assert isinstance(sys.stdout, Shown)
    assert isinstance(protected_stream(sys.stdout), io.StringIO)


@pytest.mark.attack("model", "a traceback in the studio's log drives the terminal or holds a key", "what is logged is shown as text, without keys")  # fmt: skip  # noqa: E501
def test_the_studios_log_is_text(tmp_path):
    code = (
        "from streamlit.logger import get_logger; log = get_logger('streamlit.page'); import app\n"
        "try: raise ValueError('no sk-abcdefgh12345678 \\x1b[2J')\n"
        "except ValueError: log.exception('page')"
    )
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "ASSAY_NO_TOKEN": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, env=environment, check=True
    )
    assert done.stderr.endswith("ValueError: no [key] \\u001b[2J\n")


@pytest.mark.attack("model", "an answer is a command to the CI runner", "it is shown by every command, and not obeyed")
def test_no_command_prints_a_command_to_a_runner(tmp_path, workspace, units_here, monkeypatch):
    """Of GitHub, Azure and TeamCity, in every name and answer, at the start of each of its lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CI", "true")
    write_folder(tmp_path, "::error::##vso[a]##teamcity[b]##[c]\r::add-mask::")
    below = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    monkeypatch.setattr(sys, "stdout", Shown(below))
    monkeypatch.setattr(sys, "stderr", Shown(below))
    for arguments in every_command():
        main(arguments)
    below.flush()
    text = below.buffer.getvalue().decode()
    assert "\\u003aerror" in text
    assert [line for line in re.split("[\r\n]", text) if line.lstrip().startswith("::") or COMMANDS.search(line)] == []


def test_data_in_a_log_stays_data_where_it_can(monkeypatch):
    below = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", Shown(below))
    monkeypatch.setenv("TF_BUILD", "True")
    write_output(b'a,"b\nc"\n', None)
    write_output(b'{"a": "##vso[b]"}\n', None)
    with pytest.raises(InputError, match="-o FILE for this format"):
        write_output(b"PAR1\xff\n::error::", None)
    below.flush()
    table, _, row = below.buffer.getvalue().decode().rpartition("\n{")
    assert table == 'a,"b\nc"'
    assert json.loads("{" + row) == {"a": "##vso[b]"}


@pytest.mark.parametrize("terminal", [False, True])
def test_tables_are_exact_in_a_pipe(terminal, monkeypatch):
    for name in RUNNERS:
        monkeypatch.delenv(name, raising=False)
    below = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(below, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stdout", Shown(below))
    write_output(f"a,{EVIL}\n".encode(), None)
    below.flush()
    assert below.buffer.getvalue().decode() == (escape_controls(f"a,{EVIL}\n") if terminal else f"a,{EVIL}\n")


@pytest.mark.attack("model", "a traceback holds a key, and goes into a run's log.txt", "standard error is redacted")
def test_messages_and_tracebacks_hold_no_key(tmp_path):
    code = "from metrics.__main__ import protect; protect(); raise ValueError('no sk-abcdefgh12345678 \\x1b[2J plain')"
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "SOME_TOKEN": "plain-words"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.stderr.endswith("ValueError: no [key] \\u001b[2J plain\n")
