"""The program. `--version` is answered before anything is imported."""

import sys


def main() -> None:
    if sys.argv[1:] == ["--version"] and sys.stdout is not None:
        from agentlearn import __version__

        try:
            print(f"agentlearn {__version__}", flush=True)
        except OSError as error:
            sys.stdout = None  # what it could not write, it shall not try again at the end
            sys.exit(f"error: cannot write the version: {error.strerror}")
        return
    from agentlearn.cli.app import run

    run()


if __name__ == "__main__":
    main()
