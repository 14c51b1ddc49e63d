"""Every definition of the robustness instrument."""
