"""``python -m dqdyn`` is ``dqdyn``."""

from dqdyn.cli import main

if __name__ == "__main__":
    main()
