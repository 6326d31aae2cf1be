#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""wengert train as a person runs it: data of every kind, interrupted, resumed, on bad data, on a full disk."""

import base64
import hashlib
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time
import xml.etree.ElementTree
from array import array

COMMAND = os.environ.get("TESTED_COMMAND", "wengert")

# y = 2 a - b + 1 by a linear model; rows are few, so that a run is quick.
LINE = """wengert 1
program line
extent n = 4
input x [n, 2]
input y [n]
parameter w [2, 1] = (0 0)
parameter b [1] = 0
p = reshape(linear(x, w, b), shape=[n])
e = p - y
loss = mean(e * e)
entry train: loss, gradients(loss)
entry evaluate: loss
"""

# Three classes of pictures by which third is bright.
PICTURES = """wengert 1
program thirds
extent n = 8
input images u8 [n, 3, 4]
input labels i32 [n]
parameter w [12, 3] = xavier(seed=3)
parameter b [3] = 0
logits = linear(reshape(convert(images, kind=f32) / 255, shape=[n, 12]), w, b)
answers = convert(labels, kind=i64)
loss = cross_entropy(logits, answers)
class = arg_max(logits, axis=1)
correct = sum(equal(class, answers))
probabilities = softmax(logits)
entry train: loss, gradients(loss)
entry evaluate: loss, correct
entry classify: class, probabilities
"""

# A running mean is carried from step to step and read by evaluate; dropout draws by a key of each step.
CARRIES = """wengert 1
program carries
extent n = 4
input x [n, 2]
input y [n]
input running [2] = 0
input key u32 [2]
parameter w [2, 1] = (0.5 -0.5)
next = running * 0.9 + mean(x, axis=0) * 0.1
p = reshape(matmul(dropout(x, key, rate=0.25), w), shape=[n])
e = p - y
loss = mean(e * e)
drift = sum(running)
entry train: loss, gradients(loss) ; carry next -> running
entry evaluate: drift
"""


def write(path, text):
    pathlib.Path(path).write_text(text)


