#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""llama.cpp's tokens a second, through llama-cpp-python: llama.py MODEL.gguf THREADS PROMPT GENERATE BATCH.

Prints three rates: a prompt taken in, tokens generated one by one, and BATCH sequences that generate side by side, each after a run that warms up."""
import ctypes
import sys
import time

import llama_cpp as llama


@llama.llama_log_callback
def silent(level, text, user):
    pass


def open_model(path):
    """A model without a vocabulary, which no step here needs."""
    override = (llama.llama_model_kv_override * 2)()
    override[0].tag = 3 # a string
    override[0].key = b"tokenizer.ggml.model"
    override[0].value.val_str = b"no_vocab"
    parameters = llama.llama_model_default_params()
    parameters.n_gpu_layers = 0
    parameters.kv_overrides = ctypes.cast(override, type(parameters.kv_overrides))
    model = llama.llama_model_load_from_file(path.encode(), parameters)
    if not model:
        sys.exit(f"llama.cpp does not read {path}")
    return model


class Batch:
    """A step: so many tokens of each sequence, from a position on."""

    def __init__(self, most):
        self.batch = llama.llama_batch_init(most, 0, 1)

    def run(self, context, sequences, length, position):
        batch, at = self.batch, 0
        for sequence in range(sequences):
            for i in range(length):
                batch.token[at] = (7919 * (position + i) + 13 + sequence) % 32000
                batch.pos[at] = position + i
                batch.n_seq_id[at] = 1
                batch.seq_id[at][0] = sequence
                batch.logits[at] = i + 1 == length
                at += 1
        batch.n_tokens = at
        if llama.llama_decode(context, batch):
            sys.exit("llama.cpp failed")
        llama.llama_synchronize(context)


def rate(model, threads, sequences, length, steps):
    """Tokens a second of steps of so many tokens of each sequence."""
    parameters = llama.llama_context_default_params()
    parameters.n_ctx = sequences * length * steps # shared out among the sequences
    parameters.n_batch = parameters.n_ubatch = max(sequences * length, 32)
    parameters.n_seq_max = sequences
    parameters.n_threads = parameters.n_threads_batch = threads
    context = llama.llama_init_from_model(model, parameters)
    memory, step = llama.llama_get_memory(context), Batch(sequences * length)
    for turn in range(2):
        llama.llama_memory_clear(memory, False)
        begin = time.perf_counter()
        for i in range(steps if turn else 1):
            step.run(context, sequences, length, i * length)
        seconds = time.perf_counter() - begin
    llama.llama_free(context)
    return sequences * length * steps / seconds


def main():
    path, threads, prompt, generate, batch = sys.argv[1], *map(int, sys.argv[2:6])
    llama.llama_log_set(silent, ctypes.c_void_p(0))
    llama.llama_backend_init()
    model = open_model(path)
    print(rate(model, threads, 1, prompt, 1), rate(model, threads, 1, 1, generate), rate(model, threads, batch, 1, generate))


if __name__ == "__main__":
    main()
