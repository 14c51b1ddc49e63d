"""Networks of the user's own: a manifest beside an ONNX or TorchScript file, and what runs it."""
