"""Pixels to observations. Knows shapes, no meanings.

OpenCV reads its pixel cap and how much it talks once, when it is loaded; so both are set here, before any module
of this package can import it.
"""

import os

MAX_PICTURE_PIXELS = 60_000_000

os.environ["OPENCV_IO_MAX_IMAGE_PIXELS"] = str(MAX_PICTURE_PIXELS)
# What a film or a camera that does not open is called in one line is ours to say.
os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")
os.environ.setdefault("OPENCV_LOG_LEVEL", "OFF")
