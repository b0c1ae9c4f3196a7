"""A headless Chromium for the pages, and the runs that they show."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 30

# The kernels of these tests are a module beside them.
sys.path.insert(0, str(Path(__file__).parent))

QUIET = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
    "--window-size=1400,1000",
)
"""Switches without which Chromium looks for a sandbox, a graphics card or its maker's hosts."""


class Page:
    """A report in the browser, and what a user does with it."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path):
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(path.as_uri())
        self.until(lambda: self.js("return document.documentElement.dataset.ready") == "0")
        self.settle()
        return self

    def until(self, condition):
        WebDriverWait(self.driver, PATIENCE, poll_frequency=0.02).until(lambda _: condition())

    def settle(self):
        """Wait until what was asked for has been drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0];"
            "requestAnimationFrame(() => requestAnimationFrame(() => done()));"
        )

    def js(self, script, *args):
        return self.driver.execute_script(script, *args)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, f"main:not([hidden]) {selector}")

    def one(self, selector):
        return self.all(selector)[0]

    def click(self, selector):
        self.js("arguments[0].click()", self.one(selector))
        self.settle()

    def keys(self, *keys):
        self.one(".stage").send_keys(*keys)
        self.settle()

    def type(self, selector, text):
        box = self.one(selector)
        box.clear()
        box.send_keys(text)
        self.settle()

    @property
    def range(self):
        """First and last cycle in sight."""
        data = self.js("return {...arguments[0].dataset}", self.one(".range"))
        return int(data["from"]), int(data["to"])

    @property
    def found(self):
        """Instructions that pass the filters."""
        return int(self.one(".matches").get_attribute("data-found"))

    def place(self, core, lane, cycle, cycles, *, lanes=4):
        """Pixel of a cycle on a lane of the whole timeline; sizes are those of report.js."""
        width = self.js("return arguments[0].clientWidth", self.one(".stage"))
        x = 104 + cycle / cycles * (width - 104)
        return x, 24 + core * (lanes * 17 + 9) + lane * 17 + 7

    def colour(self, x, y):
        """Colour of a pixel of the timeline, as (red, green, blue)."""
        ratio = self.js("return devicePixelRatio")
        data = self.js(
            "const [c, x, y] = arguments;"
            "return [...c.getContext('2d').getImageData(x, y, 1, 1).data]",
            self.one(".lanes"), round(x * ratio), round(y * ratio),
        )  # fmt: skip
        return tuple(data[:3])

    def hover(self, x, y):
        """Text that appears with the pointer at a place of the timeline."""
        self.js(
            "const [stage, x, y] = arguments, box = stage.getBoundingClientRect();"
            "stage.dispatchEvent(new PointerEvent('pointermove', {bubbles: true,"
            " clientX: box.left + stage.clientLeft + x, clientY: box.top + stage.clientTop + y}))",
            self.one(".stage"), x, y,
        )  # fmt: skip
        tip = self.driver.find_element(By.CSS_SELECTOR, ".tip")
        return tip.text if tip.is_displayed() else ""


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        reason = "needs chromium and chromedriver (Debian: chromium, chromium-driver)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    options = Options()
    options.binary_location = browser
    for switch in (*QUIET, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    yield made
    made.quit()


@pytest.fixture
def page(chromium):
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    return Page(chromium)


@pytest.fixture(scope="session")
def example():
    """The module of examples/vector_add.py."""
    path = ROOT / "examples" / "vector_add.py"
    spec = importlib.util.spec_from_file_location("html_vector_add", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
