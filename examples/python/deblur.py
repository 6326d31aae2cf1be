# SPDX-License-Identifier: Apache-2.0 OR MIT
"""An image is blurred, and found again by gradient descent on its own items: the image that, blurred, is most like the given one, and
has few edges. The blur is a product with a matrix from each side; its derivative is never written down."""
import wengert as wg
from picture import Picture

SIDE, STEPS = 128, 240


def make_image():
    """Red, green and blue [3, side, side]: a disc, a ring and stripes before a sky."""
    x = wg.linspace(-1, 1, SIDE, dtype=wg.float32)
    y = x[:, None]
    disc = wg.hypot(x + 0.4, y + 0.35) < 0.38
    ring = abs(wg.hypot(x - 0.35, y - 0.3) - 0.36) < 0.09
    stripes = (wg.sin((x + y) * 22) > 0) & (x - y < -0.75)
    colours = [[0.16, 0.22, 0.36], [0.95, 0.77, 0.35], [0.86, 0.38, 0.33], [0.55, 0.78, 0.72]]
    sky, *rest = [wg.array(colour, dtype=wg.float32).reshape(3, 1, 1) for colour in colours]
    image = sky * (1.3 - y * 0.5)
    for mask, colour in zip([disc, ring, stripes], rest):
        image = wg.where(mask, colour, image)
    return image


def blurred(image, blur):
    return blur @ image @ blur.T


def loss(image, blur, given):
    """The misfit of the blurred image, and a little of the length of its edges."""
    misfit = wg.sum(wg.square(blurred(image, blur) - given))
    across, down = wg.diff(image, axis=2)[:, :-1], wg.diff(image, axis=1)[:, :, :-1]
    edges = wg.sum(wg.sqrt(wg.sum(across * across + down * down, axis=0) + 1e-4))
    return misfit * 0.5 + edges * 2e-3


@wg.jit
def descend(image, blur, given, speed):
    """A step of descent with momentum."""
    value, gradient = wg.value_and_grad(loss)(image, blur, given)
    speed = speed * 0.9 - gradient * 0.2
    return value, image + speed, speed


def likeness(a, b):
    """How far an image is from another one, in decibels of the greatest item."""
    return float(wg.log10(wg.nn.mean_squared_error(a, b)) * -10)


wg.random.seed(1)
place = wg.arange(SIDE, dtype=wg.float32)
blur = wg.nn.softmax(wg.square((place[:, None] - place) / 2.2) * -0.5)  # each place becomes a weighted mean of those about it
original = make_image()
given = blurred(original, blur) + wg.random.normal((3, SIDE, SIDE), 0, 0.003, dtype=wg.float32)
wg.run(original, blur, given)
image, speed = given, wg.zeros_like(given)
print(f"an image of {SIDE} by {SIDE}, blurred and found again\n\n step       loss   likeness")
for i in range(STEPS + 1):
    before = image
    value, image, speed = descend(image, blur, given, speed)
    wg.run(value, image, speed)
    if i % 40 == 0:
        print(f"{i:5} {float(value):10.5f} {likeness(before, original):7.2f} dB")

picture = Picture(3 * SIDE + 8, SIDE)
for i, shown in enumerate([original, given, image]):
    picture.shades(i * (SIDE + 4), 0, wg.moveaxis(shown, 0, -1))
picture.end()
