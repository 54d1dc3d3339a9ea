"""The standards that evaluators give evidence for, by framework, with what each requires."""

# evaluators declare a standard by its name here, or as "framework: standard" where it is none of these
FRAMEWORKS: dict[str, dict[str, str]] = {
    "NIST AI RMF": {
        "valid and reliable": "It does what it is intended to do, as accurately and consistently as required.",
        "safe": "It does not endanger life, health, property or the environment.",
        "secure and resilient": "It withstands attacks and unexpected conditions, and fails gracefully.",
        "accountable and transparent": "Its behaviour and its basis are visible, and someone is responsible for them.",
        "explainable and interpretable": "How and why it arrives at an output can be understood.",
        "privacy enhanced": "It protects personal and confidential data.",
        "fair": "Harmful bias and discrimination are managed.",
    },
    "SR 11-7": {
        "conceptual soundness": "Design and construction are sound and documented.",
        "ongoing monitoring": "Performance is checked regularly while in use.",
        "outcomes analysis": "Outputs are compared with actual outcomes.",
    },
    "OWASP LLM Top 10": {  # the list of 2025
        "LLM01 prompt injection": "Text from users or sources cannot change the instructions that it follows.",
        "LLM02 sensitive information disclosure": "It gives away no personal data, secrets or confidential content.",
        "LLM03 supply chain": "Models, data and libraries come from sources that are known and checked.",
        "LLM04 data and model poisoning": "Nobody can plant content in the data that it learns from or is tuned on.",
        "LLM05 improper output handling": "Its output is checked before other systems use or run it.",
        "LLM06 excessive agency": "It has no more tools, rights and freedom to act than its task needs.",
        "LLM07 system prompt leakage": "Its instructions stay inside, and nothing secret depends on that.",
        "LLM08 vector and embedding weaknesses": "What is retrieved cannot be used to mislead it or to leak data.",
        "LLM09 misinformation": "It states nothing false or made up as a fact.",
        "LLM10 unbounded consumption": "Nobody can make it spend unlimited time, tokens or money.",
    },
}
FULL_NAMES = {name: f"{framework}: {name}" for framework, names in FRAMEWORKS.items() for name in names}
