"""Access keys and tokens, by what their issuers say they look like, and whether characters look drawn at random."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from metrics.core.rounding import exact_sum
from metrics.text.sensitive.spans import Finding

SHORTEST_RANDOM = 16
LEAST_ENTROPY = 2.75  # bits a character; sixteen random hexadecimal digits have 3.2 on average
LEAST_CHANGES = 0.2  # of the characters, where letters, capitals and digits alternate; words joined by dashes have few
PLACEHOLDER = re.compile(
    r"your|placeholder|redacted|changeme|change[_-]me|insert|replace|x{6}|\*{3}|\.{3}|example[_-]?key|dummy|sample|"
    r"(?-i:abcdefghij|ABCDEFGHIJ|abcdef12)|0123456789|1234567890|<[^>]{0,40}>|test[_-]?(?:key|token)|fake",
    re.I,
)
DUMMY = re.compile(r"EXAMPLE|eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9\.eyJzdWIiOiIxMjM0NTY3ODkwIi")


def looks_random(text: str) -> bool:
    """Return whether a run of characters looks random, by its entropy and its changes of character class.

    At least 16 characters with 2.75 bits of Shannon entropy each; small letters, capitals and digits alternate at 20 %
    of the positions or more, and there are digits. Identifiers and words joined by dashes fail one of these conditions.
    """
    letters = [character for character in text if character.isalnum()]
    if len(text) < SHORTEST_RANDOM or not any(character.isdigit() for character in letters):
        return False
    classes = [1 if character.isdigit() else 2 if character.isupper() else 3 for character in letters]
    changes = sum(left != right for left, right in pairwise(classes))
    return changes >= LEAST_CHANGES * len(letters) and entropy(text) >= LEAST_ENTROPY


def entropy(text: str) -> float:
    """Return the Shannon entropy of the characters of `text` in bits per character; 0 for an empty text."""
    return -exact_sum(times / len(text) * math.log2(times / len(text)) for times in Counter(text).values())


def is_generated(body: str) -> bool:
    """Return whether what follows the prefix of a token is neither a placeholder nor words."""
    classes = sum(any(test(character) for character in body) for test in (str.islower, str.isupper, str.isdigit))
    written = classes < 2 and any(character.islower() for character in body)
    return not written and entropy(body) >= LEAST_ENTROPY and not PLACEHOLDER.search(body)


@dataclass(frozen=True, slots=True)
class Token:
    """The tokens of an issuer: the letters they begin with, exactly, and an expression for what follows them."""

    kind: str
    issuer: str
    beginnings: str
    body: str


def _rows(kind: str, *rows: tuple[str, str, str]) -> tuple[Token, ...]:
    return tuple(Token(kind, *row) for row in rows)


UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
TEAMS = rf"{UUID}@{UUID}/IncomingWebhook/[a-f0-9]{{32}}/{UUID}"
TOKENS: tuple[Token, ...] = (
    *_rows(
        "cloud_key",
        ("AWS", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}"),
        ("AWS", "ABSK", r"[A-Za-z0-9+/]{109,269}={0,2}"),
        ("Google Cloud", "AIza", r"[\w-]{35}"),
        ("Google Cloud", "GOCSPX-", r"[\w-]{28}"),
        ("Google Cloud", "ya29.", r"[\w-]{30,400}+"),
        ("Alibaba Cloud", "LTAI", r"[A-Za-z0-9]{16,20}"),
        ("DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{64}"),
        ("HashiCorp Vault", "hvs. hvb. hvr.", r"[\w-]{24,300}+"),
        ("HashiCorp Vault", "s.", r"[A-Za-z0-9]{24}"),
        ("Databricks", "dapi", r"[a-f0-9]{32}(?:-\d)?"),
        ("Heroku", "HRKU-", rf"(?:AA[\w-]{{58}}|{UUID})"),
        ("PlanetScale", "pscale_tkn_ pscale_pw_ pscale_oauth_ pscale_otkn_", r"[\w=.-]{32,64}+"),
        ("Neon", "napi_", r"[a-z0-9]{64}"),
        ("Vercel", "vercel_blob_rw_", r"[A-Za-z0-9]{14,18}_[A-Za-z0-9]{28,32}"),
        ("Yandex Cloud", "t1.", r"[\w-]{50,300}={0,2}\.[\w-]{86}={0,2}"),
        ("Supabase", "sbp_ sbp_v0_", r"[a-f0-9]{40}"),
        ("Supabase", "sb_secret_", r"[\w-]{20,64}+"),
        ("Fly.io", "fo1_", r"[\w-]{43}"),
        ("Fly.io", "fm1r_ fm2_", r"[A-Za-z0-9+/_-]{60,600}={0,3}"),
        ("Pulumi", "pul-", r"[a-f0-9]{40}"),
        ("Cloudflare", "v1.0-", r"[a-f0-9]{24}-[a-f0-9]{146}"),
        ("Netlify", "nfp_", r"[A-Za-z0-9]{36,40}"),
        ("Scaleway", "SCW", r"[A-Z0-9]{17}"),
        ("Yandex Cloud", "AQVN", r"[\w-]{35,38}"),
        ("Tailscale", "tskey-api- tskey-auth- tskey-client-", r"[A-Za-z0-9]{8,20}(?:-[A-Za-z0-9]{16,48})?"),
        ("OpenShift", "sha256~", r"[\w-]{43}"),
        ("Tencent Cloud", "AKID", r"[A-Za-z0-9]{32}"),
        ("Oracle Cloud", "ocid1.credential.", r"[\w.-]{30,120}+"),
        ("ClickHouse Cloud", "4b1d", r"[A-Za-z0-9]{38}"),
        ("Doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim.", r"[\w.-]{40,60}+"),
    ),
    *_rows(
        "llm_token",
        ("Anthropic", "sk-ant-", r"[a-z0-9]{3,10}-[\w-]{32,200}+"),
        ("OpenRouter", "sk-or-v1-", r"[a-f0-9]{64}"),
        ("Langfuse", "sk-lf-", UUID),
        ("OpenAI", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"[\w-]{20,250}+"),
        ("OpenAI", "sk-", r"[A-Za-z0-9]{32,64}+"),
        ("ElevenLabs", "sk_", r"[a-f0-9]{48}"),
        ("Hugging Face", "hf_ api_org_", r"[A-Za-z0-9]{30,40}+"),
        ("Groq", "gsk_", r"[A-Za-z0-9]{40,60}+"),
        ("xAI", "xai-", r"[A-Za-z0-9]{60,90}+"),
        ("Perplexity", "pplx-", r"[A-Za-z0-9]{40,60}+"),
        ("Replicate", "r8_", r"[A-Za-z0-9]{37}"),
        ("NVIDIA", "nvapi-", r"[\w-]{60,70}+"),
        ("LangSmith", "lsv2_pt_ lsv2_sk_", r"[a-f0-9]{32}_[a-f0-9]{10}"),
        ("Cerebras", "csk-", r"[a-z0-9]{48}"),
        ("Pinecone", "pcsk_", r"[A-Za-z0-9]{5,6}_[A-Za-z0-9]{63}"),
        ("Tavily", "tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{32}"),
        ("Fireworks", "fw_", r"[A-Za-z0-9]{22,24}"),
        ("Jina AI", "jina_", r"[A-Za-z0-9_-]{60,65}"),
        ("Voyage AI", "pa-", r"[\w-]{43}"),
        ("Together AI", "tgp_v1_", r"[\w-]{43}"),
        ("LlamaIndex", "llx-", r"[A-Za-z0-9]{48}"),
    ),
    *_rows(
        "git_token",
        ("GitHub", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,251}+"),
        ("GitHub", "github_pat_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{59}"),
        (
            "GitLab",
            " ".join(f"gl{name}-" for name in "agent cbt dt ffct feat ft imt oas pat ptt rt soat".split()),
            r"[\w.-]{20,100}+",
        ),
        ("GitLab", "GR1348941", r"[\w-]{20}"),
        ("Bitbucket", "ATBB", r"[A-Za-z0-9]{32}"),
        ("Bitbucket", "ATCTT3xFfG", r"[\w=-]{100,250}+"),
        ("Sourcegraph", "sgp_", r"(?:(?:[a-f0-9]{16}|local)_)?[a-f0-9]{40}"),
    ),
    *_rows(
        "service_token",
        ("Slack", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.xoxb- xoxe.xoxp- xoxc- xoxd-", r"[\w.%-]{20,250}+"),
        ("Slack", "xapp-", r"\d-[A-Z0-9]{8,12}-\d{8,14}-[a-f0-9]{64}"),
        (
            "Slack",
            "https://hooks.slack.com/services/ https://hooks.slack.com/triggers/ https://hooks.slack.com/workflows/",
            r"[A-Z0-9]{8,12}/[A-Za-z0-9]{8,20}/[A-Za-z0-9]{20,40}",
        ),
        (
            "Discord",
            "https://discord.com/api/webhooks/ https://discordapp.com/api/webhooks/ "
            "https://ptb.discord.com/api/webhooks/ https://canary.discord.com/api/webhooks/",
            r"\d{17,20}/[\w-]{60,80}+",
        ),
        ("Microsoft Teams", "https://outlook.office.com/webhook/", TEAMS),
        ("Zapier", "https://hooks.zapier.com/hooks/catch/", r"\d{4,10}/[a-z0-9]{6,10}"),
        ("Stripe", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", r"[A-Za-z0-9]{16,247}+"),
        ("Stripe", "whsec_", r"[A-Za-z0-9+/]{32,44}={0,2}"),
        ("Twilio", "SK", r"[a-f0-9]{32}"),
        ("SendGrid", "SG.", r"[\w-]{22}\.[\w-]{43}"),
        ("Mailgun", "key-", r"[a-f0-9]{32}"),
        ("Resend", "re_", r"[A-Za-z0-9]{6,10}_[A-Za-z0-9]{22,26}"),
        ("Brevo", "xkeysib-", r"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
        ("npm", "npm_", r"[A-Za-z0-9]{36}"),
        ("PyPI", "pypi-AgE", r"[\w-]{50,500}+"),
        ("RubyGems", "rubygems_", r"[a-f0-9]{48}"),
        ("crates.io", "cio", r"[A-Za-z0-9]{32}"),
        ("NuGet", "oy2", r"[a-z0-9]{43}"),
        ("Clojars", "CLOJARS_", r"[a-z0-9]{60}"),
        ("Docker", "dckr_pat_ dckr_oat_", r"[\w-]{27,32}"),
        ("Shopify", "shpat_ shpca_ shppa_ shpss_", r"[a-fA-F0-9]{32}"),
        ("Square", "sq0atp- sq0csp- sq0idp-", r"[\w-]{22,43}"),
        ("Square", "EAAA", r"[\w+=-]{60}"),
        ("PayPal", "access_token$production$ access_token$sandbox$", r"[a-z0-9]{16}\$[a-f0-9]{32}"),
        ("Razorpay", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14}"),
        ("Flutterwave", "FLWSECK_TEST- FLWSECK-", r"[A-Za-z0-9]{12,32}-X"),
        ("Shippo", "shippo_live_ shippo_test_", r"[a-f0-9]{40}"),
        ("EasyPost", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
        ("Duffel", "duffel_live_ duffel_test_", r"[\w=-]{43}"),
        ("Atlassian", "ATATT3", r"[\w=-]{100,250}+"),
        ("Linear", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,64}+"),
        ("Notion", "ntn_", r"[A-Za-z0-9]{40,50}+"),
        ("Notion", "secret_", r"[A-Za-z0-9]{43}"),
        ("Figma", "figd_ figo_", r"[\w-]{38,44}"),
        ("Typeform", "tfp_", r"[\w.=-]{44,60}"),
        ("Postman", "PMAK-", r"[a-f0-9]{24}-[a-f0-9]{34}"),
        ("New Relic", "NRAK- NRJS- NRII- NRIQ- NRRA- NRSP-", r"[A-Za-z0-9_-]{19,40}"),
        ("Grafana", "glsa_", r"[A-Za-z0-9]{32}_[a-f0-9]{8}"),
        ("Grafana", "glc_", r"[A-Za-z0-9+/]{32,400}={0,3}"),
        ("Sentry", "sntrys_", r"[A-Za-z0-9+/=_]{60,400}+"),
        ("Sentry", "sntryu_", r"[a-f0-9]{64}"),
        ("Dynatrace", "dt0c01. dt0s01. dt0s16.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
        ("PostHog", "phx_ phs_", r"[A-Za-z0-9]{40,50}"),
        ("SonarQube", "sqp_ squ_ sqa_", r"[a-f0-9]{40}"),
        ("Airtable", "pat", r"[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
        ("HubSpot", "pat-na1- pat-eu1-", UUID),
        ("Contentful", "CFPAT-", r"[\w-]{43}"),
        ("Mapbox", "sk.eyJ", r"[\w-]{40,200}\.[\w-]{20,30}"),
        ("Dropbox", "sl.", r"[\w=-]{130,160}"),
        ("Facebook", "EAAM EAAC EAAB", r"[A-Za-z0-9]{60,250}+"),
        ("Instagram", "IGQV IGAA", r"[\w-]{80,250}+"),
        ("Plaid", "access-production- access-development- access-sandbox-", UUID),
        ("Octopus Deploy", "API-", r"[A-Z0-9]{25,32}"),
        ("Adobe", "p8e-", r"[A-Za-z0-9]{32}"),
        ("1Password", "ops_eyJ", r"[\w+/-]{200,1500}={0,3}"),
        ("1Password", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}"),
        ("Artifactory", "AKCp", r"[A-Za-z0-9]{69}"),
        ("Artifactory", "cmVmd", r"[A-Za-z0-9]{59}"),
        ("Buildkite", "bkua_", r"[a-f0-9]{40}"),
        ("CircleCI", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9]{20,24}_[a-f0-9]{40}"),
        ("Prefect", "pnu_", r"[a-z0-9]{36}"),
        ("ReadMe", "rdme_", r"[a-z0-9]{70}"),
        ("Infracost", "ico-", r"[A-Za-z0-9]{32}"),
        ("Frame.io", "fio-u-", r"[\w=-]{64}"),
        ("Snyk", "snyk_uat.", r"[\w.-]{40,200}+"),
        ("Okta", "00", r"[A-Za-z0-9][\w-]{39}"),
        ("Firebase", "AAAA", r"[\w-]{7}:APA91[\w-]{100,200}+"),
    ),
    *_rows("private_key", ("age", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}")),
)
NEEDS_ALL_CLASSES = {
    "00": "Okta",
    "s.": "HashiCorp Vault",
    "pa-": "Voyage AI",
    "re_": "Resend",
}  # short beginnings: the body has letters of both cases and digits
# Tokens that are recognised by what stands in their middle: the letters to look for, how far back to begin, the form.
INFIXED: tuple[tuple[str, str, str, int, str], ...] = (
    ("cloud_key", "Azure", "Q~", 4, r"[\w~.-]{3}\dQ~[\w~.-]{31,34}"),
    ("cloud_key", "Terraform", ".atlasv1.", 14, r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}"),
    ("service_token", "Microsoft Teams", ".webhook.office.com/webhookb2/", 60,
     rf"https://[\w-]{{1,50}}\.webhook\.office\.com/webhookb2/{TEAMS}"),
    ("service_token", "Telegram", ":AA", 10, r"\d{8,10}:AA[\w-]{33}"),
    ("service_token", "Mailchimp", "-us", 32, r"[a-f0-9]{32}-us\d{1,2}"),
)  # fmt: skip
DISCORD = re.compile(r"[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}(?![\w-])", re.ASCII)
DISCORD_BEGINS = re.compile(r"(?<![A-Za-z0-9_.-])[MNO][A-Za-z0-9_-]{23,25}\.(?=[A-Za-z0-9_-]{6}\.)")
# What may stand before a token: no part of a word, or a line break written as \n.
GLUED = re.compile(r"[A-Za-z0-9_-]$")
WRITTEN_BREAK = re.compile(r"\\[nrt]$")
ENDS = r"(?![A-Za-z0-9])"


def tokens(text: str) -> Iterator[Finding]:
    """Yield access keys and tokens with a known beginning. Their places are found by plain search: time is linear."""
    for token, beginning, form in _forms():
        place = text.find(beginning)
        while place >= 0:
            end = place + len(beginning)
            match = form.match(text, place) if _begins(text, place) else None
            if match:
                end = place + len(match[0].rstrip("."))  # a full stop is that of the sentence
                body = match[0][len(beginning) :]
                if is_generated(body) and (beginning not in NEEDS_ALL_CLASSES or _three_classes(body)):
                    yield Finding(token.kind, place, end, token.issuer, DUMMY.search(body) is not None)
            place = text.find(beginning, end)
    yield from _infixed(text)


def _infixed(text: str) -> Iterator[Finding]:
    for kind, issuer, infix, before, pattern in INFIXED:
        form = re.compile(pattern + ENDS, re.ASCII)
        place = text.find(infix)
        while place >= 0:
            for start in range(max(0, place - before), place):
                match = form.match(text, start) if _begins(text, start) else None
                if match and match.start() < place and is_generated(match[0].replace(infix, "")):
                    yield Finding(kind, *match.span(), issuer)
                    break
            place = text.find(infix, place + len(infix))
    for begun in DISCORD_BEGINS.finditer(text):
        match = DISCORD.match(text, begun.start())
        if match and is_generated(match[0]) and _three_classes(match[0]):
            yield Finding("service_token", *match.span(), "Discord")


def _begins(text: str, place: int) -> bool:
    before = text[max(0, place - 2) : place]
    return not GLUED.search(before) or WRITTEN_BREAK.search(before) is not None


def _three_classes(body: str) -> bool:
    return all(any(map(test, body)) for test in (str.islower, str.isupper, str.isdigit))


@cache
def _forms() -> tuple[tuple[Token, str, re.Pattern[str]], ...]:
    """Return each beginning with its form, the longest first, so that the more particular issuer has precedence."""
    rows = [(token, beginning) for token in TOKENS for beginning in token.beginnings.split()]
    return tuple(
        (token, beginning, re.compile(re.escape(beginning) + token.body + ENDS, re.ASCII))
        for token, beginning in sorted(rows, key=lambda row: -len(row[1]))
    )
