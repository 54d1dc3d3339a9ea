"""The local judge: a small language model in a process of its own, asked for probabilities of labels, not for text.

install.py            installing the known model, verified by its sha256
model_process.py      a GGUF file in a process of its own
model.py              the model: replies that fit a JSON schema, and the likelihood of a label
short_questions.py    the short questions that it is asked
claim_sentences.py    the claims of a text, by rules
relevant_passages.py  what of a long context is read
completer.py          requests divided into such questions
measured.py           how well it agrees with people
gguf_files.py         other models that the user has, as files
model_servers.py      … and on servers of this machine
"""
