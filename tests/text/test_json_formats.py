"""Formats of JSON Schema by examples of their standards."""

import pytest

from metrics.text.json_formats import FORMATS, has_format
from metrics.text.json_text import read_json, violations

EXAMPLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # format: those that have it, those that do not
    "date": (("2024-02-29", "1999-12-31"), ("2023-02-29", "24-01-01", "2024-1-1", "20240101", "2024-W01-1", "")),
    "date-time": (("2024-02-29T12:00:00Z", "1985-04-12T23:20:50.52z", "1990-12-31T23:59:60Z",
        "1990-12-31T15:59:60-08:00",
        "1937-01-01T12:00:27.87+00:20"), ("2024-02-29T12:00:00", "2024-02-29", "2024-02-30T12:00:00Z",
        "2024-02-29T25:00:00Z", "1998-12-31T22:59:60Z", "1998-12-31T23:58:60Z", "noon")),
    "time": (("12:00:00Z", "23:59:59.9-08:00", "00:29:60+00:30"),
        ("23:59:60+01:00", "12:00", "24:00:00Z", "12:00:00", "12:00:00+24:00")),
    "duration": (("P4DT12H30M5S", "P1Y", "PT36H", "P4W"), ("P", "PT", "4D", "P1D2H", "P1YT", "P2S")),
    "email": (("joe.bloggs@example.com", "te~st@example.com", "用户@例子.广告"),
        ("joe", "a@[127.0.0.300]", "@x.org", "a..b@x.org", "a@-x.org")),
    "idn-email": (("실례@실례.테스트",), ("2962",)),
    "hostname": (("www.example.com", "xn--4gbwdl.xn--wgbh1c", "localhost"),
        ("xn--X", "-a.org", "a_b.org", "a" * 64, "")),
    "host-name": (("www.example.com",), ("-a.org",)),
    "idn-hostname": (("bücher.example", "例子.测试", "l·l", "क्\u200dष", "ー・ア", "xn--bcher-kva.example"),
        ("a b", "a·l", "\u0300hello", "α͵S", "׳ב", "def・abc", "\u200dष", "실〮례.테스트", "ab--c.org", "")),
    "ip-address": (("192.168.0.1",), ("256.0.0.1",)),
    "ipv4": (("192.168.0.1",), ("256.0.0.1", "127.0.0", "087.10.0.1", "1.2.3.4.5", "٢.1.1.1")),
    "ipv6": (("::1", "2001:db8::ff00:42:8329", "::ffff:192.168.0.1"), ("12345::", "fe80::a%eth1", "1:2:3")),
    "uri": (("http://foo.bar/?baz=qux#quux", "mailto:a@b.org", "urn:isbn:0451450523", "http://[2001:db8::7]/c"),
        ("//foo.bar", "/abc", "http:// no", "bücher:é", "http://foo.bar/%zz", "abc", "http://[::1")),
    "uri-reference": (("/abc", "#frag", "a/b?c"), ("\\\\share", "a b")),
    "iri": (("http://ƒøø.ßår/?∂éœ=πîx",), ("/abc", "http://a b", "http://[x", "http://2001:0db8:85a3::7334")),
    "iri-reference": (("//ƒøø.ßår/?∂éœ",), ("a b",)),
    "uri-template": (("http://x.org/{user}/{id}",), ("http://x.org/{user",)),
    "uuid": (("2eb8aa08-aa98-11ea-b4aa-73b441d16380",), ("2eb8aa08aa9811eab4aa73b441d16380", "x",
        "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}", "２eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "2eb8-aa08-aa98-11ea-b4aa73b44-1d16380")),
    "json-pointer": (("", "/foo/0", "/a~1b/~0"), ("foo", "/a~2", "#/a")),
    "relative-json-pointer": (("0", "1/a", "2#"), ("/a", "-1", "01")),
    "regex": (("^a+$", "(a)"), ("(", "[")),
}  # fmt: skip


def test_every_format_has_examples() -> None:
    assert EXAMPLES.keys() == FORMATS.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_formats(name: str) -> None:
    having, lacking = EXAMPLES[name]
    assert [text for text in having if not has_format(text, name)] == []
    assert [text for text in lacking if has_format(text, name)] == []


def test_unknown_formats_say_nothing_and_long_strings_have_none() -> None:
    assert has_format("anything", "phone")
    assert not has_format("1" * 10_001, "regex")
    assert not has_format("(" * 9_999, "regex")


def test_a_schema_demands_formats_only_where_asked() -> None:
    schema = '{"items": {"format": "email"}}'
    assert violations(["nobody"], schema) == []
    (found,) = violations(["nobody", "a@b.org", 7], schema, formats=True)
    assert (found.path, found.keyword, found.message) == ("$[0]", "format", "'nobody' does not have the format email")


def test_a_byte_order_mark_is_ignored() -> None:
    assert read_json("\ufeff[1]").value == [1]
