# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The Mandelbrot set: which points c of the plane stay bounded under z -> z z + c, and how soon the others leave. Every point takes
the same steps; those that left stand still. Ten steps are one compiled function: called once, replayed afterwards, and fused into a
few passes over the items."""
import wengert as wg
from picture import Picture

WIDTH, HEIGHT, STEPS, ROUNDS = 420, 280, 10, 20


def inside(x, y):
    """Not gone yet. Beyond 2 nothing comes back; 16 makes the shades of the picture smoother."""
    return x * x + y * y < 256


@wg.jit
def ten_steps(x, y, count, a, b):
    for _ in range(STEPS):
        stays = inside(x, y)
        x, y = wg.where(stays, x * x - y * y + a, x), wg.where(stays, x * y * 2 + b, y)
        count = count + wg.astype(stays, wg.float64)
    return x, y, count


a = wg.linspace(-2.1, 0.75, WIDTH)
b = wg.linspace(0.95, -0.95, HEIGHT)[:, None]
none = wg.zeros((HEIGHT, WIDTH))
x, y, count = none, none, none
print(f"the Mandelbrot set on {WIDTH} by {HEIGHT} points\n\n steps   inside      area")
wg.run(none, a, b)
for turn in range(1, ROUNDS + 1):
    x, y, count = ten_steps(x, y, count, a, b)
    wg.run(x, y, count)
    left, point = int(wg.sum(inside(x, y))), 2.85 / (WIDTH - 1) * 1.9 / (HEIGHT - 1)
    if turn % 4 == 0 or turn == 1:
        print(f"{STEPS * turn:6} {left:8} {left * point:9.5f}")
figures = ten_steps.figures()
print(f"\nten steps were traced {figures['traces']} time and replayed {figures['replays']} times")

# steps + 1 - log2(log2 |z|): the same along a curve that the steps alone would cut into bands
smooth = count + 1 - wg.log2(wg.log2(wg.maximum(wg.sqrt(x * x + y * y), 2.0)))
picture = Picture(WIDTH, HEIGHT)
picture.shades(0, 0, wg.where(inside(x, y), none, wg.log1p(wg.maximum(smooth, 0.0))), 0.6, 4.6)
picture.end()
