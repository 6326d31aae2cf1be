# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A neural differential equation: the law dx/dt = f(x) of a motion is learned from places along it. f is a small network; the motion
follows it by Runge-Kutta steps, and the gradient of how far it goes astray is taken back through all of them. The training step, with
its gradient, is compiled."""
import wengert as wg
from picture import BLUE, GREY, ORANGE, Picture

HIDDEN, POINTS, PIECE, STEPS, SPAN = 32, 48, 5, 1000, 0.15  # SPAN: of time between points
WEIGHTS = 5 * HIDDEN + 2


def true_law(weights, x):
    """The law to be found: it turns about 0, and is drawn to the circle of radius 1 from both sides."""
    a, b = x[:, :1], x[:, 1:]
    pull = 1 - (a * a + b * b)
    return wg.concat([a * pull - b * 1.5, b * pull + a * 1.5], axis=-1)


def network(weights, x):
    """tanh(x A + a) B + b for x [n, 2], of one vector of weights."""
    h = HIDDEN
    inner = wg.tanh(x @ weights[:2 * h].reshape(2, h) + weights[2 * h:3 * h].reshape(1, h))
    return inner @ weights[3 * h:5 * h].reshape(h, 2) + weights[5 * h:].reshape(1, 2)


def motion(law, weights, x, points):
    """Places [points, n, 2] of motions from x [n, 2] on, by the classical Runge-Kutta method."""
    places = [x]
    for _ in range(points - 1):
        k1 = law(weights, x)
        k2 = law(weights, x + k1 * (SPAN / 2))
        k3 = law(weights, x + k2 * (SPAN / 2))
        k4 = law(weights, x + k3 * SPAN)
        x = x + (k1 + k4 + (k2 + k3) * 2) * (SPAN / 6)
        places.append(x)
    return wg.stack(places)


def loss(weights, pieces):
    return wg.nn.mean_squared_error(motion(network, weights, pieces[0], PIECE), pieces)


@wg.jit
def train(weights, pieces, mean, square, count):
    """A step of Adam."""
    value, gradient = wg.value_and_grad(loss)(weights, pieces)
    count, mean, square = count + 1, mean * 0.9 + gradient * 0.1, square * 0.99 + gradient * gradient * 0.01
    step = mean / (1 - 0.9 ** count) / (wg.sqrt(square / (1 - 0.99 ** count)) + 1e-8)
    return value, weights - step * 0.015, mean, square, count


wg.random.seed(2)
start = wg.array([[0.15, 0], [-1.8, 0.4]])  # one inside the circle, one outside
truth = motion(true_law, None, start, POINTS)
pieces = wg.stack([truth[i:POINTS - PIECE + 1 + i] for i in range(PIECE)]).reshape(PIECE, -1, 2)
state = (wg.random.normal((WEIGHTS,), 0, 0.4), wg.zeros(WEIGHTS), wg.zeros(WEIGHTS), wg.array(0.0))
wg.run(truth, pieces, *state)
print(f"a neural differential equation: {WEIGHTS} weights, {POINTS} points of 2 motions\n\n step       loss")
for i in range(STEPS + 1):
    value, *state = train(state[0], pieces, *state[1:])
    wg.run(value, *state)
    if i % 100 == 0:
        print(f"{i:5} {float(value):10.7f}")
figures = train.figures()

found = motion(network, state[0], start, POINTS)  # the whole way, from the first places alone
print(f"\ntraced {figures['traces']} time, replayed {figures['replays']} times")
print(f"over {SPAN * (POINTS - 1):.1f} units of time the learned motions are at most {float(wg.max(abs(found - truth))):.4f} off")

picture = Picture(420, 300, -1.98, 1.52, -1.2, 1.3)
for i, colour in enumerate([BLUE, ORANGE]):
    picture.dots(truth[:, i], 8, [GREY])
    picture.path(found[:, i], 2, colour)
picture.end()
