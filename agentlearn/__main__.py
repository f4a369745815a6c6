"""The program. `--version` is answered before anything is imported."""

import sys


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        from agentlearn import __version__

        print(f"agentlearn {__version__}")
        return
    from agentlearn.cli.app import run

    run()


if __name__ == "__main__":
    main()
