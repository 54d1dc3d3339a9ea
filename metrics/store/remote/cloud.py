"""Objects in S3, Google Cloud Storage or Azure by obstore: multipart, retries, and a put that creates or fails."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import from_url

from metrics.core.errors import RemoteError
from metrics.store.remote.listing import MAX_SMALL_OBJECT, too_long

PIECE = 8 << 20  # bytes of a part of an upload, or of a range of a download
TRIES, PATIENCE = 4, timedelta(seconds=60)  # of one request
CODE = re.compile(r"<Code>(\w+)</Code>")
STATUS = re.compile(r"status code: (\d{3})")
ADDRESS = re.compile(r"performing [A-Z]+ (https?)://([^/\s?]+)")
REFUSED = {"InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "AuthenticationFailed"}
UNREACHED = ("error sending request", "connect", "dns error", "timed out", "connection", "reset by peer", "sendrequest")
AWS = "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or a role of the machine"
HOWS = {"gs": "GOOGLE_APPLICATION_CREDENTIALS, or `gcloud auth application-default login`", "s3": AWS, "s3a": AWS}
AZURE = "AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY or another of Azure's variables"


class CloudObjects:
    """The objects below a URL of a cloud."""

    def __init__(self, place: str):
        self.place = place
        settings: dict[str, Any] = _s3_settings() if place.startswith(("s3:", "s3a:")) else {}
        retries = {"max_retries": TRIES, "retry_timeout": PATIENCE}
        self._store = from_url(place, retry_config=retries, **settings)  # type: ignore[call-overload]

    def size(self, name: str) -> int | None:
        """Return the bytes of an object; None where there is none."""
        try:
            return int(obstore.head(self._store, name)["size"])
        except FileNotFoundError as failure:
            _require_bucket(failure)
            return None

    def read(self, name: str) -> bytes | None:
        """Return a small object; None where there is none."""
        try:
            found = obstore.get(self._store, name)
            if found.meta["size"] > MAX_SMALL_OBJECT:
                raise too_long(self.place, name)
            return bytes(found.bytes())
        except FileNotFoundError as failure:
            _require_bucket(failure)
            return None

    def copy_to(self, name: str, target: BinaryIO, size: int) -> bool:
        """Write an object of `size` bytes to a file, range by range; return whether there is one."""
        try:
            for start in range(0, size, PIECE):  # a range that breaks off is asked for again by itself
                target.write(obstore.get_range(self._store, name, start=start, end=min(size, start + PIECE)))
        except FileNotFoundError as failure:
            _require_bucket(failure)
            return False
        return True

    def send(self, name: str, path: Path) -> None:
        """Store a file as an object, in parts where it is large; an unfinished upload is no object."""
        obstore.put(self._store, name, path, chunk_size=PIECE, max_concurrency=4)

    def create(self, name: str, content: bytes) -> bool:
        """Store a small object only where there is none of that name (`If-None-Match: *`); return whether it did."""
        try:
            obstore.put(self._store, name, content, mode="create", use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            return False
        return True

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects directly in a folder."""
        return [str(entry["path"]) for entry in obstore.list_with_delimiter(self._store, folder)["objects"]]


@contextmanager
def errors_in_words(place: str) -> Iterator[None]:
    """Put the errors of obstore in words: host, bucket, what happened; never a key, and no address with a query."""
    try:
        yield
    except (BaseError, FileNotFoundError) as failure:
        raise RemoteError(_words(place, failure)) from None


def _s3_settings() -> dict[str, Any]:
    """Return what obstore does not read of itself: profiles and roles by boto3, and an endpoint without TLS."""
    found: dict[str, Any] = {}
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint:
        found["endpoint"] = endpoint
        if endpoint.startswith("http://"):
            found["client_options"] = {"allow_http": True}
    named = os.environ.get("AWS_ACCESS_KEY_ID") and not os.environ.get("AWS_PROFILE")
    if named or os.environ.get("AWS_SKIP_SIGNATURE", "").lower() in ("1", "true"):
        return found
    try:
        import boto3  # type: ignore[import-untyped]
        from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ModuleNotFoundError:
        return found
    try:
        session = boto3.Session()
        if session.get_credentials() is None:
            raise RemoteError(f"no credentials for S3: set {AWS}")
        found["credential_provider"] = Boto3CredentialProvider(session)
    except (BotoCoreError, ValueError) as failure:  # an unknown profile, or one without keys
        raise RemoteError(f"no credentials for S3: {failure}; set {AWS}") from None
    if session.region_name:
        found["region"] = session.region_name
    return found


def _require_bucket(failure: FileNotFoundError) -> None:
    """Raise the failure where not only an object is absent, but its whole bucket."""
    found = CODE.search(str(failure))
    if found and found[1] in ("NoSuchBucket", "ContainerNotFound"):
        raise failure


def _words(place: str, failure: Exception) -> str:
    text = str(failure)
    parts = urlsplit(place)
    found = ADDRESS.search(text)
    at = f" at {found[2]}" if found else ""
    code = CODE.search(text)
    status = STATUS.search(text)
    what = f" ({code[1]})" if code else f" (status {status[1]})" if status else ""
    bucket = f"bucket {parts.netloc.rpartition('@')[0] or parts.netloc}"
    how = HOWS.get(parts.scheme, AZURE)
    if code and code[1] in ("NoSuchBucket", "ContainerNotFound"):
        return f"{place}: there is no {bucket}{at}; create it, or correct the URL"
    if (code and code[1] in REFUSED) or (status and status[1] == "401"):
        return f"{place}: the credentials were refused{at}{what}; set {how}"
    if status and status[1] == "403":
        return f"{place}: access to {bucket} is denied{at}{what}; docs/remote.md lists the permissions needed"
    if status is None and any(word in text.lower() for word in UNREACHED):
        return f"{place}: {parts.netloc} cannot be reached{at}; check the network, the endpoint and the region"
    if "credential" in text.lower() or "metadata" in text.lower():
        return f"{place}: no credentials; set {how}"
    return f"{place}: the request failed{at}{what}: {type(failure).__name__}"
