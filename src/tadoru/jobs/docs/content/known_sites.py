"""The programs that make documentation sites from text files: Sphinx and its themes, MkDocs, Docusaurus and their like."""

from __future__ import annotations

from tadoru.jobs.docs.content.values import Generator

_SPHINX = (
    ".headerlink,.viewcode-link,.viewcode-back,.sphinxsidebar,.related,.prev-next-area,.bd-header-"
    "article,.related-pages,.rst-footer-buttons,.rst-versions,.bottom-of-page,.sphinxsidebarwrapper,"
    ".content-icon-container,.back-to-top,.bd-sidebar-secondary,.page_source_link,nav.contents,"
    "div.contents.local,div.contents.topic,aside.contents,#sidebar"
)

_SPHINX_SEARCH = "div#search-results:not(.section)"
"""Empty, on its page for searching; a section on search results has the same id."""

SITES: tuple[Generator, ...] = (
    Generator(
        "sphinx-furo",
        marks=("#furo-main-content", ".sidebar-tree .toc-drawer"),
        content=("#furo-main-content", "[role=main]"),
        navigation=".sidebar-tree",
        noise=_SPHINX,
        tools=_SPHINX_SEARCH,
    ),
    Generator(
        "sphinx-pydata",
        marks=(".bd-article", ".bd-main .bd-content"),
        content=(".bd-article", ".bd-content", "#main-content"),
        navigation=".bd-docs-nav,.bd-links,.bd-sidebar-primary",
        noise=_SPHINX,
        tools=_SPHINX_SEARCH,
    ),
    Generator(
        "mkdocs-readthedocs",
        marks=(".rst-content .wy-nav-side #mkdocs-search-query",),
        content=("[itemprop=articleBody]", "[role=main]"),
        navigation=".wy-menu-vertical",
        noise=".headerlink",
    ),
    Generator(
        "sphinx-readthedocs",
        marks=(".rst-content .wy-nav-content", ".wy-nav-side"),
        content=("[itemprop=articleBody]", "[role=main]", ".rst-content"),
        navigation=".wy-menu-vertical",
        noise=_SPHINX,
        tools=_SPHINX_SEARCH,
    ),
    Generator(
        "sphinx",
        marks=(".sphinxsidebar", ".headerlink .toctree-wrapper", ".document .documentwrapper", ".bodywrapper .body"),
        notes=("docutils", "sphinx"),
        content=("div.body", "[role=main]", "[itemprop=articleBody]", "article", "main", ".document"),
        navigation=".sphinxsidebarwrapper",
        noise=_SPHINX,
        tools=_SPHINX_SEARCH,
    ),
    Generator(
        "mkdocs-material",
        marks=(".md-content__inner", ".md-main__inner .md-nav--primary"),
        content=(".md-content__inner", "article.md-typeset"),
        navigation=".md-nav--primary",
        noise=(".md-content__button,.md-source-file,.md-feedback,.md-tags,.headerlink,.md-nav,.md-footer,.md-annotation__index"),
    ),
    Generator(
        "mkdocs",
        marks=("#mkdocs-search-query", "#mkdocs_search_modal"),
        notes=("mkdocs",),
        content=("[role=main]", "article", "main", ".col-md-9"),
        navigation=".bs-sidebar,.navbar-nav",
        noise=".headerlink",
    ),
    Generator(
        "docusaurus",
        marks=(".theme-doc-markdown", ".docusaurus-mt-lg", "#__docusaurus"),
        notes=("docusaurus",),
        content=(".theme-doc-markdown", "article", "main"),
        navigation=".theme-doc-sidebar-menu",
        noise=(
            ".theme-doc-breadcrumbs,.theme-doc-toc-mobile,.theme-doc-footer,.theme-edit-this-page,"
            ".pagination-nav,.theme-doc-version-badge,.theme-doc-version-banner,.hash-link,.theme-last-updated"
        ),
    ),
    Generator(
        "docusaurus-1",
        marks=(".docMainWrapper", ".onPageNav .navGroups", ".docsNavContainer"),
        content=(".post", "article"),
        navigation=".navGroups",
        noise=".docs-prevnext,.edit-page-link,.hash-link,.docLastUpdate",
    ),
    Generator(
        "vitepress",
        marks=(".vp-doc", ".VPContent .VPNav"),
        notes=("vitepress",),
        content=(".vp-doc", "main"),
        navigation=".VPSidebar",
        noise=".header-anchor,.VPDocFooter,.VPBadge-none,.line-numbers-wrapper",
    ),
    Generator(
        "vuepress",
        marks=(".theme-default-content", ".vp-page", ".theme-container .page-nav"),
        notes=("vuepress",),
        content=(".theme-default-content", "[vp-content]", "main"),
        navigation=".vp-sidebar,.sidebar-links,.sidebar",
        noise=".header-anchor,.page-edit,.page-nav,.page-meta,.vp-page-meta,.vp-page-nav",
    ),
    Generator(
        "mdbook",
        marks=("#mdbook-sidebar", ".sidebar-scrollbox", "#page-wrapper #menu-bar", "#mdbook-content"),
        content=("main",),
        navigation=".chapter",
        noise=".nav-wrapper,.nav-wide-wrapper,.nav-chapters",
    ),
    Generator(
        "bookdown",
        notes=("bookdown",),
        content=("section.normal", ".page-inner"),
        navigation=".summary",
        noise=".book-header,.navigation",
    ),
    Generator(
        "gitbook-legacy",
        marks=(".book-summary .page-inner", ".markdown-section .book-body"),
        notes=("honkit", "gitbook 2", "gitbook 3"),
        content=(".markdown-section", ".page-inner", "section.normal"),
        navigation=".summary",
        noise=".book-header,.navigation,.page-footer",
    ),
    Generator(
        "gitbook",
        marks=(".gitbook-root",),
        notes=("gitbook",),
        content=("main",),
        navigation="#table-of-contents",
    ),
    Generator(
        "mintlify",
        marks=("#content-area .mdx-content", "#navigation-items .mdx-content"),
        notes=("mintlify",),
        content=(".mdx-content", "#content", "#content-area"),
        navigation="#navigation-items",
        noise="#pagination,#table-of-contents,#feedback-form,.feedback-toolbar",
    ),
    Generator(
        "nextra",
        marks=(".nextra-toc", ".nextra-content", ".nextra-nav-container", ".nextra-navbar"),
        content=("main", ".nextra-content", "article"),
        navigation=".nextra-sidebar,.nextra-sidebar-container",
        noise=".nextra-breadcrumb,.nextra-toc,.subheading-anchor,.nextra-copy-icon",
    ),
    Generator(
        "starlight",
        marks=(".sl-markdown-content", ".sl-container .content-panel"),
        notes=("starlight",),
        content=(".sl-markdown-content", "main"),
        navigation="nav.sidebar,.sidebar-content",
        noise=".sl-anchor-link,.pagination-links,starlight-toc,mobile-starlight-toc",
    ),
    Generator(
        "docsy",
        marks=(".td-content", ".td-main #td-sidebar-menu"),
        content=(".td-content", "main"),
        navigation="#td-section-nav,#td-sidebar-menu",
        noise=(
            ".td-page-meta,.feedback--title,.feedback--question,.td-heading-self-link,.reading-time,"
            ".taxonomy-terms-article,.td-toc,.d-print-none"
        ),
    ),
    Generator(
        "antora",
        marks=(".doc .nav-container", ".nav-menu .doc .toolbar", ".nav-panel-menu .doc"),
        notes=("antora",),
        content=("article.doc", ".doc"),
        navigation=".nav-menu",
        noise=".toc,.pagination,.toolbar,.anchor",
    ),
    Generator(
        "just-the-docs",
        marks=(".main-content-wrap #main-content", "#site-nav .main-content"),
        content=("#main-content", ".main-content"),
        navigation="#site-nav",
        noise=".breadcrumb-nav,.anchor-heading",
    ),
    Generator(
        "hugo-book",
        marks=(".book-page .book-menu",),
        content=(".book-article", "article.markdown", ".book-page"),
        navigation=".book-menu",
        noise=".anchor,.book-footer",
    ),
    Generator(
        "hugo-learn",
        marks=("#R-body-inner", "#body-inner #sidebar"),
        content=("#R-body-inner", "#body-inner"),
        navigation="#R-sidebar,#sidebar",
        noise="#top-bar,.anchor,.R-headinganchor",
    ),
    Generator(
        "hextra",
        marks=(".hextra-toc", ".hextra-code-block .sidebar-container"),
        content=("main",),
        navigation=".sidebar-container",
        noise=".subheading-anchor,.hextra-toc",
    ),
    Generator(
        "quarto",
        marks=("#quarto-document-content", "#quarto-content"),
        notes=("quarto",),
        content=("#quarto-document-content", "main"),
        navigation="#quarto-sidebar",
        noise=".quarto-title-breadcrumbs,#TOC,.anchorjs-link,.nav-page",
    ),
    Generator(
        "docsify",
        marks=(".markdown-section .sidebar-nav", "#app .markdown-section"),
        notes=("docsify",),
        content=(".markdown-section",),
        navigation=".sidebar-nav",
        noise=".anchor",
    ),
)
