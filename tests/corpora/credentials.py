"""Keys, tokens and passwords as their issuers say they look, drawn at random; and what only looks like them."""

import base64
import json
import re
import string
import uuid
from collections.abc import Mapping

from tests.corpora.cases import ANY, Draw, Make, Piece, Planted

BASE62 = string.ascii_letters + string.digits
URLSAFE = BASE62 + "-_"
CAPITALS = string.ascii_uppercase + string.digits
BASE32 = string.ascii_uppercase + "234567"
BASE24 = "BCDFGHJKMPQRTVWXY2346789"  # the alphabet of a well-known product key
HEX = "0123456789abcdef"
OF_ITS_OWN = ("{}\n", "It reads\n{}\nand no more.", "注意：\n{}\n", "```\n{}\n```", "Schlüssel:\n\n{}\n\nEnde")
# a password may hold almost any character, so only a space or a quote ends it
ENDED = ("It was: {} (old)", "- {}\n- none", "{}", "row\n{}\nrow", "DB: {} ok", "Хранится {} здесь", "記録 {} です")


def drawn(prefix: str, alphabet: str, length: int, suffix: str = "") -> Make:
    return lambda rng: prefix + "".join(rng.choices(alphabet, k=length)) + suffix


def beside(before: str, make: Make, after: str = "") -> Make:
    return lambda rng: Piece(str(make(rng)), before, after)


def pem(label: str, newline: str = "\n", foot: bool = True) -> Make:
    def make(rng: Draw) -> str:
        body = base64.b64encode(rng.randbytes(rng.randrange(100, 900))).decode()
        lines = [f"-----BEGIN {label}-----", *re.findall(".{1,64}", body)]
        return newline.join([*lines, f"-----END {label}-----"] if foot else lines)

    return make


def jwt(rng: Draw) -> str:
    parts = [{"alg": "RS256", "kid": str(rng.random())}, {"sub": str(rng.randrange(10**9)), "iat": 1_700_000_000}]
    encoded = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts]
    return ".".join([*encoded, base64.urlsafe_b64encode(rng.randbytes(32)).rstrip(b"=").decode()])


def product_key(rng: Draw) -> str:
    return "-".join("".join(rng.choices(BASE24, k=5)) for _ in range(5))


def password(rng: Draw) -> str:
    word = "".join(rng.choices(BASE62, k=rng.randrange(9, 20))) + rng.choice("!#%*_") + rng.choice(string.digits)
    return rng.choice(string.ascii_lowercase) + rng.choice(string.ascii_uppercase) + word


def random_hex(rng: Draw) -> str:
    return "".join(rng.choices(HEX, k=32))


def of(kind: str, make: Make, fits: tuple[str, ...] = ANY) -> Planted:
    return Planted(kind, make, fits)