def run(*words, **options):
    options.setdefault("timeout", 120)
    return subprocess.run([COMMAND, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)


def expect(condition, what, result=None):
    if not condition:
        raise AssertionError(what + (f"\nexit {result.returncode}\n{result.stdout}{result.stderr}" if result else ""))


def trained(result):
    expect(result.returncode == 0, "the training failed", result)
    return json.loads(result.stdout) if result.stdout.startswith("{") else None


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def tensors(path):
    data = pathlib.Path(path).read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    return header, data[8 + length :]


def floats(path, name):
    header, items = tensors(path)
    start, stop = header[name]["data_offsets"]
    return list(array("f", items[start:stop]))


def line_data(rows=18):
    write("line.wg", LINE)
    lines = ["a,b,y"]
    for i in range(rows):
        a, b = (i * 7 % 11) / 11, (i * 5 % 13) / 13
        lines.append(f"{a!r},{b!r},{2 * a - b + 1!r}")
    write("line.csv", "\n".join(lines) + "\n")
    write("ab.csv", "\n".join(",".join(line.split(",")[:2]) for line in lines) + "\n")
    return ["train", "line.wg", "--data", "x=ab.csv", "--data", "y=line.csv#y"]


def idx(path, shape, items):
    pathlib.Path(path).write_bytes(b"\0\0\x08" + bytes([len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + bytes(items))


def picture_data(rows=26):
    write("thirds.wg", PICTURES)
    images, labels = [], []
    for i in range(rows):
        label = i * 5 % 3
        labels.append(label)
        images += [(200 + i % 50 if row == label else 10 + (i * 13 + row * 7 + column) % 60) for row in range(3) for column in range(4)]
    idx("images.idx", [rows, 3, 4], images)
    idx("labels.idx", [rows], labels)
    return ["train", "thirds.wg", "--data", "images=images.idx", "--data", "labels=labels.idx"]


# ---- what is right ----


def learns_a_line():
    words = line_data() + ["--optimizer", "sgd", "--rate", "0.5", "--epochs", "300", "--out", "line.safetensors", "--json"]
    summary = trained(run(*words))
    expect(summary["wengert"] == 1 and summary["steps"] == 300 * 5 and summary["epochs"] == 300, f"the summary: {summary}")
    w, b = floats("line.safetensors", "w"), floats("line.safetensors", "b")
    expect(abs(w[0] - 2) < 1e-3 and abs(w[1] + 1) < 1e-3 and abs(b[0] - 1) < 1e-3, f"weights {w} {b}")


def one_step_is_gradient_descent():
    """One batch of all rows in one step: w = -rate * gradient at zero, which is computed here."""
    words = line_data(6) + ["--optimizer", "sgd", "--rate", "0.25", "--batch", "6", "--out", "one.safetensors"]
    trained(run(*words))
    rows = [[float(v) for v in line.split(",")] for line in pathlib.Path("line.csv").read_text().splitlines()[1:]]
    expected = [
        0.25 * 2 / 6 * sum(a * y for a, _, y in rows),
        0.25 * 2 / 6 * sum(b * y for _, b, y in rows),
        0.25 * 2 / 6 * sum(y for *_, y in rows),
    ]
    found = floats("one.safetensors", "w") + floats("one.safetensors", "b")
    expect(all(abs(e - f) < 1e-5 for e, f in zip(expected, found)), f"expected {expected}, found {found}")


def keeps_what_the_loss_does_not_use():
    """The gradient by such a parameter is a constant."""
    words = line_data()
    write("line.wg", LINE.replace("p = ", "parameter idle [3] = (1 2 3)\np = "))
    trained(run(*words, "--optimizer", "sgd", "--out", "idle.safetensors"))
    expect(floats("idle.safetensors", "idle") == [1, 2, 3], "a parameter that the loss does not use is changed")


def judges_and_logs():
    words = picture_data() + [
        "--test",
        "images=images.idx",
        "--test",
        "labels=labels.idx",
        "--rate",
        "0.05",
        "--epochs",
        "12",
        "--out",
        "thirds.safetensors",
        "--log",
        "log.jsonl",
        "--report",
        "report.html",
        "--json",
    ]
    result = run(*words)
    summary = trained(result)
    expect(
        summary["held_out"]["rows"] == 26 and summary["held_out"]["correct"] == 26 and summary["held_out"]["accuracy"] == 1, f"{summary}"
    )
    lines = [json.loads(line) for line in pathlib.Path("log.jsonl").read_text().splitlines()]
    steps, epochs = [line for line in lines if "held_out" not in line], [line for line in lines if "held_out" in line]
    expect(len(steps) == 12 * 4 and len(epochs) == 12, "as many log lines as steps and epochs")
    expect(
        all({"wengert", "step", "epoch", "loss", "rate", "seconds", "items_per_second"} == set(line) for line in steps),
        "keys of a step's line",
    )
    expect([line["step"] for line in steps] == list(range(1, 49)) and steps[4]["epoch"] == 2, "steps in order")
    expect(steps[-1]["loss"] < steps[0]["loss"] / 2, "the loss falls")
    expect(re.search(r"epoch 12/12  loss \S+  held out: loss \S+, correct 26, accuracy 1.0000", result.stderr), "the epoch's line", result)
    page = pathlib.Path("report.html").read_text()
    expect(page.count("<svg") >= 5 and "Confusion matrix" in page and "Live volume of the plan of" in page, "the report's parts")
    expect(
        not re.search(r"""(src|href)=(?!["']?data:)""", page) and "http" not in page and "@import" not in page,
        "the report needs nothing beside itself",
    )
    expect("<script" not in page, "no scripts")
    check_drawings(page)


def check_drawings(page):
    """Every drawing is well-formed and stays in its box, the matrix counts every row, the first picture is the data's."""
    for drawing in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        svg = xml.etree.ElementTree.fromstring(drawing)
        width, height = [float(v) for v in svg.get("viewBox").split()[2:]]
        numbers = [(float(x), float(y)) for path in svg.iter("path") for x, y in re.findall(r"[ML](-?[\d.]+),(-?[\d.]+)", path.get("d"))]
        expect(all(0 <= x <= width and 0 <= y <= height for x, y in numbers), "a point outside of its drawing")
        if svg.findtext("title") == "Confusion matrix":
            expect(
                sum(int(text.text) for text in svg.iter("text") if text.get("text-anchor") == "middle") == 26, "the matrix counts every row"
            )
    picture = base64.b64decode(re.search(r'src="data:image/bmp;base64,([^"]+)"', page).group(1))
    expect(
        picture[:2] == b"BM" and struct.unpack("<I", picture[2:6])[0] == len(picture) and struct.unpack("<ii", picture[18:26]) == (4, 3),
        "a BMP of 4 by 3",
    )
    pixels = [list(picture[54 + 12 * row : 54 + 12 * row + 12 : 3]) for row in (2, 1, 0)]
    data = list(pathlib.Path("images.idx").read_bytes()[16:28])
    expect(pixels == [data[0:4], data[4:8], data[8:12]], f"the first picture: {pixels}, {data}")


def closed_files_stay_closed():
    """Where standard error is closed, what is told there goes nowhere, and not into a file that has its number."""
    words = line_data() + ["--epochs", "2", "--out", "line.safetensors", "--log", "log.jsonl"]
    for closed in (0, 1, 2):
        pathlib.Path("log.jsonl").unlink(missing_ok=True)
        process = subprocess.Popen([COMMAND, *words], preexec_fn=lambda: os.close(closed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        expect(process.wait(120) == (1 if closed == 1 else 0), f"file {closed} is closed: exit {process.returncode}")
        expect(all(line.startswith("{") for line in pathlib.Path("log.jsonl").read_text().splitlines()), f"file {closed} is closed, and the log has more than JSON")


def evaluation_weighs_rows():
    """26 rows in batches of 8: the short batch counts by its rows. Judged by one batch of everything."""
    words = picture_data() + [
        "--test",
        "images=images.idx",
        "--test",
        "labels=labels.idx",
        "--optimizer",
        "sgd",
        "--rate",
        "1e-9",
        "--json",
    ]
    small, whole = trained(run(*words, "--batch", "8")), trained(run(*words, "--batch", "26"))
    expect(abs(small["held_out"]["loss"] - whole["held_out"]["loss"]) < 1e-6, f"{small} {whole}")


def a_trained_model_runs():
    trained(run(*picture_data(), "--rate", "0.05", "--epochs", "12", "--out", "m.safetensors"))
    image = [[[10, 10, 10, 10], [10, 10, 10, 10], [250, 250, 250, 250]]]
    result = run("run", "m.safetensors", "--entry", "classify", "--extent", "n=1", "--feed", f"images={json.dumps(image)}", "--json")
    expect(result.returncode == 0, "run failed", result)
    results = json.loads(result.stdout)["results"]
    expect(results["class"]["items"] == [2] and abs(sum(results["probabilities"]["items"][0]) - 1) < 1e-5, f"{results}")


def seeds_decide_the_bits():
    words = picture_data() + ["--epochs", "2"]
    for name, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        trained(run(*words, "--seed", seed, "--out", f"{name}.safetensors"))
    expect(digest("a.safetensors") == digest("b.safetensors"), "one seed, one model")
    expect(floats("a.safetensors", "w") != floats("c.safetensors", "w"), "another seed, another order")


def threads_do_not():
    words = picture_data() + ["--epochs", "2"]
    for threads in "1", "2":
        trained(run(*words, "--threads", threads, "--out", f"t{threads}.safetensors"))
    expect(digest("t1.safetensors") == digest("t2.safetensors"), "the bits depend on the number of threads")


# ---- resuming ----


def resumes_by_epochs():
    words = picture_data() + ["--seed", "5", "--rate", "0.01"]
    trained(run(*words, "--epochs", "4", "--out", "whole.safetensors"))
    trained(run(*words, "--epochs", "2", "--out", "parts.safetensors"))
    expect(digest("whole.safetensors") != digest("parts.safetensors"), "two epochs are not four")
    trained(run(*words, "--epochs", "4", "--out", "parts.safetensors", "--resume"))
    expect(digest("whole.safetensors") == digest("parts.safetensors"), "resumed training has other bits")
    result = run(*words, "--epochs", "4", "--out", "parts.safetensors", "--resume")
    expect(result.returncode == 0 and "nothing to do" in result.stdout, "a finished training has nothing to do", result)


def resumes_a_schedule():
    words = picture_data() + ["--schedule", "cosine", "--warmup", "3"]
    trained(run(*words, "--epochs", "3", "--out", "whole.safetensors"))
    trained(run(*words, "--epochs", "2", "--out", "parts.safetensors"))
    result = run(*words, "--epochs", "3", "--out", "parts.safetensors", "--resume")
    expect(result.returncode == 1 and "falls over 2 epochs" in result.stderr, "a schedule has its length from the start", result)
    expect(floats("whole.safetensors", "w") != floats("parts.safetensors", "w"), "another fall of the rate")


def interrupted_and_resumed():
    """Ctrl-C in the middle of an epoch: saves, exits 130, says how to go on; the bits are those of the uninterrupted training."""
    words = picture_data(4000) + ["--seed", "5", "--epochs", "40"]
    trained(run(*words, "--out", "whole.safetensors"))
    for attempt in range(5):
        process = subprocess.Popen(
            [COMMAND, *words, "--out", "cut.safetensors", "--log", f"cut{attempt}.jsonl"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        log = pathlib.Path(f"cut{attempt}.jsonl")
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline and not (log.exists() and log.stat().st_size > 0):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=120)
        if process.returncode != 0:  # 0: it was done before the signal came
            break
    expect(process.returncode == 130, f"exit {process.returncode}: {stdout}{stderr}")
    expect(re.search(r"interrupted after step \d+; cut.safetensors holds it: go on with the same command and --resume", stderr), stderr)
    trained(run(*words, "--out", "cut.safetensors", "--resume"))
    expect(digest("whole.safetensors") == digest("cut.safetensors"), "resumed training has other bits")


def carries_and_draws():
    line_data(10)
    write("carries.wg", CARRIES)
    words = [
        "train",
        "carries.wg",
        "--data",
        "x=ab.csv",
        "--data",
        "y=line.csv#y",
        "--test",
        "x=ab.csv",
        "--test",
        "y=line.csv#y",
        "--json",
    ]
    whole = trained(run(*words, "--epochs", "3", "--out", "whole.safetensors"))
    trained(run(*words, "--epochs", "1", "--out", "parts.safetensors"))
    parts = trained(run(*words, "--epochs", "3", "--out", "parts.safetensors", "--resume"))
    expect(digest("whole.safetensors") == digest("parts.safetensors"), "carried values and keys go on where they were")
    carried = floats("whole.safetensors", "carried.running")
    drift = whole["held_out"]["drift"]
    expect(
        drift > 0 and abs(drift - sum(carried)) < 1e-6 and drift == parts["held_out"]["drift"],
        f"evaluate reads what training carries: {drift} {carried}",
    )
    result = run("run", "whole.safetensors", "--entry", "evaluate", "--json")
    found = json.loads(result.stdout)["results"]["drift"]["items"]
    expect(abs(found - drift) < 1e-6, "run reads it from the model", result)
    result = run("run", "whole.safetensors", "--entry", "evaluate", "--feed", "running=[1, 2]", "--json")
    expect(result.returncode == 0 and json.loads(result.stdout)["results"]["drift"]["items"] == 3, "unless it is fed", result)
    trained(run(*words, "--epochs", "3", "--seed", "2", "--out", "other.safetensors"))
    expect(floats("whole.safetensors", "w") != floats("other.safetensors", "w"), "another seed, other draws")
    expect(not [name for name in os.listdir(".") if name.endswith(".saving")], "nothing half-written is left")


def refuses_another_training():
    words = picture_data() + ["--out", "r.safetensors"]
    trained(run(*words))
    for more, part in (
        (["--seed", "9"], "began with 1"),
        (["--rate", "0.5"], "began with 0.001"),
        (["--batch", "4"], "began with 8"),
        (["--optimizer", "sgd"], "began with adam"),
    ):
        result = run(*words, "--epochs", "2", "--resume", *more)
        expect(result.returncode == 1 and part in result.stderr, f"resume with {more}", result)
    expect(run(*words, "--epochs", "2", "--resume", "--rate", "1e-3").returncode == 0, "the same rate in other digits")
    write("other.wg", PICTURES.replace("/ 255", "/ 256"))
    result = run("train", "other.wg", *words[2:], "--resume")
    expect(result.returncode == 1 and "another program" in result.stderr, "another program", result)
    result = run(*picture_data(20), "--out", "r.safetensors", "--resume")
    expect(result.returncode == 1 and "rows" in result.stderr, "other data", result)


def starts_from_weights():
    words = picture_data() + ["--out", "first.safetensors"]
    trained(run(*words))
    trained(run(*words[:-2], "--weights", "first.safetensors", "--optimizer", "sgd", "--rate", "1e-30", "--out", "second.safetensors"))
    expect(floats("first.safetensors", "w") == floats("second.safetensors", "w"), "--weights are what training starts from")


# ---- what goes wrong ----


def stops_at_nan():
    write(
        "log.wg",
        """wengert 1
extent n = 2
input x [n]
parameter w [] = 1
r = ln(x * w)
loss = mean(r * r)
entry train: loss, gradients(loss)
""",
    )
    write("good.csv", "x\n1.5\n2.5\n3.5\n4.5\n")
    trained(run("train", "log.wg", "--data", "x=good.csv#x", "--out", "kept.safetensors"))
    before = digest("kept.safetensors")
    write("bad.csv", "x\n1.5\n2.5\n-1.5\n4.5\n")
    result = run("train", "log.wg", "--data", "x=bad.csv#x", "--out", "kept.safetensors")
    expect(result.returncode == 1, "a NaN loss is a failure", result)
    expect(
        re.search(
            r"log\.wg:5: step [12]: the loss is not finite; the first value that is not is item [01] \(nan\) of r, node \d+, a Ln \[2\]",
            result.stderr,
        ),
        "names the node",
        result,
    )
    expect(digest("kept.safetensors") == before, "the model that was there is kept")


def data_faults():
    words = picture_data()
    idx("short.idx", [25], [0] * 25)
    idx("wide.idx", [26, 4, 4], [0] * 26 * 16)
    write("table.csv", "a\n" + "1.5\n" * 26)
    cases = [
        (["--data", "labels=labels.idx"], 1, "reads input images, which has no default; give --data images=FILE"),
        (["--data", "images=images.idx", "--data", "labels=short.idx"], 1, "25 rows"),
        (["--data", "images=wide.idx", "--data", "labels=labels.idx"], 1, "do not fit input images"),
        (["--data", "images=images.idx", "--data", "labels=table.csv#a"], 1, "no exact value in the input's kind i32"),
        (["--data", "pictures=images.idx"], 1, "no input pictures"),
        (["--data", "images"], 2, "needs NAME=FILE"),
        (["--data", "images=images.idx", "--data", "images=images.idx"], 2, "twice"),
        (["--data", "images=missing.idx"], 1, "missing.idx"),
        (words[2:] + ["--entry", "evaluate"], 1, "declares no gradients"),
        (words[2:] + ["--entry", "nothing"], 1, "nothing"),
        (words[2:] + ["--test", "images=images.idx"], 1, "give --test labels=FILE"),
        (words[2:] + ["--optimizer", "adagrad"], 2, "sgd, adam or adamw"),
        (words[2:] + ["--schedule", "wild"], 2, "constant, linear, cosine or step"),
        (words[2:] + ["--epochs", "0"], 2, "--epochs"),
        (words[2:] + ["--rate", "0"], 2, "--rate"),
        (words[2:] + ["--resume"], 2, "--out"),
        (words[2:] + ["--resume", "--out", "absent.safetensors"], 1, "absent.safetensors"),
        (words[2:] + ["--out", "no/such/folder/m.safetensors"], 1, "no/such/folder"),
        (words[2:] + ["--report", "no/such/folder/r.html"], 1, "no/such/folder"),
        (words[2:] + ["--out", "."], 1, "directory"),
        (words[2:] + ["--log", "no/such/log"], 1, "no/such/log"),
        ([], 2, "--data"),
    ]
    for more, code, part in cases:
        result = run("train", "thirds.wg", *more)
        expect(result.returncode == code and part in result.stderr, f"{more}: expected exit {code} and '{part}'", result)
        expect("epoch 1/" not in result.stderr and not result.stdout, "an error comes before training and prints nothing on stdout", result)


def keeps_the_old_model_on_a_full_disk():
    """A limit on the size of files stands for the full disk."""
    import resource

    words = picture_data() + ["--out", "full.safetensors"]
    trained(run(*words))
    before = digest("full.safetensors")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (256, 256))

    result = run(*words, "--epochs", "2", "--seed", "3", preexec_fn=limit)
    expect(result.returncode == 1 and "full.safetensors" in result.stderr, "saving must fail", result)
    expect(digest("full.safetensors") == before, "the old model is kept")
    expect(
        not [name for name in os.listdir(".") if name.startswith("full.safetensors") and name != "full.safetensors"],
        "nothing half-written is left",
    )


def folders_of_pictures():
    source = pathlib.Path(__file__).resolve().parent / "data" / "grey.png"
    for name, count in (("cat", 3), ("dog", 2)):
        os.makedirs(f"pets/{name}")
        for i in range(count):
            pathlib.Path(f"pets/{name}/{i}.png").write_bytes(source.read_bytes())
    write("pets.wg", PICTURES.replace("[n, 3, 4]", "[n, 2, 3]").replace("12", "6"))
    result = run(
        "train",
        "pets.wg",
        "--data",
        "images=pets",
        "--data",
        "labels=pets",
        "--test",
        "images=pets",
        "--test",
        "labels=pets",
        "--epochs",
        "3",
        "--report",
        "pets.html",
        "--json",
    )
    if "this build has no" in result.stderr:
        return
    summary = trained(result)
    expect(summary["held_out"]["rows"] == 5 and summary["steps"] == 3, f"{summary}")


def escapes_what_it_prints():
    words = picture_data() + ["--test", "images=images.idx", "--test", "labels=labels.idx"]
    write("classes.txt", "<b>&\n\"quoted\"\n</svg><script>x</script>\n")
    trained(run(*words, "--report", "report.html"))
    page = pathlib.Path("report.html").read_text()
    expect("<script" not in page and "<b>" not in page and "&lt;b&gt;&amp;" in page, "class names are escaped")


TESTS = [
    learns_a_line,
    one_step_is_gradient_descent,
    keeps_what_the_loss_does_not_use,
    judges_and_logs,
    closed_files_stay_closed,
    evaluation_weighs_rows,
    a_trained_model_runs,
    seeds_decide_the_bits,
    threads_do_not,
    resumes_by_epochs,
    resumes_a_schedule,
    interrupted_and_resumed,
    carries_and_draws,
    refuses_another_training,
    starts_from_weights,
    stops_at_nan,
    data_faults,
    keeps_the_old_model_on_a_full_disk,
    folders_of_pictures,
    escapes_what_it_prints,
]


def main():
    passed = failed = 0
    home = os.getcwd()
    for test in TESTS:
        if sys.argv[1:] and test.__name__ not in sys.argv[1:]:
            continue
        os.makedirs(os.path.join(home, test.__name__))
        os.chdir(os.path.join(home, test.__name__))
        try:
            test()
            passed += 1
        except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError, KeyError) as error:
            failed += 1
            print(f"FAILED {test.__name__}: {error}")
        os.chdir(home)
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed == 0


if __name__ == "__main__":
    sys.exit(main())
