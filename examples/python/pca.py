# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Principal components: 300 pictures of a spot that wanders and changes its size, and the few directions that explain most of how they
differ. The pictures are one broadcast expression over parameters [300, 1, 1] and coordinates [24, 1] and [24]; nothing is computed
before the first read."""
import wengert as wg
from picture import Picture

PICTURES, SIDE, SHOWN, SCALE = 300, 24, 7, 4

wg.random.seed(3)
across = wg.linspace(-1, 1, SIDE)
x = wg.random.normal((PICTURES, 1, 1), 0, 0.22)
y = wg.random.normal((PICTURES, 1, 1), 0, 0.14)
width = wg.random.uniform((PICTURES, 1, 1), 0.3, 0.45)
spots = wg.exp(-((across - x) ** 2 + (across[:, None] - y) ** 2) / (2 * width ** 2)).reshape(PICTURES, SIDE * SIDE)
mean = wg.mean(spots, axis=0)
centred = spots - mean
_, spread, components = wg.linalg.svd(centred, full_matrices=False)
share = spread ** 2 / wg.sum(spread ** 2)
together = wg.cumulative_sum(share)

# every picture from its coordinates along the first components, and how far that is from the picture
first = components[:SHOWN]
again = (centred @ first.T) @ first + mean
distance = wg.sqrt(wg.mean((again - spots) ** 2))
wg.run(mean, share, together, first, distance, spots, again)  # one read of all: what they share is computed once

print(f"principal components of {PICTURES} pictures of {SIDE} by {SIDE}\n\n component    share   together")
for i, (part, total) in enumerate(zip(share.tolist()[:SHOWN], together.tolist()), 1):
    print(f"{i:10} {100 * part:7.2f}% {100 * total:9.2f}%")
print(f"\n{SHOWN} numbers a picture instead of {SIDE * SIDE}: off by {float(distance):.4f} (root mean square)")

tile = SIDE * SCALE + 4
picture = Picture((SHOWN + 1) // 2 * tile - 4, 3 * tile - 4)


def show(column, row, image, low, high):
    large = wg.repeat(wg.repeat(image.reshape(SIDE, SIDE), SCALE, axis=0), SCALE, axis=1)
    picture.shades(column * tile, row * tile, large, low, high)


show(0, 0, mean, 0, 1)
for i in range(SHOWN):
    show((i + 1) % 4, (i + 1) // 4, first[i], -0.11, 0.11)
for i in range(4):  # two pictures, each beside what its coordinates say
    show(i, 2, (again if i % 2 else spots)[i // 2], 0, 1)
picture.end()