PLANTED: Mapping[str, Planted] = {
    "rsa key": of("private_key", pem("RSA PRIVATE KEY"), OF_ITS_OWN),
    "pkcs8 key in JSON": of("private_key", beside('"private_key": "', pem("PRIVATE KEY", "\\n"), '"'), ("{{{}}}",)),
    "openssh key, windows": of("private_key", pem("OPENSSH PRIVATE KEY", "\r\n"), OF_ITS_OWN),
    "pgp key": of("private_key", pem("PGP PRIVATE KEY BLOCK"), OF_ITS_OWN),
    "key cut short": of("private_key", pem("EC PRIVATE KEY", foot=False), ("{}\n", "It reads\n{}\n\nand no more.")),
    "certificate": of("certificate", pem("CERTIFICATE"), OF_ITS_OWN),
    "aws": of("cloud_key", drawn("AKIA", BASE32, 16)), "aws, temporary": of("cloud_key", drawn("ASIA", BASE32, 16)),
    "aws secret": of("cloud_key", beside("aws_secret_access_key = ", drawn("", BASE62 + "/+", 39, "x"))),
    "google": of("cloud_key", drawn("AIza", URLSAFE, 34, "q")),
    "azure": of("cloud_key", beside("AccountKey=", lambda rng: base64.b64encode(rng.randbytes(64)).decode())),
    "digital ocean": of("cloud_key", drawn("dop_v1_", HEX, 64)),
    "openai": of("llm_token", drawn("sk-proj-", URLSAFE, 47, "x")),
    "openai, old": of("llm_token", drawn("sk-", BASE62, 48)),
    "anthropic": of("llm_token", drawn("sk-ant-api03-", URLSAFE, 92, "A")),
    "hugging face": of("llm_token", drawn("hf_", BASE62, 34)), "groq": of("llm_token", drawn("gsk_", BASE62, 52)),
    "openrouter": of("llm_token", drawn("sk-or-v1-", HEX, 64)), "github": of("git_token", drawn("ghp_", BASE62, 36)),
    "github, server": of("git_token", drawn("ghs_", BASE62, 36)),
    "github, fine-grained": of("git_token", drawn("github_pat_11ABCDEFG0aBcDeFgHiJkL_", BASE62, 59)),
    "gitlab": of("git_token", drawn("glpat-", URLSAFE, 19, "z")),
    "slack": of("service_token", lambda rng: f"xoxb-{rng.randrange(10**11, 10**12)}-{drawn('', BASE62, 24)(rng)}"),
    "slack webhook": of("service_token", drawn("https://hooks.slack.com/services/T0AB12CD3/B0AB12CD3/", BASE62, 24)),
    "stripe": of("service_token", drawn("sk_live_", BASE62, 24)),
    "sendgrid": of("service_token", lambda rng: f"{drawn('SG.', BASE62, 22)(rng)}{drawn('.', BASE62, 43)(rng)}"),
    "npm": of("service_token", drawn("npm_", BASE62, 36)),
    "telegram": of("service_token", lambda rng: f"{rng.randrange(10**8, 10**10)}:AA{drawn('', BASE62, 33)(rng)}"),
    "jwt": of("jwt", jwt),
    "jwt, borne": of("jwt", beside("Authorization: Bearer ", jwt)),
    "product key": of("product_key", product_key),
    "product key, named": of("product_key", beside("Key: ", product_key)),
    "hexadecimal api key": of("credential", beside("api_key = ", random_hex)),
    "api key in JSON": of("credential", beside('{"apiKey": "', drawn("", BASE62, 24), '"}'), ("{}", "x\n{}\ny")),
    "client secret": of("credential", beside("client-secret: ", drawn("", BASE62, 40))),
    "environment": of("credential", beside("export SERVICE_TOKEN=", drawn("", BASE62, 32))),
    "bearer": of("credential", beside("Authorization: Bearer ", drawn("", BASE62, 40))),
    "password": of("password", beside("password: ", password), ENDED),
    "password in prose": of("password", beside("your password is ", password), ENDED),
    "password, assigned": of("password", beside("DB_PASSWORD=", password), ENDED),
    "password in quotes": of("password", beside("password = '", password, "'")),
    "Passwort": of("password", beside("Passwort: ", password), ENDED),
    "mot de passe": of("password", beside("mot de passe : ", password), ENDED),
    "contraseña": of("password", beside("contraseña: ", password), ENDED),
    "пароль": of("password", beside("пароль: ", password), ENDED),
    "パスワード": of("password", beside("パスワード：", password), ENDED),
    "密码": of("password", beside("密码：", password), ENDED),
    "password in a URL": of("password", beside("postgres://app:", drawn("", BASE62, 14), "@db.internal/shop")),
}  # fmt: skip


def words(rng: Draw, count: int, joined: str) -> str:
    every = "admin panel sidebar user account session handler default request token response panel model main".split()
    return joined.join(rng.choice(every) for _ in range(count))


