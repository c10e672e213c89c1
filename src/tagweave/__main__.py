"""The command line as `python -m tagweave`."""

from tagweave.cli.main import main

if __name__ == "__main__":
    main()
