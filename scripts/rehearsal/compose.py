# SPDX-License-Identifier: Apache-2.0
"""docker-compose.yml as it is, for those who play it without an engine."""
import os
import re

import yaml

HERE = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))


def services():
    """The file's services, with what they share put into each."""
    with open(os.path.join(HERE, "docker-compose.yml")) as file:
        return yaml.safe_load(file)["services"]


def expand(text, values):
    """Compose's ${NAME}, ${NAME:-default} and ${NAME:?complaint}."""
    return re.sub(r"\$\{(\w+)(?::[-?]([^}]*))?\}", lambda m: values.get(m[1], m[2] or ""), text)


def environment(service, values):
    """A service's variables."""
    return {key: expand(str(value), values) for key, value in service.get("environment", {}).items()}
