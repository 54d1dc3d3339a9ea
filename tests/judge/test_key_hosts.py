"""Where a key goes: to its provider, and to hosts that a person has allowed for it; shown with real requests."""

import asyncio
import os

import pytest

from metrics import engine
from metrics.cli.main import parser
from metrics.core.errors import InputError
from metrics.judge.completion import CallFailed
from metrics.judge.keys import ALLOWED, KEY, kept_back, let_go
from metrics.judge.open_judges import missing_judge, try_judge
from metrics.judge.settings import JudgeSettings, settings_of
from metrics.targets.ask_http import HttpAsker
from metrics.targets.ask_model import ModelAsker
from metrics.targets.description import HttpTarget, ModelTarget
from metrics.targets.jobs import web_targets
from tests.judge.judge_scenes import asked
from tests.judge.server import Fault, JudgeServer

CANARY = "sk-CANARY0123456789abcdef"
NONE = "Bearer none"


@pytest.fixture(autouse=True)
def key(monkeypatch):
    """A key in the environment, and no host that it may go to."""
    monkeypatch.setenv(KEY, CANARY)
    monkeypatch.setenv(ALLOWED, "")


def sent(server: JudgeServer) -> set[str]:
    """What a server got as its key."""
    assert server.calls
    return {request.headers["authorization"] for request in server.calls}


@pytest.mark.attack(
    "browser", "an address typed into the page gets the judge's key", "a key goes to allowed hosts alone"
)
@pytest.mark.parametrize(("allowed", "goes"), [
    pytest.param("", False, id="none"),
    pytest.param(f"{KEY}@127.0.0.1", True, id="this host"),
    pytest.param(f"BOT_KEY@bot.example , {KEY}@127.0.0.1", True, id="among others"),
    pytest.param(f"{KEY}@127.0.0.2", False, id="another host"),
    pytest.param(f"{KEY}@127.0.0.1.evil.example", False, id="a host that begins alike"),
    pytest.param("BOT_KEY@127.0.0.1", False, id="another key"),
])  # fmt: skip
def test_a_judges_key_goes_to_allowed_hosts(judge_server, monkeypatch, allowed, goes):
    monkeypatch.setenv(ALLOWED, allowed)
    settings = JudgeSettings(model="scripted", base_url=judge_server.url)
    try_judge(settings)
    assert sent(judge_server) == ({f"Bearer {CANARY}"} if goes else {NONE})
    assert kept_back(settings) == (() if goes else (KEY,))


@pytest.mark.attack(
    "browser", "an address typed into the page gets a target's key", "a key goes to allowed hosts alone"
)
def test_a_targets_key_goes_to_allowed_hosts(judge_server):
    (target,) = web_targets({"kind": "model", "model": "scripted", "base_url": judge_server.url})
    assert isinstance(target, ModelTarget)

    async def ask() -> None:
        asker = ModelAsker(target)
        await asker.send({"messages": [{"role": "user", "content": "Who?"}], "repeat": 1})
        await asker.close()

    asyncio.run(ask())
    assert sent(judge_server) == {NONE}
    let_go(KEY, judge_server.url)
    asyncio.run(ask())
    assert sent(judge_server) == {NONE, f"Bearer {CANARY}"}


@pytest.mark.attack(
    "workspace writer", "a run that is resumed names a judge elsewhere", "a key goes to allowed hosts alone"
)
def test_a_run_that_somebody_else_made_gets_no_key(tmp_path, judge_server):
    run = asked(tmp_path, judge_server.url, "faithfulness", cases=2)
    engine.start(run).wait()
    assert run.state == "finished", run.failure
    assert sent(judge_server) == {NONE}


@pytest.mark.attack(
    "browser", "a model named huggingface/https://… has its provider's key sent there", "it is not opened"
)
@pytest.mark.parametrize("model", ["huggingface/https://evil.example", "openai/http://evil.example"])
def test_a_model_is_not_named_by_an_address(model, monkeypatch):
    monkeypatch.setenv("HUGGINGFACE_API_KEY", CANARY)
    assert missing_judge(model) == (
        f"the judge {model} is named by an address: give the name, and the address as base_url"
    )


