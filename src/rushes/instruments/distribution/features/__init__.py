"""From clips to rows of features: backbones, weights, cache."""
