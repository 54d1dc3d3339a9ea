"""The families of evaluators in words: the folders of metrics/evaluators, each with a title, and the plugins."""

FAMILIES = {
    "agents": "Agents",
    "answers": "Answers",
    "attacks": "Attacks and refusals",
    "classification": "Classification",
    "code": "Code and SQL that run",
    "consistency": "Consistency of repeats",
    "conversations": "Conversations",
    "detection": "Object detection",
    "grounding": "Grounding in the contexts",
    "plugins": "Plugins",
    "regression": "Regression",
    "retrieval": "Retrieval",
    "safety": "Safety and privacy",
    "segmentation": "Segmentation",
    "summaries": "Summaries",
    "text": "Text: references and rules",
    "usage": "Latency, cost and tokens",
}
