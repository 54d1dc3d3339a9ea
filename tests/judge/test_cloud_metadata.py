"""A judge or target of a cloud without credentials: the machine's own are not fetched from the cloud's service."""

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from metrics.judge import provider
from metrics.judge.completion import CallFailed
from metrics.judge.open_judges import try_judge
from metrics.judge.settings import JudgeSettings
from metrics.targets.ask_model import ModelAsker
from metrics.targets.description import ModelTarget

MODELS = ["bedrock/converse/anthropic.claude-3-haiku-20240307-v1:0", "sagemaker/mine", "sagemaker_chat/mine"]
DISABLED = "AWS_EC2_METADATA_DISABLED"


@pytest.fixture
def metadata_requests(monkeypatch, tmp_path):
    """The requests that a stand-in for the metadata service gets, on a machine with no credentials of its own."""
    requests = []

    class Service(BaseHTTPRequestHandler):
        def do_PUT(self):
            requests.append(self.path)
            self.send_response(404)
            self.end_headers()

        def do_GET(self):
            self.do_PUT()

        def log_message(self, *_):
            pass

    provider.library()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    empty = tmp_path / "empty"
    empty.touch()  # the name of a file that is not there would be redacted like a key
    for name in ("AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, str(empty))
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"127.0.0.1:{server.server_port}"
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f"http://{place}/")
        monkeypatch.setenv("GCE_METADATA_HOST", place)
        yield requests
        server.shutdown()


def failure_of(who, model):
    """Return why a judge or a target gives no reply."""
    if who == "judge":
        return try_judge(JudgeSettings(model=model)).failure
    asker = ModelAsker(ModelTarget(model=model))
    with pytest.raises(CallFailed) as failed:
        asyncio.run(asker.send(asker.request({"question": "Who?"}, 1)))
    assert failed.value.trouble == "unusable"  # no other try is worth it
    return str(failed.value)


@pytest.mark.parametrize("who", ["judge", "target"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.attack(
    "suite author", "a judge's name makes the machine fetch its cloud's credentials", "off unless the environment asks"
)
def test_no_credentials_are_fetched(who, model, metadata_requests, monkeypatch):
    assert failure_of(who, model) == (
        f"no credentials for {model}: set those of its provider in the environment, or ASSAY_CLOUD_METADATA=1 to get "
        "them from the metadata service of the cloud that this machine is in"
    )
    assert metadata_requests == []
    monkeypatch.delenv(DISABLED)  # as ASSAY_CLOUD_METADATA leaves it
    failure_of(who, model)
    assert metadata_requests  # the stand-in is where the provider looks


@pytest.mark.parametrize("who", ["judge", "target"])
@pytest.mark.parametrize("model", MODELS)
def test_nor_by_a_library_that_knows_no_variable(who, model, metadata_requests, monkeypatch):
    monkeypatch.delenv(DISABLED)
    monkeypatch.delenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
    refused = []

    def refuse(host):
        refused.append(host)
        raise OSError("not asked")

    monkeypatch.setattr(provider, "refuse_metadata_address", refuse)
    assert "no credentials" in failure_of(who, model)
    assert set(refused) == {"169.254.169.254"}


@pytest.mark.parametrize("given", [None, "1"])
def test_the_environment_may_ask_for_it(given, monkeypatch):
    for name in provider.WITHOUT_METADATA:
        monkeypatch.delenv(name, raising=False)
    hooks = []
    monkeypatch.setattr(provider.sys, "addaudithook", hooks.append)
    monkeypatch.setattr(provider, "bound", lambda _: None)
    if given:
        monkeypatch.setenv("ASSAY_CLOUD_METADATA", given)
    provider.library.__wrapped__()
    assert len(hooks) == (0 if given else 1)
    assert (DISABLED in provider.os.environ) is not bool(given)
