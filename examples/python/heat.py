# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The heat equation: du/dt = a (d2u/dx2 + d2u/dy2) on a plate whose edge is insulated, by small steps. The step is written for one
plate and mapped over an axis of four, each of another material; the mapped steps are compiled. Heat is conserved, which the program
checks."""
import wengert as wg
from picture import Picture

SIDE, STEPS, ROUNDS = 96, 8, 60
MATERIALS = [0.002, 0.015, 0.06, 0.24]  # above 0.25 steps this long explode
LETTERS = """..........
.oo..oo.o.
.oo..oo...
.oo..oo...
.oooooo.o.
.oooooo.o.
.oo..oo.o.
.oo..oo.o.
.oo..oo.o.
.........."""


def steps_of_one(u, a):
    """u [side, side] some steps later. What is beyond an insulated edge is as warm as the edge."""
    for _ in range(STEPS):
        margin = wg.pad(u, 1, mode="edge")
        across = margin[1:-1, :-2] + margin[1:-1, 2:]
        down = margin[:-2, 1:-1] + margin[2:, 1:-1]
        u = u + (across + down - u * 4) * a
    return u


steps = wg.jit(wg.vmap(steps_of_one))
materials = wg.array(MATERIALS)
coarse = wg.array([[float(letter == "o") for letter in row] for row in LETTERS.split()])
large = wg.repeat(wg.repeat(coarse, 10, axis=0), 10, axis=1)
u = wg.broadcast_to(large[2:2 + SIDE, 2:2 + SIDE], (len(MATERIALS), SIDE, SIDE))
first = float(wg.sum(u))
print(f"the heat equation on {len(MATERIALS)} plates of {SIDE} by {SIDE}\n\nspread (standard deviation) by material\n")
print("steps " + "".join(f" {a:9.3f}" for a in MATERIALS))
for turn in range(ROUNDS + 1):
    if turn % 10 == 0:
        print(f"{STEPS * turn:5} " + "".join(f" {spread:9.6f}" for spread in wg.std(u, axis=(1, 2)).tolist()))
    if turn < ROUNDS:
        u = steps(u, materials).run()
print(f"\nheat on all plates: {first:.6f} before, {float(wg.sum(u)):.6f} after")

picture = Picture(2 * SIDE * len(MATERIALS) + 4 * (len(MATERIALS) - 1), 2 * SIDE)
for i in range(len(MATERIALS)):
    picture.shades(i * (2 * SIDE + 4), 0, wg.repeat(wg.repeat(u[i], 2, axis=0), 2, axis=1))
picture.end()
