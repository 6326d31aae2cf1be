# SPDX-License-Identifier: Apache-2.0 OR MIT
"""k-means: points are given to the nearest centre, centres move to the mean of their points, until nothing changes. Eight starts are
run as one by mapping the step over an axis of starts, and the mapped step is compiled."""
import wengert as wg
from picture import BLACK, BLUE, GREEN, ORANGE, PURPLE, RED, Picture

CLUSTERS, EACH, STARTS = 5, 120, 8
MIDDLES = [[-2.2, 1.4], [-0.6, -1.3], [0.4, 1.7], [2.1, 0.4], [2.3, -1.6]]
WIDTHS = [0.45, 0.55, 0.4, 0.35, 0.5]


def move_centres(points, centres):
    """points [n, 2], centres [k, 2] to centres [k, 2], labels [n] and the mean squared distance."""
    distances = wg.sum(wg.square(points[:, None] - centres), axis=-1)  # [n, k]
    labels = wg.argmin(distances, axis=-1)
    members = wg.one_hot(labels, CLUSTERS, dtype=wg.float64)  # [n, k]
    counts = wg.sum(members, axis=0)[:, None]
    means = (members.T @ points) / counts
    return wg.where(counts > 0, means, centres), labels, wg.mean(wg.min(distances, axis=-1))


step = wg.jit(wg.vmap(move_centres, in_axes=(None, 0)))  # points are shared, centres [starts, k, 2] are mapped

wg.random.seed(7)
points = wg.concat([wg.random.normal((EACH, 2), 0, width) + wg.array(middle) for middle, width in zip(MIDDLES, WIDTHS)])
order = wg.random.permutation(CLUSTERS * EACH)
centres = points[order[:STARTS * CLUSTERS].reshape(STARTS, CLUSTERS)]
wg.run(points, centres)

print(f"k-means: {CLUSTERS * EACH} points, {CLUSTERS} centres, {STARTS} starts at once\n\n round   best loss   worst loss")
for turn in range(1, 41):
    moved, labels, losses = step(points, centres)
    settled = wg.array_equal(moved, centres)
    wg.run(moved, labels, losses, settled)  # one read computes the four
    print(f"{turn:6}   {float(wg.min(losses)):9.6f}   {float(wg.max(losses)):10.6f}")
    centres = moved
    if settled:
        break

winner = int(wg.argmin(losses))
best, counts = centres[winner], wg.bincount(labels[winner], length=CLUSTERS)
print(f"\nstart {winner} won:\n\n centre         x         y   points")
for i, ((x, y), count) in enumerate(zip(best.tolist(), counts.tolist())):
    print(f"{i:7} {x:9.5f} {y:9.5f}   {count:6}")
figures = step.figures()
print(f"\nthe step was traced {figures['traces']} time and replayed {figures['replays']} times")

picture = Picture(420, 300, -4.2, 4.2, -3.4, 3.2)
picture.dots(points, 5, [BLUE, ORANGE, GREEN, RED, PURPLE], labels[winner])
picture.dots(best, 11, [BLACK])
picture.end()
