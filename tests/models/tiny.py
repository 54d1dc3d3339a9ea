"""Transformers of a few dozen weights with tokenizers of whole words, saved as folders: real models, computed at once.

Weights are drawn by a seed, large enough to tell texts apart, or set by hand where a docstring says what follows.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from metrics.models.model_files import settle_torch

WORDS = "the cat sat on a mat dog ran home not bad good red sun".split()


def tokenizer(folder: Path, marks: Mapping[str, str], single: str, pair: str | None = None, **options: Any) -> int:
    """Save a tokenizer of WORDS, parted by blanks, with these marks (role → mark); the size of its vocabulary.

    The marks have the first numbers, in order. `single` and `pair` are templates like "[CLS] $A [SEP]".
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: number for number, word in enumerate([*dict.fromkeys(marks.values()), *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, unk_token=marks["unk_token"]))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    numbers = [(mark, vocabulary[mark]) for mark in marks.values()]
    made.post_processor = processors.TemplateProcessing(single=single, pair=pair, special_tokens=numbers)
    PreTrainedTokenizerFast(tokenizer_object=made, **marks, **options).save_pretrained(folder)
    return len(vocabulary)


def classifier(
    folder: Path, labels: Sequence[str] = ("no", "yes"), problem: str | None = None, window: int = 16, seed: int = 0
) -> Path:
    """A BERT of two layers that reads `window` tokens, marks included, and gives each text or pair a logit a label."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    size = tokenizer(folder, BERT_MARKS, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", model_max_length=window)
    config = BertConfig(
        vocab_size=size, hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=window, pad_token_id=0, problem_type=problem,
        id2label=dict(enumerate(labels)), label2id={label: place for place, label in enumerate(labels)},
    )  # fmt: skip
    torch.manual_seed(seed)
    return _saved(_drawn(BertForSequenceClassification(config)), folder)


BERT_MARKS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def averaging_classifier(folder: Path) -> Path:
    """A BERT of one layer, its weights set by hand, see test_classifier: one logit.

    Attention is even over all tokens, its values and its output are the identity, there is no feed-forward, the pooler
    is the identity before its tanh, and the head weighs the axes 0, 1, 2 … with 1, 2, 3 …. Word k's embedding is the
    k-th axis; positions and segments are 0.
    """
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    size = tokenizer(folder, BERT_MARKS, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    config = BertConfig(
        vocab_size=size, hidden_size=size, num_hidden_layers=1, num_attention_heads=1, intermediate_size=1,
        max_position_embeddings=32, pad_token_id=0, num_labels=1,
    )  # fmt: skip
    model = BertForSequenceClassification(config)
    with torch.no_grad():
        for name, values in model.named_parameters():
            values.fill_(1.0 if name.endswith("LayerNorm.weight") else 0.0)
        eye = torch.eye(size)
        layer = model.bert.encoder.layer[0]
        for part in (model.bert.embeddings.word_embeddings, layer.attention.self.value, layer.attention.output.dense):
            part.weight.copy_(eye)
        model.bert.pooler.dense.weight.copy_(eye)
        model.classifier.weight.copy_(torch.arange(1, size + 1)[None, :])
    return _saved(model, folder)


def hhem(folder: Path, seed: int = 0) -> Path:
    """A model built like Vectara's HHEM: its names of weights and its config.json, over a tiny T5 beside it."""
    import torch
    from safetensors.torch import save_file
    from transformers import T5Config, T5ForTokenClassification

    foundation = folder / "flan-t5-base"
    marks = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    size = tokenizer(foundation, marks, "$A </s>", model_max_length=512)
    config = T5Config(
        vocab_size=size, d_model=8, d_kv=4, d_ff=16, num_layers=2, num_heads=2, feed_forward_proj="gated-gelu",
        num_labels=2,
    )  # fmt: skip
    config.save_pretrained(foundation)
    torch.manual_seed(seed)
    model = _drawn(T5ForTokenClassification(config))
    weights = {
        f"t5.{name}": values.clone() for name, values in model.state_dict().items() if "embed_tokens" not in name
    }
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(
        json.dumps({"architectures": ["HHEMv2ForSequenceClassification"], "model_type": "HHEMv2"})
    )
    return folder


def language_model(folder: Path, beginning: bool = True, window: int = 24, seed: int = 0) -> Path:
    """A GPT-2 of two layers that reads `window` tokens; with a beginning-of-text token or without one."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    marks = {"unk_token": "<unk>"} | ({"bos_token": "<s>"} if beginning else {})
    size = tokenizer(folder, marks, "$A")
    config = GPT2Config(
        vocab_size=size, n_positions=window, n_embd=8, n_layer=2, n_head=2, bos_token_id=None, eos_token_id=None
    )
    torch.manual_seed(seed)
    return _saved(_drawn(GPT2LMHeadModel(config)), folder)


def bigram_model(folder: Path) -> Path:
    """A GPT-2 without layers, its weights set by hand: after a word it is followed by itself with logit 2, else 0.

    p(same word) = e² / (e² + n − 1) and p(another) = 1 / (e² + n − 1), of n words in the vocabulary.
    """
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    size = tokenizer(folder, {"unk_token": "<unk>", "bos_token": "<s>"}, "$A")
    config = GPT2Config(
        vocab_size=size, n_positions=32, n_embd=size, n_layer=0, n_head=1, tie_word_embeddings=False,
        layer_norm_epsilon=1e-12, bos_token_id=None, eos_token_id=None,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)
    with torch.no_grad():
        for values in model.parameters():
            values.zero_()
        model.transformer.wte.weight.copy_(torch.eye(size))
        model.transformer.ln_f.weight.fill_(1.0)
        # the norm makes of an axis √(n−1) on it and −1/√(n−1) beside it; the rows below undo that
        states = torch.nn.functional.layer_norm(torch.eye(size, dtype=torch.float64), [size])
        model.lm_head.weight.copy_((torch.linalg.pinv(states) @ (2 * torch.eye(size, dtype=torch.float64))).T)
    return _saved(model, folder)


def _drawn(model: Any) -> Any:
    import torch

    with torch.no_grad():
        for name, values in model.named_parameters():
            if "norm" in name.lower() or ".ln_" in name:
                values.fill_(float(name.endswith("weight")))
            else:
                values.normal_(0, 0.7)
    return model


def _saved(model: Any, folder: Path) -> Path:
    settle_torch()
    model.eval().save_pretrained(folder)
    return folder


def placed_texts(folder: Path, vectors: Mapping[str, Sequence[float]]) -> Path:
    """A sentence-transformers model that gives each of these texts its vector, and 0 to every other."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models

    whole = Tokenizer(models.WordLevel({"[UNK]": 0} | {text: n for n, text in enumerate(vectors, 1)}, "[UNK]"))
    rows = list(vectors.values())
    weights = torch.tensor([[0.0] * len(rows[0]), *map(list, rows)])
    settle_torch()
    SentenceTransformer(modules=[StaticEmbedding(whole, embedding_weights=weights)], device="cpu").save(str(folder))
    return folder
