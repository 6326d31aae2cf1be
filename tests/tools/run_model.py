#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Language models as a person uses them: `wengert model ...` on small models, from a configuration to a trained one."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from model_command import COMMAND, MODELS, ROOT, STORIES, TIED, good, refused, report, run

QUANTISED = MODELS / "gguf" / "llama-q8_0.gguf"


def programs():
    whole = good("author", TIED, "--cut", "decode", "--ctx", 32)
    report.check(whole.startswith("wengert 1\nprogram llama.decode\nextent ctx = 32\n"), f"the decode cut begins {whole[:80]!r}")
    identity = json.loads(good("identity", TIED, "--cut", "decode", "--ctx", 32, "--json"))
    digest = subprocess.run(["sha256sum"], input=whole, capture_output=True, text=True).stdout.split()[0]
    report.check(identity["sha256"] == digest, "the identity is not the text's SHA-256")
    under = good("author", TIED, "--cut", "decode.head", "--dir", "weights")
    report.check('@"weights/model.norm.weight"' in under, "--dir does not name the weights' folder")
    products = {line.split(" = ", 1)[1] for line in good("author", TIED, "--cut", "decode.layer.0", "--ctx", 32).splitlines() if "matmul" in line}
    report.check(len(products) >= 9, "a layer has fewer products than a layer has")
    inspected = json.loads(good("inspect", QUANTISED, "--json"))
    report.check(any(tensor["kind"] == "q8_0" for tensor in inspected["tensors"]), "the quantised file shows no q8_0")
    manifest = json.loads(good("inspect", TIED, "--manifest"))
    report.check(all(len(tensor["sha256"]) == 64 for tensor in manifest["tensors"]), "the manifest has no digests")
    refused(2, "author", TIED, "--cut", "decode.lair", mentions="--cut")
    refused(1, "author", ROOT / "nowhere", mentions="nowhere")
    refused(1, "author", TIED, "--cut", "decode.layer.9", mentions="layers 0 to 1")
    refused(2, "compose", mentions="no verb")
    refused(1, "inspect", COMMAND, mentions="is no model")
    refused(1, "author", TIED, "--cut", "train", mentions="--length")
    refused(2, "quantize", TIED, "a.gguf", "--kind", "q9", mentions="q4_0")


def tokens():
    lines = good("tokenize", MODELS / "tokenizers" / "llama3.json", "--stdin", "--json", "--special", stdin='"a"\n" b"\n').splitlines()
    report.check(json.loads(lines[0])["ids"] == [764, 64], f"--special gives {lines[0]}")
    text = good("detokenize", MODELS / "tokenizers" / "llama3.json", "--stdin", stdin="[764, 64]\n")
    report.check(json.loads(text)["text"] == "a", f"special tokens are shown: {text!r}")
    report.check(good("tokenize", "bytes", "hi") == "104,105\n", "bytes are not their numbers")
    refused(2, "tokenize", "bytes", mentions="TEXT")
    refused(1, "detokenize", "bytes", "--tokens", "1,300", mentions="300")
    refused(2, "detokenize", "bytes", "--tokens", "1,x", mentions="commas")


def logits():
    facts = json.loads((TIED / "expected.json").read_text())
    rows = json.loads(good("logits", TIED, "--tokens", ",".join(map(str, facts["prompt"])), "--json"))["logits"]
    for position, wanted in zip(facts["positions"], facts["logits_f64_hex"]):
        off = max(abs(a - float.fromhex(b)) for a, b in zip(rows[position], wanted))
        report.check(off < 1e-4, f"logits of position {position} are off by {off}")
    refused(1, "logits", TIED, "--tokens", "5,999", mentions="999")
    # Frequencies that follow ctx are by themselves those of the tokens that are given.
    scaled = MODELS / "phi3" / "longrope-partial"
    several = good("logits", scaled, "--tokens", "5,9,12", "--json")
    report.check(several == good("logits", scaled, "--tokens", "5,9,12", "--json", "--ctx", 8) != good("logits", scaled, "--tokens", "5,9,12", "--json", "--ctx", 128),
                 "logits without --ctx are not those of a short context")


