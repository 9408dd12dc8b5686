"""Where the program gaprof is."""

from __future__ import annotations

import os
import sys
import sysconfig

__all__ = ["find_binary"]


def find_binary() -> str:
    """Returns the path of the program that was installed with this package.

    GAPROF_BINARY names another one. Looked for, in this order: the scripts of this environment, those of the user, those
    beside the package (pip install --target), and the PATH.
    """
    named = os.environ.get("GAPROF_BINARY")
    if named:
        return named
    name = "gaprof" + (".exe" if os.name == "nt" else "")
    folders = [sysconfig.get_path("scripts")]
    user = "nt_user" if os.name == "nt" else "posix_user"
    if sys.platform == "darwin" and sys._framework:  # type: ignore[attr-defined]
        user = "osx_framework_user"
    if user in sysconfig.get_scheme_names():
        folders.append(sysconfig.get_path("scripts", scheme=user))
    package = os.path.dirname(os.path.abspath(__file__))
    folders.append(os.path.join(os.path.dirname(package), "bin"))
    folders += os.environ.get("PATH", "").split(os.pathsep)
    for folder in folders:
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise FileNotFoundError("the program gaprof is not installed: pip install --force-reinstall gaprof")
