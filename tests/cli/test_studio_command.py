"""`studio`: who may be let in is settled before the server starts."""

import pytest

from metrics.cli.main import main
from tests.pages.team_scenes import team_file


class Started(BaseException):
    """The server would run now, with this command line and environment."""


@pytest.fixture(autouse=True)
def server(monkeypatch, tmp_path):
    """Stops where the command becomes the server."""

    def become(program: str, line: list[str], environment: dict[str, str]) -> None:
        raise Started(" ".join(line), environment)

    monkeypatch.setattr("os.execve", become)
    monkeypatch.chdir(tmp_path)  # and back: the command leaves the folder
    monkeypatch.setenv("ASSAY_WORKSPACE", str(tmp_path))
    for name in ("ASSAY_WITHOUT_SIGN_IN", "ASSAY_NO_TOKEN", "ASSAY_ALLOW_HOST"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost"])
def test_this_machine_alone_needs_no_sign_in(address):
    with pytest.raises(Started, match=f"--server.address {address} ") as started:
        main(["studio", "--address", address])
    assert "ASSAY_WITHOUT_SIGN_IN" not in started.value.args[1]


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.7", "studio.example"])
def test_another_address_does(address, capsys):
    assert main(["studio", "--address", address]) == 2
    assert f"--address {address} is reached from other machines" in capsys.readouterr().err


def test_doing_without_sign_in_or_token_are_wishes_of_their_own():
    with pytest.raises(Started) as started:
        main(["studio", "--address", "0.0.0.0", "--without-sign-in"])
    assert started.value.args[1]["ASSAY_WITHOUT_SIGN_IN"] == "1"
    with pytest.raises(Started) as started:
        main(["studio", "--no-token"])
    assert started.value.args[1]["ASSAY_NO_TOKEN"] == "1"
    with pytest.raises(Started) as started:
        main(["studio", "--address", "0.0.0.0", "--without-sign-in"])
    assert "ASSAY_NO_TOKEN" not in started.value.args[1]
    assert main(["studio", "--address", "0.0.0.0", "--no-token"]) == 2


def test_a_team_is_handed_to_the_server(tmp_path, monkeypatch):
    file = team_file(tmp_path, "https://login.example.com")
    with pytest.raises(Started, match=f"--secrets.files {file}"):
        main(["studio", "--address", "0.0.0.0", "--team", str(file)])
    monkeypatch.setenv("ASSAY_TEAM", str(file))
    with pytest.raises(Started, match=f"--secrets.files {file}"):
        main(["studio"])


def test_a_team_that_cannot_be_used_starts_nothing(tmp_path, capsys, monkeypatch):
    file = team_file(tmp_path, "https://login.example.com", days=3)
    file.chmod(0o640)
    assert main(["studio", "--team", str(file)]) == 2
    said = capsys.readouterr().err
    assert "mode 0640" in said
    assert "team.days" in said
    monkeypatch.setattr(
        "metrics.cli.studio_command.missing_extra",
        lambda what, extra, *modules: f"{what} needs assay[{extra}]" if extra == "auth" else None,
    )
    assert main(["studio", "--team", str(team_file(tmp_path, "https://login.example.com"))]) != 0
    assert "signing in needs assay[auth]" in capsys.readouterr().err


def test_the_token_and_the_hosts_are_in_the_environment_alone(monkeypatch):
    monkeypatch.setenv("ASSAY_TOKEN", "a token of the owner's")
    monkeypatch.setenv("ASSAY_ALLOW_HOST", "lab.example")
    with pytest.raises(Started) as started:
        main(["studio", "--allow-host", "assay.example.com", "--allow-host", "10.0.0.7"])
    line, environment = started.value.args
    assert "a token of the owner's" not in line  # which every user of the machine can read
    assert environment["ASSAY_TOKEN"] == "a token of the owner's"
    assert environment["ASSAY_ALLOW_HOST"] == "lab.example,assay.example.com,10.0.0.7"
    assert "ASSAY_NO_TOKEN" not in environment
