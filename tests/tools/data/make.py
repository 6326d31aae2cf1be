#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writes the pictures and archives of this folder, by NumPy, Pillow and Python's own gzip: other people's writers judge our readers.

Items are known by formula, so that the tests can state them: see each line."""
import gzip
import struct

import numpy as np
from PIL import Image


def main():
    grey = (np.arange(6, dtype=np.uint8) * 40).reshape(2, 3)                     # [2, 3]: 40 i
    colour = (np.arange(12, dtype=np.uint8) * 20).reshape(2, 2, 3)               # [2, 2, 3]: 20 i
    clear = (np.arange(16, dtype=np.uint8) * 15).reshape(2, 2, 4)                # [2, 2, 4]: 15 i
    Image.fromarray(grey).save("grey.png")
    Image.fromarray(colour).save("colour.png")
    Image.fromarray(clear).save("clear.png")
    Image.fromarray((np.arange(6, dtype=np.uint16) * 10280).reshape(2, 3)).save("grey16.png")  # 40 * 257 i: 40 i in 8 bits
    Image.fromarray(np.array([[True, False, True]])).save("bits.png")            # [1, 3]: 255 0 255
    palette = Image.new("P", (2, 1))
    palette.putpalette([10, 20, 30, 40, 50, 60])
    palette.putdata([1, 0])
    palette.save("palette.png")                                                  # [1, 2, 3]: 40 50 60 10 20 30
    Image.fromarray(np.full((8, 16), 77, np.uint8)).save("grey.jpg", quality=95)          # [8, 16]: 77
    Image.fromarray(np.full((8, 8, 3), (200, 100, 50), np.uint8)).save("colour.jpg", quality=95)  # [8, 8, 3], to 3
    with gzip.GzipFile("items.idx.gz", "wb", mtime=0) as file:                     # u8 [5, 2, 3]: i
        file.write(b"\0\0\x08\x03" + struct.pack(">3I", 5, 2, 3) + bytes(range(30)))
    images, labels = np.arange(8, dtype=np.float32).reshape(4, 2) / 2, np.arange(4, dtype=np.int64)
    np.savez("stored.npz", images=images, labels=labels)
    np.savez_compressed("deflated.npz", images=images, labels=labels)
    np.savez_compressed("one.npz", labels)


if __name__ == "__main__":
    main()