LOOK_ALIKES: Mapping[str, Make] = {
    "sha256": lambda rng: "digest " + rng.randbytes(32).hex(),
    "sha256, named": lambda rng: f"sha256:{rng.randbytes(32).hex()}",
    "commit": lambda rng: "commit " + rng.randbytes(20).hex(),
    "commit in a url": lambda rng: f"https://github.com/acme/shop/commit/{rng.randbytes(20).hex()}",
    "integrity": lambda rng: '"integrity": "sha512-' + base64.b64encode(rng.randbytes(64)).decode() + '"',
    "uuid": lambda rng: f"request id: {uuid.UUID(int=rng.getrandbits(128))}",
    "uuid, capitals": lambda rng: str(uuid.UUID(int=rng.getrandbits(128))).upper(),
    "base64 image": lambda rng: "data:image/png;base64," + base64.b64encode(rng.randbytes(90)).decode(),
    "placeholder": lambda rng: f'api_key = "YOUR_API_KEY_{"X" * rng.randrange(8, 20)}"',
    "placeholder in brackets": lambda rng: f"token: <your-token-{rng.randrange(9)}-here>",
    "masked": lambda rng: f"sk-{'x' * rng.randrange(32, 48)} and token=****************{rng.randrange(9999)}",
    "variable": lambda rng: f'api_key = os.environ["SERVICE_{rng.randrange(99)}_API_KEY"]',
    "shell variable": lambda rng: f"export API_TOKEN=${{SERVICE_TOKEN_{rng.randrange(9)}}}",
    "template": lambda rng: f"password: {{{{ vault.secret_{rng.randrange(99)} }}}}",
    "call": lambda rng: f"token = create_access_token(user_{rng.randrange(99)}.identity, expires=3600)",
    "model name": lambda rng: f"token: gpt-4o-mini-2024-{rng.randrange(1, 13):02}-18",
    "counts": lambda rng: f"token_count: {rng.randrange(10**17)}, max_tokens={rng.randrange(10**6)}",
    "class name": lambda rng: f"sk-{words(rng, 5, '-')}",
    "words in groups": lambda rng: "-".join(rng.sample(["HELLO", "WORLD", "THESE", "WORDS", "MATCH", "NEVER"], 5)),
    "numbers in groups": lambda rng: "-".join(f"{rng.randrange(10**5):05}" for _ in range(5)),
    "talk of a key": lambda rng: f"line {rng.randrange(99)} reads -----BEGIN PRIVATE KEY-----, then base64 follows",
    "public key": pem("PUBLIC KEY"),
    "ssh public key": lambda rng: f"ssh-ed25519 {base64.b64encode(rng.randbytes(51)).decode()} anna@laptop",
    "password advice": lambda rng: f"password: at least {rng.randrange(8, 20)} characters; it is case-sensitive",
    "password rules": lambda rng: f"Your password is {rng.randrange(30, 90)} days old, change it",
    "url": lambda rng: f"https://acme.org:8080/a/{rng.randbytes(16).hex()}?page={rng.randrange(99)}",
    "three dotted parts": lambda rng: f"eyJust.kidding.here eyJvdGhlciI6IDF9.{drawn('', BASE62, 40)(rng)}",
    "not quite aws": lambda rng: f"{drawn('AKIA', CAPITALS, 15)(rng)} {drawn('AKIA', CAPITALS, 18)(rng)}",
    "database without password": lambda rng: f"postgres://app:${{DB_PASSWORD}}@db{rng.randrange(99)}/shop",
    "host and port": lambda rng: f"http://node-{rng.randrange(99)}:8080/@scope/package",
    "identifier": lambda rng: f"secret_manager.{words(rng, 3, '_')} = True",
    "header": lambda rng: f"Authorization: Bearer {words(rng, 1, '')}",
    "build": lambda rng: f"build-{rng.randrange(10**8)}-release-candidate-{rng.randrange(9)}",
    "flight": lambda rng: "".join(rng.choices(string.ascii_uppercase, k=6)) + str(rng.randrange(100)),
    "licence plate": lambda rng: f"{rng.choice('BMKF')}-{rng.choice('ABX')}{rng.choice('KLM')} {rng.randrange(9999)}",
    "dna": lambda rng: "".join(rng.choices("ACGT", k=48)),
    "long word": lambda rng: rng.choice(["Donaudampfschifffahrtsgesellschaft", "internationalization", "пароли"]),
    "css": lambda rng: f"--token-color-{words(rng, 2, '-')}: #{rng.randbytes(3).hex()};",
    "date of a token": lambda rng: f"token expires: 2024-{rng.randrange(1, 13):02}-18T10:00:00+00:00",
    "git url": lambda rng: f"git clone https://github.com/acme/tool-{rng.randrange(99)}.git",
    "question": lambda rng: rng.choice(["password?", "Passwort vergessen?", "パスワードをお忘れですか", "密码错误"]),
}
