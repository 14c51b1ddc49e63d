"""MediaPipe's face models on LiteRT, stateless."""
