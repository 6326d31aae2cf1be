# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Logistic regression by Newton's method: the loss is written down once, its gradient and its Hessian are derived from it, and each
step solves a linear system. Near the end the number of right digits doubles with each step."""
import wengert as wg
from picture import BLUE, ORANGE, Picture

EACH, WIDTH, HEIGHT = 150, 400, 300
NAMES = ["1", "x", "y", "x x", "x y", "y y"]


def terms(points):
    """points [.., 2] to the terms of a quadratic [.., 6]."""
    x, y = points[..., 0], points[..., 1]
    return wg.stack([wg.ones_like(x), x, y, x * x, x * y, y * y], axis=-1)


def loss(weights, terms, labels):
    """The mean cross entropy, and a little of the squared weights, without which they could grow for ever."""
    logits = terms @ weights
    return wg.mean(wg.nn.softplus(logits) - labels * logits) + (weights @ weights) * 1e-3


wg.random.seed(5)  # a cloud, and a ring about it
cloud = wg.random.normal((EACH, 2), 0, 0.7)
angle = wg.random.uniform((EACH,), 0, 2 * wg.pi)
radius = wg.random.normal((EACH, 1), 2.1, 0.45)
ring = wg.stack([wg.cos(angle), wg.sin(angle)], axis=1) * radius + wg.array([0.4, 0.2])
points = wg.concat([cloud, ring])
labels = wg.repeat(wg.arange(2.0), EACH)
weights, inputs = wg.zeros(len(NAMES)), terms(points)
wg.run(inputs, labels)
print(f"logistic regression by Newton's method: {2 * EACH} points, {len(NAMES)} weights\n\n step       loss   gradient")
for step in range(9):
    value, gradient = wg.value_and_grad(loss)(weights, inputs, labels)
    after = weights - wg.linalg.solve(wg.hessian(loss)(weights, inputs, labels), gradient)
    size = wg.norm(gradient)
    wg.run(value, size, after)  # loss, gradient and Hessian share what they have in common
    print(f"{step:5} {float(value):10.7f} {float(size):10.1e}")
    if size < 1e-9:
        break
    weights = after

right = wg.mean(wg.astype(wg.equal(inputs @ weights > 0, labels > 0), wg.float64))
print("\nweights:" + "".join(f"  {name} {weight:.4f}" for name, weight in zip(NAMES, weights.tolist())))
print(f"{100 * float(right):.1f}% of the points are on their side")

# the probability at every pixel: the same functions on an array [h, w, 2]
grid = wg.stack(wg.meshgrid(wg.linspace(-4, 4, WIDTH), wg.linspace(3, -3, HEIGHT)), axis=-1)
probability = wg.nn.sigmoid(terms(grid) @ weights)[..., None]
blue, orange = wg.array([0.80, 0.87, 0.96]), wg.array([0.99, 0.89, 0.78])
picture = Picture(WIDTH, HEIGHT, -4, 4, -3, 3)
picture.shades(0, 0, probability * (orange - blue) + blue)
picture.dots(points, 6, [BLUE, ORANGE], labels)
picture.end()
