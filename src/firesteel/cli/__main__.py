"""`python -m firesteel.cli`: the command line, for when its script is not on the path."""

from firesteel.cli.main import main

if __name__ == "__main__":
    main()
