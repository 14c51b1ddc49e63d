"""Lines of text in a picture: PP-OCRv6 small, as `rapidocr` 3.10.0 runs it, on OpenCV alone."""
