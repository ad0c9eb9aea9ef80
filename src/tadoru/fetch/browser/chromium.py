"""Which browser program is there, and the switches it is started with. Driving it is `fetch.browser.browser`.

The switches leave the browser one way out, the proxy: for loopback too, for names (it resolves none itself) and for what does
not use HTTP at all (QUIC, WebRTC). What else it would do on its own account is switched off.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from tadoru.config.resolve.resolve_config import BROWSER_VARIABLE
from tadoru.errors import BrowserMissing

PROGRAM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
DROPPED_SWITCHES = ("--disable-popup-blocking",)
"""Of the driver's own switches: a page that opens windows by itself shall be stopped."""

HOW_TO_INSTALL = "install one with `apt-get install chromium` (or set TADORU_CHROMIUM to the program)"

_LONGEST = 200
_DISABLED_FEATURES = (
    # Frames in processes of their own are out of our sight (see `fetch.browser.request_filter`), and so is what is loaded ahead of its time.
    "IsolateSandboxedIframes",
    "Prerender2",
    "SpeculationRulesPrefetchFuture",
    "LoadingPredictorPrefetch",
    # The rest is what the driver switches off; a second list replaces the first.
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "AimEnabled",
    "DestroyProfileOnBrowserClose",
    "DialMediaRouteProvider",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "Translate",
)


def find_program(environment: Mapping[str, str]) -> str | None:
    """The program; None when the driver's own has to do. Raises BrowserMissing when the one that was named is not there."""
    named = environment.get(BROWSER_VARIABLE)
    path = environment.get("PATH")
    if named:
        found = shutil.which(named, path=path)
        if found is None:
            raise BrowserMissing(f"{BROWSER_VARIABLE} is {named}, which is not a program that can be run.")
        return found
    return next((found for name in PROGRAM_NAMES if (found := shutil.which(name, path=path))), None)


def command_line_switches(proxy: str) -> list[str]:
    """How it is started; `proxy` is `host:port`."""
    host = proxy.rpartition(":")[0]
    return [
        f"--proxy-server=http://{proxy}",
        "--proxy-bypass-list=<-loopback>",
        f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {host}",
        "--disable-quic",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--dns-prefetch-disable",
        "--no-pings",
        "--disable-domain-reliability",
        "--disable-client-side-phishing-detection",
        f"--disable-features={','.join(_DISABLED_FEATURES)}",
    ]


def may_use_sandbox() -> bool:
    """Its sandbox does not work for root."""
    return not hasattr(os, "geteuid") or os.geteuid() != 0


def start_failure_reason(log: str) -> str:
    """Why it did not start, from what its driver wrote down."""
    if "sandboxing failed" in log:
        return "its sandbox does not work here; in a container it has to be allowed user namespaces"
    if "XServer" in log or "Missing X server" in log:
        return "there is no display for a window; leave the window away, or use xvfb-run"
    said = [line.partition("[err]")[2].strip() for line in log.splitlines() if "[err]" in line and "crashpad" not in line]
    return said[-1][:_LONGEST] if said else "it ended at once"
