"""Makes the recorded launches beside it importable, and gives them fresh arrays."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
import pytest


@pytest.fixture
def arrays():
    return np.arange(512, dtype=np.float32), np.zeros(512, np.float32)
