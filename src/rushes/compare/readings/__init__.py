"""From runs to readings: one metric, measured alike, over systems and prompts."""
