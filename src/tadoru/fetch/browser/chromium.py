"""Finds the browser program and the command-line switches to start it with. `fetch.browser.browser` runs it.

The switches leave the browser one way to the network, the proxy: also for loopback, for DNS (it resolves no names itself) and for
protocols other than HTTP (QUIC, WebRTC). Background requests of the browser itself are switched off.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from tadoru.config.resolve import BROWSER_VARIABLE
from tadoru.errors import BrowserMissing

PROGRAM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
DROPPED_SWITCHES = ("--disable-popup-blocking",)
"""Switches of Playwright that are not used: popups stay blocked."""


_MAX_REASON = 200
_DISABLED_FEATURES = (
    # Frames in separate processes and prefetched pages bypass `fetch.browser.request_filter`.
    "IsolateSandboxedIframes",
    "Prerender2",
    "SpeculationRulesPrefetchFuture",
    "LoadingPredictorPrefetch",
    # The rest is what Playwright disables: a second list replaces the first.
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
    """The path of the program; None for the one of Playwright. Raises BrowserMissing when the configured one does not exist."""
    named = environment.get(BROWSER_VARIABLE)
    path = environment.get("PATH")
    if named:
        found = shutil.which(named, path=path)
        if found is None:
            raise BrowserMissing(
                "{variable} is {path}, which is not an executable program.", variable=BROWSER_VARIABLE, path=named
            )
        return found
    return next((found for name in PROGRAM_NAMES if (found := shutil.which(name, path=path))), None)


def command_line_switches(proxy: str) -> list[str]:
    """The switches to start the browser with; `proxy` is `host:port`."""
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
    """Whether the sandbox of the browser works: it does not for root."""
    return not hasattr(os, "geteuid") or os.geteuid() != 0


def start_failure_reason(log: str) -> str:
    """Why the browser did not start, from the log of Playwright."""
    if "sandboxing failed" in log:
        return "its sandbox does not work here; in a container, allow user namespaces"
    if "XServer" in log or "Missing X server" in log:
        return "there is no display for a window; run it without a window, or use xvfb-run"
    errors = [line.partition("[err]")[2].strip() for line in log.splitlines() if "[err]" in line and "crashpad" not in line]
    return errors[-1][:_MAX_REASON] if errors else "it exited immediately"
