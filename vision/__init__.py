"""Pixels to observations. Knows shapes, no meanings.

OpenCV reads its pixel cap once, when it is loaded; so the cap is set here, before any module of this package
can import it.
"""

import os

MAX_PICTURE_PIXELS = 60_000_000

os.environ["OPENCV_IO_MAX_IMAGE_PIXELS"] = str(MAX_PICTURE_PIXELS)
