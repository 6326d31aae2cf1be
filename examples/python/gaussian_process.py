# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Gaussian process regression: what a smooth function may be, given noisy samples of it. The length, height and noise of the model are
found by climbing the gradient of the likelihood, through a Cholesky factorisation; then a triangular solve gives the mean and the
uncertainty everywhere else."""
import wengert as wg
from picture import BLUE, GREY, ORANGE, PALE, Picture

SAMPLES, PLACES, STEPS = 24, 421, 60


def covariance(settings, x, z):
    """height^2 exp(-(x - z)^2 / (2 length^2)) for x [n], z [m]: [n, m]. settings: logarithms of length, height, noise."""
    length, height, _ = wg.exp(settings)
    return wg.exp(wg.square((x[:, None] - z) / length) * -0.5) * wg.square(height)


def factor(settings, x):
    """The Cholesky factor [n, n] of the covariance of noisy samples."""
    return wg.linalg.cholesky(covariance(settings, x, x) + wg.eye(SAMPLES) * wg.square(wg.exp(settings[2])))


def surprise(settings, x, y):
    """The negative logarithm of the likelihood, but for a constant: with K = L L^T and z = L^-1 y it is z z / 2 + sum ln diag L."""
    l = factor(settings, x)
    z = wg.linalg.solve_triangular(l, y)
    return (z @ z) * 0.5 + wg.sum(wg.log(wg.diagonal(l)))


@wg.jit
def improve(settings, x, y):
    before, slope = wg.value_and_grad(surprise)(settings, x, y)
    return before, settings - wg.clip(slope * 0.02, -0.1, 0.1)


wg.random.seed(9)
x = wg.random.uniform((SAMPLES,), -3, 3)
x = x + wg.sign(x) * 0.6  # a gap about 0, where nothing is known
y = wg.sin(x * 1.6) + wg.random.normal((SAMPLES,), 0, 0.15)
settings = wg.array([1, 1, -0.5])
print(f"Gaussian process regression: {SAMPLES} samples\n\n step   surprise    length    height     noise")
for i in range(STEPS + 1):
    before, after = improve(settings, x, y)
    wg.run(before, after)
    if i % 10 == 0:
        print(f"{i:5} {float(before):10.4f}" + "".join(f" {number:9.4f}" for number in wg.exp(settings).tolist()))
    settings = after

# at places p: the mean K_px K^-1 y, and the variance height^2 - sum (L^-1 K_xp)^2
places = wg.linspace(-4, 4, PLACES)
l, truth = factor(settings, x), wg.sin(places * 1.6)
z, w = wg.linalg.solve_triangular(l, y), wg.linalg.solve_triangular(l, covariance(settings, x, places))
mean, deviation = z @ w, wg.sqrt(wg.square(wg.exp(settings[1])) - wg.sum(wg.square(w), axis=0))
within = wg.mean(wg.astype(abs(mean - truth) < deviation * 2, wg.float64))
print(f"\nthe function is within two deviations at {100 * float(within):.0f}% of {PLACES} places")

picture = Picture(420, 240, -4, 4, -1.9, 1.9)
for i, (m, d) in enumerate(zip(mean.tolist(), deviation.tolist())):
    at = i * (8.0 / (PLACES - 1)) - 4
    picture.line(at, m - 2 * d, at, m + 2 * d, 1.5, PALE)
picture.path(wg.stack([places, truth], axis=1), 1.5, GREY)
picture.path(wg.stack([places, mean], axis=1), 2, BLUE)
picture.dots(wg.stack([x, y], axis=1), 7, [ORANGE])
picture.end()
