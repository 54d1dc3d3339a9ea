"""The local judge: a small language model in this process, asked for probabilities rather than for essays.

install.py   getting the known model, verified by its sha256
model.py     the model: replies that obey a JSON schema, and the likelihood of a label
questions.py the short questions that it is asked
completer.py requests taken apart into such questions
"""
