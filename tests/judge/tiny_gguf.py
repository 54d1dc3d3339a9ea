"""A GGUF model of 100 kB that answers nonsense, with a chat template and sizes of the test's choice."""

from pathlib import Path

import gguf
import numpy as np

WIDTH, INNER, HEADS = 32, 64, 4
PLAIN = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
TOKENS = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁yes", "▁no"]
KINDS = [2, 3, 3, *[6] * 256, 1, 1]
BLOCK = {
    "attn_q": (WIDTH, WIDTH), "attn_k": (WIDTH, WIDTH), "attn_v": (WIDTH, WIDTH), "attn_output": (WIDTH, WIDTH),
    "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH), "ffn_down": (WIDTH, INNER), "attn_norm": (WIDTH,),
    "ffn_norm": (WIDTH,),
}  # fmt: skip


def tiny_gguf(file: Path, template: str = PLAIN, blocks: int = 1) -> Path:
    """Write the model into a file and return that; it has one block, whatever `blocks` says."""
    writer = gguf.GGUFWriter(str(file), "llama")
    writer.add_context_length(256)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(blocks)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(TOKENS)
    writer.add_token_scores([0.0] * len(TOKENS))
    writer.add_token_types(KINDS)
    writer.add_chat_template(template)
    tensors = {f"blk.0.{name}": shape for name, shape in BLOCK.items()}
    tensors |= {"token_embd": (len(TOKENS), WIDTH), "output": (len(TOKENS), WIDTH), "output_norm": (WIDTH,)}
    for name, shape in tensors.items():
        writer.add_tensor(f"{name}.weight", np.full(shape, 0.01, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file