def test_a_server_that_wants_the_key_is_said_to_get_none(judge_server):
    judge_server.fail(Fault(401))
    failure = try_judge(JudgeSettings(model="scripted", base_url=judge_server.url)).failure
    assert failure is not None
    assert f"({KEY} is not sent to 127.0.0.1: {ALLOWED}={KEY}@127.0.0.1 allows it)" in failure


@pytest.mark.parametrize("option", ["--judge-base-url URL --judge scripted", "--judge scripted@URL"])
def test_who_types_the_address_allows_it(option, judge_server):
    from metrics.engine.evaluation import Evaluation
    from metrics.library.judge_choice import judge_settings

    line = ["evaluate", "suite.csv", *option.replace("URL", judge_server.url).split()]
    setting = judge_settings(Evaluation.of(parser().parse_args(line)))
    try_judge(settings_of(setting))
    assert (sent(judge_server), os.environ[ALLOWED]) == ({f"Bearer {CANARY}"}, f"{KEY}@127.0.0.1")


@pytest.mark.attack(
    "suite author", "a --config file names a server that gets the key", "only a typed address allows it"
)
def test_an_address_of_a_configuration_is_not_typed(tmp_path, judge_server):
    from metrics.cli.rag_config import read, with_config
    from metrics.engine.evaluation import Evaluation
    from metrics.library.judge_choice import judge_settings

    (tmp_path / "answers.csv").write_text("question_id,query\n")
    config = tmp_path / "config.yaml"
    config.write_text(
        'generated_answers: "answers.csv"\nevaluator:\n  - type: "TRECEvaluator"\n    model: {type: "OpenAIModel", '
        f'name: "scripted", base_url: "{judge_server.url}"}}\n'
    )
    evaluation = Evaluation.of(parser().parse_args(with_config(["evaluate", "--config", str(config)])))
    setting = judge_settings(evaluation, untrusted=read(config).arguments)
    assert setting is not None
    assert setting["base_url"] == judge_server.url
    try_judge(settings_of(setting))
    assert sent(judge_server) == {NONE}


@pytest.mark.attack(
    "browser", "an endpoint typed into the page gets a key in a header", "a key goes to allowed hosts alone"
)
def test_a_header_of_a_target_takes_an_allowed_key():
    target = {"kind": "http", "url": "https://bot.example/ask", "headers": {"Authorization": f"Bearer ${{{KEY}}}"}}
    with pytest.raises(InputError, match=r"ASSAY_TARGET_KEYS=OPENAI_API_KEY@bot\.example"):
        web_targets(target)
    let_go(KEY, "https://bot.example/")
    assert web_targets(target)


@pytest.mark.attack(
    "browser", "a page's address makes the server ask a cloud's metadata service", "it is not connected to"
)
@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "[fe80::1]", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "100.100.100.200", "metadata.test"],
)
def test_a_metadata_service_is_not_asked(host, monkeypatch):
    async def found(self: object, name: str, port: int = 0, **_: object) -> list[dict[str, object]]:
        address = {"hostname": name, "host": "169.254.169.254", "port": port, "family": 2, "proto": 6, "flags": 0}
        return [address]

    monkeypatch.setattr("aiohttp.resolver.ThreadedResolver.resolve", found)

    async def ask() -> None:
        asker = HttpAsker(HttpTarget(url=f"http://{host}/latest/meta-data/iam", method="GET"))
        try:
            await asker.send(asker.request({}, 1))
        finally:
            await asker.close()

    with pytest.raises(CallFailed, match="metadata service"):
        asyncio.run(ask())
    failure = try_judge(JudgeSettings(model="m", base_url=f"http://{host}/v1")).failure
    assert failure is not None
    assert "metadata service" in failure
