# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the examples share: small pictures of arrays, written as PPM files where the program is called with --out FILE. They are drawn
as picture.h of the examples in C draws them."""
import math
import sys

BLUE, ORANGE, GREEN, RED, PURPLE = 0x3B6FB6, 0xE08A3C, 0x4F9D69, 0xC44E52, 0x8A6BBF
BLACK, GREY, PALE = 0x222222, 0xB4B9C2, 0xDBE6F3
SCALE = [0x1B1340, 0x2D3F86, 0x2A7A8C, 0x49AB72, 0xB6CF4F, 0xFDF3A0]  # shades from low to high


class Picture:
    """Points and lines are placed in coordinates from left to right and from bottom to top."""

    def __init__(self, width, height, left=0.0, right=1.0, bottom=0.0, top=1.0):
        self.width, self.height, self.left, self.right, self.bottom, self.top = width, height, left, right, bottom, top
        self.pixels = bytearray(b"\xff" * (3 * width * height))

    def mix(self, x, y, colour, share):
        """Mixes a colour into a pixel; share 1 covers it."""
        if 0 <= x < self.width and 0 <= y < self.height and share > 0:
            at, share = 3 * (y * self.width + x), min(share, 1.0)
            for i in range(3):
                pixel = self.pixels[at + i]
                self.pixels[at + i] = int(pixel + ((colour >> (16 - 8 * i) & 255) - pixel) * share + 0.5)

    def line(self, x0, y0, x1, y1, thickness, colour):
        """A line with round ends: each pixel is covered by how far it is from the line."""
        across, down, radius = self.width / (self.right - self.left), self.height / (self.bottom - self.top), thickness / 2
        x0, x1, y0, y1 = (x0 - self.left) * across, (x1 - self.left) * across, (y0 - self.top) * down, (y1 - self.top) * down
        dx, dy = x1 - x0, y1 - y0
        length = dx * dx + dy * dy
        columns, rows = ([int(min(max(place, 0), extent - 1)) for place in (min(a, b) - radius - 1, max(a, b) + radius)]
                         for a, b, extent in ((x0, x1, self.width), (y0, y1, self.height)))
        for y in range(rows[0], rows[1] + 1):
            for x in range(columns[0], columns[1] + 1):
                share = min(max(((x + 0.5 - x0) * dx + (y + 0.5 - y0) * dy) / length, 0), 1) if length > 0 else 0
                away_x, away_y = x + 0.5 - x0 - share * dx, y + 0.5 - y0 - share * dy
                self.mix(x, y, colour, radius + 0.5 - math.sqrt(away_x * away_x + away_y * away_y))

    def dots(self, points, diameter, colours, labels=None):
        """points [n, 2], each in the colour of its label."""
        labels = labels.tolist() if labels is not None else [0] * len(points)
        for (x, y), label in zip(points.tolist(), labels):
            self.line(x, y, x, y, diameter, colours[int(label)])

    def path(self, points, thickness, colour):
        """A line through points [n, 2]."""
        points = points.tolist()
        for (x0, y0), (x1, y1) in zip(points, points[1:]):
            self.line(x0, y0, x1, y1, thickness, colour)

    def shades(self, corner_x, corner_y, items, low=0.0, high=1.0):
        """items [h, w] as shades from dark blue over green to yellow, or [h, w, 3] as red, green and blue. A pixel an item."""
        for y, row in enumerate(items.tolist(), corner_y):
            for x, item in enumerate(row, corner_x):
                if isinstance(item, list):
                    red, green, blue = (int(min(max((part - low) / (high - low), 0), 1) * 255 + 0.5) for part in item)
                    self.mix(x, y, red << 16 | green << 8 | blue, 1)
                else:
                    place = min(max((item - low) / (high - low), 0), 1) * 4.999
                    self.mix(x, y, SCALE[int(place)], 1)
                    self.mix(x, y, SCALE[int(place) + 1], place - int(place))

    def end(self):
        if sys.argv[1:2] == ["--out"] and len(sys.argv) == 3:
            with open(sys.argv[2], "wb") as file:
                file.write(b"P6\n%d %d\n255\n" % (self.width, self.height) + self.pixels)
