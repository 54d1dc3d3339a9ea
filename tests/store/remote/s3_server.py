"""A real S3 server on loopback: SeaweedFS, one process, its data in a folder that outlives it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

BINARY = shutil.which("weed") or str(Path(sys.executable).with_name("weed"))
KEYS = {"admin": ["Admin"], "reader": ["Read:team", "List:team"], "nobody": []}
SECRET = "loopback-" + "secret"


class S3Server:
    """Start and stop it as often as wanted; the keys are `admin`, `reader` (of the bucket team) and `nobody`."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.ports = _free_ports(9)
        self.process: subprocess.Popen[bytes] | None = None
        (folder / "data").mkdir()
        identities = [
            {"name": name, "credentials": [{"accessKey": name, "secretKey": SECRET}], "actions": actions}
            for name, actions in KEYS.items()
        ]
        (folder / "keys.json").write_text(json.dumps({"identities": identities}))

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.ports[0]}"

    def environment(self, key: str = "admin", secret: str = SECRET) -> dict[str, str]:
        return {
            "AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret, "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": "us-east-1",
        }  # fmt: skip

    def start(self) -> None:
        s3, s3_grpc, master, master_grpc, volume, volume_grpc, filer, filer_grpc, _ = self.ports
        command = [
            BINARY, "server", f"-dir={self.folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3",
            f"-s3.port={s3}", f"-s3.port.grpc={s3_grpc}", "-s3.port.iceberg=0", "-s3.port.lance=0",
            f"-master.port={master}", f"-master.port.grpc={master_grpc}", "-master.volumeSizeLimitMB=64",
            "-master.electionTimeout=500ms", "-master.heartbeatInterval=100ms",
            f"-volume.port={volume}", f"-volume.port.grpc={volume_grpc}", "-volume.max=20",
            f"-filer.port={filer}", f"-filer.port.grpc={filer_grpc}", f"-s3.config={self.folder / 'keys.json'}",
        ]  # fmt: skip
        with (self.folder / "log.txt").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=log, stderr=log, env=os.environ | {"HOME": str(self.folder)}
            )
        self._await()

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def _await(self) -> None:
        """Return once it stores an object; it answers a little earlier, when its volumes are not there yet."""
        import obstore
        from obstore.exceptions import BaseError
        from obstore.store import S3Store

        for _ in range(600):
            assert self.process is not None
            assert self.process.poll() is None, (self.folder / "log.txt").read_text()[-2000:]
            try:
                with urllib.request.urlopen(self.endpoint, timeout=2):
                    pass
            except urllib.error.HTTPError:
                pass
            except OSError:
                time.sleep(0.1)
                continue
            store = S3Store(
                "team", endpoint=self.endpoint, access_key_id="admin", secret_access_key=SECRET, region="us-east-1",
                client_options={"allow_http": True}, retry_config={"max_retries": 0},
            )  # fmt: skip
            try:
                obstore.put(store, "started", b"1")
                return
            except BaseError:
                time.sleep(0.1)
        raise AssertionError("the S3 server does not start: " + (self.folder / "log.txt").read_text()[-2000:])


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
