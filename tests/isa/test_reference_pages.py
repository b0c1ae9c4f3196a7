"""The committed reference pages say what the declarations say."""

import re

import pytest

from tools.isa_catalogue import catalogue
from tools.isa_docs import FOLDER, anchor, outdated, pages


def test_the_pages_are_up_to_date():
    assert outdated() == [], "run python -m tools.isa_docs"


def test_every_name_has_a_heading_that_the_index_links_to():
    texts = pages()
    links = re.findall(r"\]\((\w+\.md)#([\w-]+)\)", texts["README.md"])
    assert len(links) == len(catalogue())
    for file, fragment in links:
        headings = re.findall(r"^## (.+)$", texts[file], re.MULTILINE)
        assert fragment in {anchor(heading) for heading in headings}


@pytest.mark.parametrize("name", ["Add", "CompareScalar", "DataCopyPad", "Cast"])
def test_a_page_shows_the_source_and_the_element_types(name):
    text = (FOLDER / f"{catalogue()[name].module}.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert "mirror-cann/asc-devkit" in section
    assert "element types" in section
