"""``python -m dqdyn.cli`` is ``dqdyn``."""

from dqdyn.cli import main

if __name__ == "__main__":
    main()
