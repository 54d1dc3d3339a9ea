"""The LLM judge: questions as prompts over delimited data, replies as JSON, cached permanently.

asking.py           Judge, what an evaluator gets as `judge`
steps.py            the steps that several evaluators share: claims, entailment …
long_texts.py       how much text a judge takes at once, and longer texts
grading.py          ratings, and UMBRELA's grade of a passage, which several evaluators share
custom_prompts.py   the user's own prompts: checked
rubrics.py          the user's own rubrics: read, written, chosen by name
saved_objects.py    what users write and keep: named, versioned, one file each
search_tools.py     what a judge may search with, if an installed package offers it

settings.py         the judge of a run with its limits and budget
keys.py             where its key is looked for, and that keys are never written to disk
open_judges.py      from settings to judges, or the reason why there is none; the default judge of a workspace
client.py           asking: from the cache, or one request for equal questions, with retries and repair
replies.py          reading replies; cache.py: storing them; injection.py: texts written for the judge
limits.py           concurrency, rate limits, pauses and the circuit breaker; budget.py: prices and the cost limit
provider.py         models by litellm; server.py: an OpenAI-compatible address; wire.py: what both are sent
local/              a model on this machine
typical_reply.py    replies for an estimate; dry_run.py: judges without a model
"""
