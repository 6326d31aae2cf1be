# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is compared of a result: its mean, mean magnitude and 100 of its items, as bench_model answers them."""
import numpy as np

SAMPLED = 100


def sample(result):
    flat = np.asarray(result).ravel().astype(np.float64)
    count = min(flat.size, SAMPLED)
    places = [i * (flat.size - 1) // (count - 1) if count > 1 else 0 for i in range(count)]
    return [flat.mean(), np.abs(flat).mean(), *flat[places]]