def answer(*words):
    return json.loads(good("generate", *words, "--json"))


def generating(folder):
    model = folder / "one"
    words = [model, "the ", "--seed", 7]
    whole = answer(*words, "--max-tokens", 24)
    report.check(len(whole["ids"]) == 24 and whole["finish"] == "length", f"24 tokens are {whole}")
    for more in (["--threads", 1], ["--threads", 2], ["--rows", 1], ["--draft", model], ["--ctx", 64]):
        report.check(answer(*words, "--max-tokens", 24, *more)["ids"] == whole["ids"], f"{more} changes the text")
    session = folder / "session"
    first = answer(*words, "--max-tokens", 9, "--session", session)
    rest = answer(model, "", "--seed", 7, "--max-tokens", 15, "--session", session)
    report.check(first["ids"] + rest["ids"] == whole["ids"], "a session that goes on says something else")
    refused(1, "generate", TIED, "a", "--tokenizer", "bytes", "--session", session, mentions="differs")
    stop = whole["text"][5:8]
    report.check(answer(*words, "--max-tokens", 24, "--stop", stop)["text"] == whole["text"].split(stop)[0], "--stop does not stop")
    receipt = folder / "receipt.json"
    good("generate", *words, "--max-tokens", 12, "--receipt", receipt)
    report.check("every one the same" in good("verify", receipt, model), "a receipt does not verify")
    changed = json.loads(receipt.read_text())
    changed["tokens"][3] += 1
    receipt.write_text(json.dumps(changed))
    done = run("verify", receipt, model)
    report.check(done.returncode == 1 and "token 3 differs" in done.stdout, f"a changed receipt: {done.stdout!r}")
    refused(1, "generate", model, "x" * 600, "--ctx", 500, mentions="never cut")
    refused(2, "generate", model, "x", "--top-p", 2, mentions="top-p")
    refused(1, "generate", model, "x", "--chat", mentions="chat template")
    refused(1, "chat", model, mentions="chat template")
    refused(1, "generate", model, "--interactive", mentions="chat template")
    refused(2, "generate", model, "x", "--interactive", mentions="no prompt")
    refused(2, "generate", model, "--interactive", "--session", folder / "talk", mentions="--session")
    refused(2, "generate", model, mentions="the prompt is missing")
    refused(2, "generate", model, "x", "--system", "y", mentions="--chat")
    refused(2, "generate", model, "x", "--temperature-first=false", mentions="takes no value")
    for option in "--session", "--receipt":
        refused(2, "generate", model, "x", f"{option}=", mentions="empty")
        refused(1, "generate", model, "x", option, folder / "nowhere" / "file", mentions="another place") # before there is a text to lose
    refused(1, "generate", STORIES, "x", mentions="--tokenizer")
    refused(1, "generate", TIED, "x", mentions="--tokenizer")
    refused(1, "bench", model, "--compare", folder / "nowhere", "--prompt", 4, "--generate", 2, "--repeat", 1, mentions="llama-bench")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([str(COMMAND), "model", "generate", str(model), "x", "--max-tokens", "3"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    report.check(done.returncode == 1 and "could not be written" in done.stderr and "ioctl" not in done.stderr, f"a disk that is full: {done.stderr!r}")
    lines = good("bench", STORIES, "--prompt", 8, "--generate", 4, "--repeat", 2, "--format", "csv").splitlines()
    report.check(len(lines) == 3 and lines[1].split(",")[3] == "pp8", f"the table of bench: {lines}")
    lines = good("bench", STORIES, "--prompt", 0, "--generate", 3, "--batch", 2, "--repeat", 1, "--format", "csv").splitlines()
    report.check([line.split(",")[3] for line in lines[1:]] == ["tg3", "tg3x2"], f"sequences side by side: {lines}")


def ends(folder):
    """A text ends at each of the tokens that config.json and generation_config.json name, in an image too."""
    words = ["the ", "--seed", 7, "--max-tokens", 24]
    whole = answer(folder / "one", *words)["ids"]
    last = next(i for i in range(5, 24) if whole[i] not in whole[:i])
    ended = folder / "ended"
    shutil.copytree(folder / "one", ended)
    config = json.loads((ended / "config.json").read_text())
    (ended / "config.json").write_text(json.dumps(dict(config, eos_token_id=[250, whole[last]])))
    good("compile", ended, folder / "ended.wgm")
    other = folder / "ended-by-generation"
    shutil.copytree(folder / "one", other)
    (other / "generation_config.json").write_text(json.dumps({"eos_token_id": whole[last]}))
    for model in ended, folder / "ended.wgm", other:
        said = answer(model, *words)
        report.check(said["finish"] == "end" and whole[:last] == said["ids"][:last] and len(said["ids"]) <= last + 1, f"{model} does not end: {said}")
    (other / "generation_config.json").write_text(json.dumps({"eos_token_id": list(range(9))}))
    refused(1, "generate", other, "the ", mentions="generation_config.json: \"eos_token_id\" must be")


def training(folder):
    text = folder / "text.txt"
    text.write_text("the cat sat on the mat, and the dog sat on the log. " * 200)
    words = ["--text", text, "--shape", "1x32x2", "--rows", 4, "--length", 32, "--rate", 1e-2, "--steps", 60]
    one, two = folder / "one", folder / "two"
    told = json.loads(good("train", one, *words, "--every", 1000, "--json"))
    report.check(told["steps"] == 60 and told["loss"] < 2, f"60 steps leave {told}")
    process = subprocess.Popen([str(COMMAND), "model", "train", str(two), *map(str, words), "--every", "5"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(1000):
        if (two / "training.safetensors").exists():
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    good("train", two, *words, "--every", 7, "--resume")
    report.check((one / "model.safetensors").read_bytes() == (two / "model.safetensors").read_bytes(), "an interrupted training ends elsewhere")
    report.check("the" in answer(one, "the cat", "--temperature", 0, "--max-tokens", 40)["text"], "the model has not learnt its text")
    good("train", one, *words[:-2], "--steps", 10, "--lora", 2)
    plain = answer(one, "the cat", "--temperature", 0, "--max-tokens", 10)
    adapted = answer(one, "the cat", "--temperature", 0, "--max-tokens", 10, "--adapter", one / "adapter.safetensors")
    report.check(len(plain["ids"]) == len(adapted["ids"]), "an adapter does not run")
    identities = {json.loads(good("identity", one, "--json", *more))["sha256"] for more in ([], ["--adapter", one / "adapter.safetensors"])}
    report.check(len(identities) == 2, "an adapter does not change the identity")
    refused(1, "train", one, *words[:-2], "--steps", 10, "--resume", mentions="another program")
    refused(1, "train", folder / "none", "--text", text, mentions="--shape")
    refused(1, "train", one, "--text", text, "--shape", "2x32x2", "--steps", 1, mentions="1x32x2, not 2x32x2")
    refused(2, "train", folder / "none", "--text", text, "--shape", "3x4", mentions="--shape")
    refused(1, "train", folder / "none", "--text", folder / "absent", "--shape", "1x32x2", mentions="absent")
    report.check(not (folder / "none").exists(), "a model that was never taught leaves a folder")


def distance(a, b):
    return max(abs(x - y) for r, s in zip(a, b) for x, y in zip(r, s))


def logits_of(model):
    return json.loads(good("logits", model, "--tokens", "1,5,9,3,7", "--json"))["logits"]


# What GGUF has no place for, in models that are refused instead of changed.
UNSAYABLE = {"gemma2/tied": "the scales", "gemma3/tied": "the scales", "gemma3/layer-types": "windows", "llama/yarn-scaling": "rotary", "phi3/longrope-partial": "rotary",
             "qwen3_moe/top2-plain-mixed": "experts", "smollm3/tied": "rotary"}


def rewriting(folder):
    file, back, image = folder / "a.gguf", folder / "back", folder / "a.wgm"
    models = sorted(path.parent for path in MODELS.glob("*/*/config.json")) + [STORIES]
    for model in models:
        name = str(model.relative_to(MODELS))
        want = logits_of(model)
        good("convert", model, back)
        report.check(logits_of(back) == want, f"{name}: other logits as a folder")
        good("compile", model, image)
        report.check(logits_of(image) == want, f"{name}: other logits as an image")
        report.check(good("identity", image, "--json") == good("identity", model, "--json"), f"{name}: another program as an image")
        if name in UNSAYABLE:
            refused(1, "quantize", model, folder / "never.gguf", "--kind", "f32", mentions=UNSAYABLE[name])
            continue
        good("quantize", model, file, "--kind", "f32")
        report.check(distance(logits_of(file), want) < 1e-5, f"{name}: other logits as a GGUF file")
    report.check(not (folder / "never.gguf").exists() and not list(folder.glob("*.part*")), "a refused file is there all the same")
    wide = folder / "wide"
    good("convert", QUANTISED, wide)
    plain = logits_of(wide)
    misses = {}
    for kind in ("bf16", "f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0"):
        good("quantize", wide, file, "--kind", kind)
        misses[kind] = distance(logits_of(file), plain)
        kinds = {t["kind"] for t in json.loads(good("inspect", file, "--json"))["tensors"] if len(t["shape"]) == 2}
        report.check(kind in kinds, f"quantize --kind {kind} wrote {kinds}")
    report.check(0 < misses["f16"] < misses["bf16"] and misses["q8_0"] < misses["q5_0"] < misses["q4_0"] < 4, f"kinds miss the logits by {misses}")
    for source, kind in ((QUANTISED, "q8_0"), (MODELS / "gguf" / "llama-q4_0.gguf", "q4_0")):
        good("quantize", source, file, "--kind", kind)
        good("convert", file, back)
        report.check(distance(logits_of(back), logits_of(source)) < 1e-4, f"{source.name} is another model after its way through a folder")
    good("quantize", STORIES, file, "--kind", "q4_k", "--embedding", "q8_0")
    refused(2, "quantize", TIED, file, "--kind", "q9", mentions="q9")
    refused(1, "quantize", TIED, file, "--kind", "i32", mentions="i32")
    refused(1, "convert", TIED, back, "--kind", "q8_0", mentions="GGUF")
    refused(1, "quantize", TIED, folder / "nowhere" / "a.gguf", mentions="nowhere")
    refused(1, "quantize", TIED, folder / "a.bin", mentions=".gguf")
    os.mkfifo(folder / "pipe.gguf")
    refused(1, "quantize", TIED, folder / "pipe.gguf", mentions="regular")
    report.check((folder / "pipe.gguf").is_fifo(), "a pipe is replaced by a file")


def images(folder):
    image, spoilt = folder / "tied.wgm", folder / "spoilt.wgm"
    source = folder / "one"
    words = ("--max-tokens", 8, "--temperature", 0)
    good("compile", source, image)
    report.check(good("generate", image, "the ", *words) == good("generate", source, "the ", *words), "an image goes on with another text")
    for files in ({"tokenizer.json": "llama3.json"}, {"tokenizer.model": "sp-bpe.model"}, {"tokenizer.bin": "llama2c-tokenizer.bin"}, {"vocab.json": "gpt2-vocab.json", "merges.txt": "gpt2-merges.txt"}):
        spoken = folder / f"spoken {'-'.join(files)}"
        shutil.copytree(TIED, spoken)
        for name, vocabulary in files.items():
            shutil.copy(MODELS / "tokenizers" / vocabulary, spoken / name)
        good("compile", spoken, image)
        text = "Hello, world 12\n  again"
        report.check(good("tokenize", image, text, "--special") == good("tokenize", spoken, text, "--special"), f"{files}: an image has another vocabulary")
        file, back = folder / f"{spoken.name}.gguf", folder / f"{spoken.name} back"
        good("quantize", spoken, file, "--kind", "f16")
        if "tokenizer.bin" in files:  # has no form in GGUF
            refused(1, "tokenize", file, text, mentions="vocabulary")
            continue
        report.check(good("tokenize", file, text) == good("tokenize", spoken, text), f"{files}: a GGUF file has another vocabulary")
        good("convert", file, back)
        done = run("tokenize", back, text)
        kept = "tokenizer.json" in files or "vocab.json" in files  # of a GGUF file a byte-level vocabulary is written, no other one
        report.check(done.stdout == good("tokenize", spoken, text) if kept else done.returncode == 1, f"{files}: a folder has another vocabulary: {done.stdout}{done.stderr}")
    good("compile", TIED, image)
    whole = image.read_bytes()
    size = int.from_bytes(whole[8:16], "little")
    header = whole[16:16 + size].decode()

    def spoil(old, new):
        report.check(old in header, f"{old} is not in the header")
        text = header.replace(old, new, 1).rstrip(" ").encode()
        spoilt.write_bytes(whole[:16] + text.ljust(size) + whole[16 + size:])
    spoil('"semantics": 1', '"semantics": 9')
    refused(1, "logits", spoilt, "--tokens", 5, mentions="semantics version differs")
    spoil('"chips": 1', '"chips": 2')
    refused(1, "logits", spoilt, "--tokens", 5, mentions="chips differs")
    spoil('"hidden_act": "silu"', '"hidden_act": "gelu"')
    refused(1, "logits", spoilt, "--tokens", 5, mentions="program text differs")
    spoil('"offset": 0', '"offset": 1')
    refused(1, "logits", spoilt, "--tokens", 5, mentions="compile the model again")
    for cut in (0, 7, 15, 16, 100, 16 + size, len(whole) - 1000):
        spoilt.write_bytes(whole[:cut])
        done = run("logits", spoilt, "--tokens", 5)
        report.check(done.returncode == 1 and len(done.stderr.splitlines()) in (1, 3), f"{cut} bytes of an image: {done.stderr}")
    refused(1, "compile", TIED, folder / "image.bin", mentions=".wgm")


def texts(folder):
    """Programs as they are written, and as somebody changed them."""
    shutil.copytree(TIED, folder / "w")
    text = folder / "m.wg"
    text.write_text(good("author", folder / "w", "--cut", "prefill", "--rows", 16, "--ctx", 64, "--dir", "w"))
    report.check(logits_of(text) == logits_of(TIED), "a model by its text gives other logits")
    words = ("hello", "--tokenizer", "bytes", "--max-tokens", 10, "--seed", 3)
    session = folder / "written"
    report.check(good("generate", text, *words, "--session", session) == good("generate", TIED, *words), "a model by its text goes on with another text")
    changed = text.read_text().replace("constant t13 [] = 0.00001", "constant t13 [] = 0.5", 1)
    (folder / "c.wg").write_text(changed)
    report.check(distance(logits_of(folder / "c.wg"), logits_of(TIED)) > 1e-3, "a changed text runs as the old one")
    refused(1, "generate", folder / "c.wg", "", "--tokenizer", "bytes", "--session", session, mentions="text differs")
    (folder / "d.wg").write_text(good("author", folder / "w", "--cut", "decode", "--dir", "w"))
    refused(1, "logits", folder / "d.wg", "--tokens", 5, mentions="prefill")
    (folder / "away.wg").write_text(text.read_text().replace('@"w/', '@"nowhere/'))
    refused(1, "logits", folder / "away.wg", "--tokens", 5, mentions="no folder")
    refused(1, "logits", ROOT / "examples" / "fashion.wg", "--tokens", 5, mentions="names no weights")


def main():
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        programs()
        rewriting(folder)
        tokens()
        logits()
        training(folder)
        images(folder)
        texts(folder)
        generating(folder)
        ends(folder)
    report.finish()


if __name__ == "__main__":
    main()
