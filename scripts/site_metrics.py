from pathlib import Path
def write_metric_pages(folder: Path) -> None:
    (folder / "metrics").mkdir()
    (folder / "metrics" / "index.md").write_text("# Every metric\n\nx\n")
