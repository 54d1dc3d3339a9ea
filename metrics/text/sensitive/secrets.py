"""Secrets in text: private keys, certificates, access keys and tokens, passwords, product keys."""

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

from metrics.text.sensitive.named_secrets import (
    arguments,
    cloud_secrets,
    named_secrets,
    placed_passwords,
    product_keys,
    web_tokens,
)
from metrics.text.sensitive.plain_form import PlainForm
from metrics.text.sensitive.private_keys import pem_blocks, private_keys, recovery_phrases
from metrics.text.sensitive.secret_tokens import tokens
from metrics.text.sensitive.spans import Finding, by_precedence

SecretKind = Literal[
    "private_key", "certificate", "cloud_key", "llm_token", "git_token", "service_token", "jwt", "credential",
    "password", "product_key", "recovery_phrase",
]  # fmt: skip
SECRET_KINDS: tuple[SecretKind, ...] = get_args(SecretKind)
FINDERS: tuple[Callable[[str], Iterator[Finding]], ...] = (
    pem_blocks, private_keys, tokens, web_tokens, cloud_secrets, placed_passwords, product_keys, recovery_phrases,
    arguments, named_secrets,
)  # fmt: skip


def secrets(text: str, kinds: Sequence[SecretKind] = SECRET_KINDS) -> list[Finding]:
    """Return the secrets in `text`, by position, without overlaps; the more specific kind has precedence.

    The text is read in its plain form, so full-width letters and invisible characters hide nothing; places are those in
    `text`. Time is linear in it: every pattern begins with fixed letters or at a word boundary, and is bounded.
    """
    form = PlainForm(text)
    found = by_precedence(finder(form.text) for finder in FINDERS)
    return form.in_original(secret for secret in found if secret.kind in kinds)
