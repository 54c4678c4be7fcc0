"""`python -m mnemic` is the command line."""

from mnemic.shells.cli.main import run

if __name__ == "__main__":
    run()
