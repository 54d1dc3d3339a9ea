"""What other tools find in texts: run by bench_rules in an environment of theirs; cases and findings are JSON lines.

    PYTHON peer_rules.py [GITLEAKS_RULES] < texts > findings

A text a line in, a list of [peer, label, from, to, score] a line out. GITLEAKS_RULES: a JSON list of rules with id,
regex, entropy and keywords, as gitleaks.toml has them.
"""

import json
import math
import sys
import tempfile
from collections import Counter
from pathlib import Path


def presidio():
    import spacy
    from presidio_analyzer import AnalyzerEngine, PatternRecognizer, RecognizerRegistry, predefined_recognizers
    from presidio_analyzer.nlp_engine import SpacyNlpEngine
    from spacy.language import Language

    @Language.component("words_as_lemmas")
    def words_as_lemmas(document):
        for token in document:
            token.lemma_ = token.lower_
        return document

    class Blank(SpacyNlpEngine):
        def __init__(self):
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}
            self.nlp["en"].add_pipe("words_as_lemmas")

        def is_loaded(self):
            return True

    registry = RecognizerRegistry(supported_languages=["en"])
    for name in dir(predefined_recognizers):
        kind = getattr(predefined_recognizers, name)
        if not isinstance(kind, type) or kind is PatternRecognizer:
            continue
        if issubclass(kind, PatternRecognizer) or name == "PhoneRecognizer":
            try:
                registry.add_recognizer(kind(supported_language="en"))
            except Exception as failure:
                print("left out:", name, failure, file=sys.stderr)
    engine = AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["en"])
    return lambda text: [
        ["presidio", one.entity_type, one.start, one.end, one.score] for one in engine.analyze(text, language="en")
    ]


def detect_secrets():
    from detect_secrets.core.scan import scan_file
    from detect_secrets.settings import default_settings

    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "text.txt"

    def find(text):
        path.write_text(text)
        lines, places = text.split("\n"), [0]
        for line in lines:
            places.append(places[-1] + len(line) + 1)
        found = []
        with default_settings():
            for secret in scan_file(str(path)):
                place = places[secret.line_number - 1]
                column = max(0, lines[secret.line_number - 1].find(secret.secret_value or ""))
                end = place + column + len(secret.secret_value or "x")
                found.append(["detect-secrets", secret.type, place + column, end, 1.0])
        return found

    find.folder = folder
    return find


def gitleaks(path):
    import re2

    rules = [(rule, re2.compile(rule["regex"])) for rule in json.loads(Path(path).read_text())]

    def find(text):
        found, small = [], text.lower()
        for rule, form in rules:
            if rule.get("keywords") and not any(word in small for word in rule["keywords"]):
                continue
            for match in form.finditer(text):
                group = next((n for n in range(1, form.groups + 1) if match.start(n) >= 0), 0)
                secret = match.group(group)
                if entropy(secret) > rule.get("entropy", 0) and not (rule["id"] == "generic-api-key" and plain(secret)):
                    found.append(["gitleaks", rule["id"], *match.span(group), 1.0])
        return found

    return find


def plain(secret):
    """Its allow list: no digit or sign of chance in it."""
    return all(character.isalpha() or character in "_.-" for character in secret)


def entropy(text):
    return -sum(times / len(text) * math.log2(times / len(text)) for times in Counter(text).values())


def main():
    tools = [presidio(), detect_secrets(), *([gitleaks(sys.argv[1])] if len(sys.argv) > 1 else [])]
    for line in sys.stdin:
        text = json.loads(line)
        print(json.dumps([finding for tool in tools for finding in tool(text)]))


if __name__ == "__main__":
    main()
