"""`python -m rushes` is the `rushes` command."""

from rushes.cli.main import main

if __name__ == "__main__":
    main()
