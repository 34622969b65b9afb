"""What all tests share: what those of the library do, the app in a browser, and learners."""

from functools import cache

from streamlit.components.v2 import manifest_scanner

from tests.browser import app, chromium, server, still, window  # noqa: F401 - fixtures
from tests.learning import learner, trained  # noqa: F401 - fixtures
from tests.library import base_sized, bundled, precise, rome  # noqa: F401 - fixtures
from tests.listener import calm, phone, tab, trial  # noqa: F401 - fixtures
from tests.nginx import nginx, place  # noqa: F401 - fixtures
from tests.settling import leave_findings  # noqa: F401 - a fixture

# Every app that is tested looks for components in all packages that are installed, which takes longer than a page.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
