"""The LLM judge: asked by numbered prompts over delimited data, answering in JSON, cached for ever.

prompt.py    what is asked: Prompt, and the messages made of it
asking.py    Judge, what an evaluator gets as `judge`
steps.py     the steps that several evaluators share: claims, statements, entailment …
grading.py   ratings, and UMBRELA's grade of a passage, which several evaluators share
custom.py    prompts of one's own: checked, saved, shared
tools.py     what a judge may search with, if a package offers it

settings.py  who judges, how fast, at what cost: saved with a run; keys.py, chosen.py: its keys, the workspace's own
opening.py   from settings to judges that can be asked, or what is in the way
client.py    asking: from the cache, or once however many want to know, with repair
replies.py   reading what comes back; cache.py: keeping it; injection.py: texts that speak to the judge
limits.py    requests at once and a minute, pauses, the circuit; budget.py: what may be spent
provider.py  models that litellm knows; server.py: an OpenAI-compatible address; wire.py: what both are sent
typical.py   replies for a dry run; redact.py: no key is ever written down
"""
