# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pictures as (width, height, pixels): reads PPM, reads and writes PNG files of eight bits red, green and blue."""
import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def read_ppm(data):
    magic, size, depth, pixels = data.split(b"\n", 3)
    width, height = map(int, size.split())
    if magic != b"P6" or depth != b"255" or len(pixels) != 3 * width * height:
        raise ValueError("not a PPM picture")
    return width, height, pixels


def nearest(left, above, corner):
    """PNG's Paeth predictor: which neighbour is nearest to left + above - corner."""
    guess = left + above - corner
    return min((left, above, corner), key=lambda item: abs(guess - item))


def predictions(kind, row, above):
    """What a filter of PNG (0 none, 1 left, 2 above, 3 mean, 4 Paeth) expects each byte of a row to be; `row` may be filled meanwhile."""
    for i in range(len(above)):
        left, corner = (row[i - 3], above[i - 3]) if i >= 3 else (0, 0)
        yield (0, left, above[i], (left + above[i]) // 2, nearest(left, above[i], corner) if kind == 4 else 0)[kind]


def filtered(width, height, pixels, kinds):
    """Rows, each by the filter of `kinds` whose differences are least in sum."""
    packed, above = bytearray(), bytes(3 * width)
    for y in range(height):
        row = pixels[3 * width * y:3 * width * (y + 1)]
        choices = []
        for kind in kinds:
            coded = bytes((item - guess) & 255 for item, guess in zip(row, predictions(kind, row, above)))
            choices.append((sum(min(item, 256 - item) for item in coded), kind, coded))
        _, kind, coded = min(choices)
        packed += bytes([kind]) + coded
        above = row
    return zlib.compress(bytes(packed), 9)


def write_png(width, height, pixels):
    """The smallest of a few ways to filter."""
    packed = min((filtered(width, height, pixels, kinds) for kinds in ([0], [1], [2], range(5))), key=len)
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", packed), (b"IEND", b"")]
    return SIGNATURE + b"".join(struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
                                for name, data in chunks)


def read_png(data):
    if not data.startswith(SIGNATURE):
        raise ValueError("not a PNG picture")
    place, packed, width, height = len(SIGNATURE), b"", 0, 0
    while place < len(data):
        length, name = struct.unpack(">I4s", data[place:place + 8])
        chunk = data[place + 8:place + 8 + length]
        if name == b"IHDR":
            width, height, *form = struct.unpack(">IIBBBBB", chunk)
            if form != [8, 2, 0, 0, 0]:
                raise ValueError("not eight bits of red, green and blue")
        packed += chunk if name == b"IDAT" else b""
        place += length + 12
    rows, pixels, above = zlib.decompress(packed), bytearray(), bytes(3 * width)
    for y in range(height):
        start = y * (3 * width + 1)
        kind, coded, row = rows[start], rows[start + 1:start + 1 + 3 * width], bytearray(3 * width)
        for i, guess in enumerate(predictions(kind, row, above)):
            row[i] = (coded[i] + guess) & 255
        pixels += row
        above = bytes(row)
    return width, height, bytes(pixels)
