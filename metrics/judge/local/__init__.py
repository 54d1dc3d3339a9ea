"""The local judge: a small language model in a process of its own, asked for probabilities of labels, not for text.

install.py            installing the known model, verified by its sha256
model_process.py      a GGUF file in a process of its own
short_questions.py    the short questions that it is asked
claim_sentences.py    the claims of a text, by rules
completer.py          requests divided into such questions about the relevant passages
measured.py           how well it agrees with people
other_models.py       other models that the user has, as files and on servers of this machine
"""
