"""The programs that make documentation sites: how each is recognised, and where it puts the text, its menu and its furniture.

A page is a generator's when its `<meta name="generator">` starts with one of the notes, or when all names of one of the marks are
on the page; the rows are tried in order, the particular before the general (a Sphinx theme before Sphinx). Names are classes
and ids that the generator itself writes, never those of a site. Furniture that all of them share is in `noise`; where none
is recognised, `score` decides.
"""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.jobs.docs.content.census import Census


@dataclass(frozen=True, slots=True)
class Generator:
    """One program or theme. All selectors are lists of simple ones."""

    name: str
    marks: tuple[str, ...] = ()
    """Each is a set of names (`#id .class`) that together are unmistakable."""
    notes: tuple[str, ...] = ()
    content: tuple[str, ...] = ()
    """Where the text is, the best place first."""
    navigation: str = ""
    noise: str = ""
    """Within the text, beyond what `noise` removes everywhere."""


_SPHINX_NOISE = (
    ".headerlink,.viewcode-link,.viewcode-back,.sphinxsidebar,.related,.prev-next-area,.bd-header-article,.related-pages,"
    ".rst-footer-buttons,.rst-versions,.bottom-of-page,.sphinxsidebarwrapper,.content-icon-container,.back-to-top,"
    ".bd-sidebar-secondary,.page_source_link,nav.contents,div.contents.local,aside.contents"
)

GENERATORS: tuple[Generator, ...] = (
    # Sphinx, theme by theme
    Generator(
        "sphinx-furo", ("#furo-main-content", ".sidebar-tree .toc-drawer"), (), ("#furo-main-content", "[role=main]"),
        ".sidebar-tree", _SPHINX_NOISE,
    ),
    Generator(
        "sphinx-pydata", (".bd-article", ".bd-main .bd-content"), (), (".bd-article", ".bd-content", "#main-content"),
        ".bd-docs-nav,.bd-links,.bd-sidebar-primary", _SPHINX_NOISE,
    ),
    Generator(
        "mkdocs-readthedocs", (".rst-content .wy-nav-side #mkdocs-search-query",), (), ("[role=main] .section", ".rst-content [role=main]", "[role=main]"),
        ".wy-menu-vertical", ".headerlink",
    ),
    Generator(
        "sphinx-readthedocs", (".rst-content .wy-nav-content", ".wy-nav-side"), (),
        ("[itemprop=articleBody]", "[role=main]", ".rst-content"), ".wy-menu-vertical", _SPHINX_NOISE,
    ),
    Generator(
        "sphinx", (".sphinxsidebar", ".headerlink .toctree-wrapper", ".document .documentwrapper", ".bodywrapper .body"),
        ("docutils", "sphinx"), ("div.body", "[role=main]", "[itemprop=articleBody]", "article", "main", ".document"),
        ".sphinxsidebarwrapper", _SPHINX_NOISE,
    ),
    # Static site generators made for documentation
    Generator(
        "mkdocs-material", (".md-content__inner", ".md-main__inner .md-nav--primary"), (), (".md-content__inner", "article.md-typeset"),
        ".md-nav--primary", ".md-content__button,.md-source-file,.md-feedback,.md-tags,.headerlink,.md-nav,.md-footer,.md-annotation__index",
    ),
    Generator("mkdocs", ("#mkdocs-search-query", "#mkdocs_search_modal"), ("mkdocs",), ("[role=main]", "article", "main", ".col-md-9"), ".bs-sidebar,.navbar-nav", ".headerlink"),
    Generator(
        "docusaurus", (".theme-doc-markdown", ".docusaurus-mt-lg", "#__docusaurus"), ("docusaurus",),
        (".theme-doc-markdown", "article", "main"), ".theme-doc-sidebar-menu",
        ".theme-doc-breadcrumbs,.theme-doc-toc-mobile,.theme-doc-footer,.theme-edit-this-page,.pagination-nav,.theme-doc-version-badge,"
        ".theme-doc-version-banner,.hash-link,.theme-last-updated",
    ),
    Generator("docusaurus-1", (".docMainWrapper", ".onPageNav .navGroups", ".docsNavContainer"), (), (".post article", ".post", "article"), ".navGroups", ".docs-prevnext,.edit-page-link,.hash-link,.docLastUpdate"),
    Generator("vitepress", (".vp-doc", ".VPContent .VPNav"), ("vitepress",), (".vp-doc", ".VPDoc main", "main"), ".VPSidebar", ".header-anchor,.VPDocFooter,.VPBadge-none,.line-numbers-wrapper"),
    Generator("vuepress", (".theme-default-content", "[vp-content]", ".vp-page"), ("vuepress",), (".theme-default-content", "[vp-content]", ".theme-container main", "main"), ".vp-sidebar,.sidebar-links,.sidebar", ".header-anchor,.page-edit,.page-nav,.page-meta,.vp-page-meta,.vp-page-nav"),
    Generator("mdbook", ("#mdbook-sidebar", ".sidebar-scrollbox", "#page-wrapper #menu-bar", "#mdbook-content"), (), ("main",), ".chapter", ".nav-wrapper,.nav-wide-wrapper,.nav-chapters"),
    Generator(
        "rustdoc", (".rustdoc #main-content", ".sidebar-elems #main-content"), ("rustdoc",), ("#main-content", "main"), ".sidebar-elems",
        ".out-of-band,.src,.srclink,rustdoc-toolbar,.rustdoc-breadcrumbs,#copy-path,.anchor,.doc-anchor,.settings-menu,rustdoc-search,.sub,.tooltip,.search-results-title,.rightside,.collapse-toggle,.since",
    ),
    Generator("javadoc", (".contentContainer .topNav", "#navbar-top .sub-nav", ".packageSummary .topNav"), ("javadoc",), ("main", "[role=main]", ".contentContainer"), "", ".topNav,.bottomNav,.subNav,.skip-nav,.sub-nav,.subNavList,.navList,.copy,.legalCopy,.checkbox-div"),
    Generator("doxygen", ("#doc-content .contents", "#projectname .contents", ".headertitle .contents"), ("doxygen",), ("#doc-content", ".contents"), "#nav-tree,#main-nav", ".summary,.permalink,#nav-path,.navpath,.memSeparator,#MSearchSelectWindow,#MSearchResultsWindow,.dynheader,.iconfclosed,.ttc,.levels,.toc,.footer"),
    Generator("bookdown", (), ("bookdown",), (".page-inner section", ".page-inner"), ".summary", ".book-header,.navigation"),
    Generator("gitbook-legacy", (".book-summary .page-inner", ".markdown-section .book-body"), ("honkit", "gitbook 2", "gitbook 3"), (".markdown-section", ".page-inner", "section.normal"), ".summary", ".book-header,.navigation,.page-footer"),
    Generator("gitbook", (".gitbook-root",), ("gitbook",), ("main",), "#table-of-contents", ""),
    Generator("mintlify", ("#content-area .mdx-content", "#navigation-items .mdx-content"), ("mintlify",), (".mdx-content", "#content", "#content-area"), "#navigation-items", "#pagination,#table-of-contents,#feedback-form,.feedback-toolbar"),
    Generator("nextra", (".nextra-toc", ".nextra-content", ".nextra-nav-container", ".nextra-navbar"), (), (".nextra-content main", "main", ".nextra-content", "article"), ".nextra-sidebar,.nextra-sidebar-container", ".nextra-breadcrumb,.nextra-toc,.subheading-anchor,.nextra-copy-icon"),
    Generator("starlight", (".sl-markdown-content", ".sl-container .content-panel"), ("starlight",), (".sl-markdown-content", "main"), "nav.sidebar,.sidebar-content", ".sl-anchor-link,.pagination-links,starlight-toc,mobile-starlight-toc"),
    Generator("docsy", (".td-content", ".td-main #td-sidebar-menu"), (), (".td-content", "main"), "#td-section-nav,#td-sidebar-menu", ".td-page-meta,.feedback--title,.feedback--question,.td-heading-self-link,.reading-time,.taxonomy-terms-article,.td-toc,.d-print-none"),
    Generator("antora", ("article.doc .nav-container", ".nav-menu .doc .toolbar", ".nav-panel-menu .doc"), ("antora",), ("article.doc", ".doc"), ".nav-menu", ".toc,.pagination,.toolbar,.anchor"),
    Generator("asciidoctor", ("#header #content .sectionbody",), ("asciidoctor",), ("#content", ".doc", "body"), "#toc", "#toc,.anchor,#footer"),
    Generator("just-the-docs", (".main-content-wrap #main-content", "#site-nav .main-content"), (), ("#main-content", ".main-content"), "#site-nav", ".breadcrumb-nav,.anchor-heading"),
    Generator("hugo-book", (".book-page .book-menu",), (), (".book-article", "article.markdown", ".book-page"), ".book-menu", ".anchor,.book-footer"),
    Generator("hugo-learn", ("#R-body-inner", "#body-inner #sidebar"), (), ("#R-body-inner", "#body-inner"), "#R-sidebar,#sidebar", "#top-bar,.anchor,.R-headinganchor"),
    Generator("hextra", (".hextra-toc", ".hextra-code-block .sidebar-container"), (), ("main .content", "main"), ".sidebar-container", ".subheading-anchor,.hextra-toc"),
    Generator("quarto", ("#quarto-document-content", "#quarto-content"), ("quarto",), ("#quarto-document-content", "main"), "#quarto-sidebar", ".quarto-title-breadcrumbs,#TOC,.anchorjs-link,.nav-page"),
    Generator("pandoc", ("#title-block-header #TOC",), ("pandoc",), ("main", "article", "body"), "#TOC", "#TOC,.sourceLine-number"),
    Generator("typedoc", (".tsd-page-title", ".tsd-navigation .col-content"), (), (".col-content", ".col-8"), ".tsd-navigation", ".tsd-breadcrumb,.tsd-anchor-icon,.tsd-sources,.tsd-generator,.tsd-filter-visibility"),
    Generator("exdoc", (".content-inner .sidebar-listNav", "#sidebar-full-list"), ("exdoc",), ("#content", ".content-inner", "main"), "#sidebar-full-list", ".icon-action,.bottom-actions,.hover-link,.detail-link"),
    Generator("pkgdown", (".template-reference-topic", ".template-article", ".template-reference-index"), ("pkgdown",), ("#main", "main", ".contents"), "", ".dropdown,.anchor"),
    Generator("haddock", ("#package-header #content", "#module-header #interface"), (), ("#content",), "", "#table-of-contents,.selflink,.link"),
    Generator("yard", ("#content #search .method_details_list", "#filecontents #search"), (), ("#content",), "", ".showSource,.toggleSource,.source_code,.note.title.constructor"),
    Generator("docsify", (".markdown-section .sidebar-nav", "#app .markdown-section"), ("docsify",), (".markdown-section",), ".sidebar-nav", ".anchor"),
    Generator("readme", (".rm-Markdown", ".rm-Article"), (), (".rm-Article", ".rm-Markdown"), ".rm-Sidebar", ".rm-Pagination,.content-toc,.heading-anchor-icon"),
    Generator("confluence", ("#main-content .wiki-content",), (), ("#main-content",), "", ""),
    Generator("oxygen", (".wh_topic_content", ".wh_content_area"), ("dita-ot", "oxygen"), (".wh_topic_content", "main", "article"), ".wh_publication_toc", ".related-links,.wh_breadcrumb,.navfooter"),
    Generator("flare", ("#mc-main-content",), (), ("#mc-main-content",), "", ".MCBreadcrumbsBox_0,.MCToolbar_0,.relatedTopics"),
    Generator("devsite", (".devsite-article-body", ".devsite-article"), (), (".devsite-article-body", ".devsite-article"), ".devsite-book-nav", "devsite-toc,devsite-feedback,devsite-bookmark,devsite-actions,.devsite-banner"),
    # Wikis and rendered repositories
    Generator("mediawiki", (".mw-parser-output", "#mw-content-text"), ("mediawiki",), (".mw-parser-output", "#mw-content-text", "#bodyContent"), "", ".mw-editsection,#toc,.toc,.navbox,.catlinks,.printfooter,.mw-jump-link,.vector-toc,#siteSub,#contentSub,#jump-to-nav,.noprint,.mw-indicators,.mw-empty-elt"),
    Generator("dokuwiki", ("#dokuwiki__content", ".dokuwiki .dw-content"), ("dokuwiki",), (".dw-content", ".page", "#dokuwiki__content"), "#dokuwiki__aside", "#dw__toc,.secedit,.pageId,.docInfo,.breadcrumbs,.plugin_translation"),
    Generator("github", (".markdown-body .repository-content", "#readme .markdown-body", ".markdown-body .Box-body"), (), (".markdown-body",), "", ".anchor,.zeroclipboard-container"),
    # Plain manuals
    Generator("texinfo", (".nav-panel", ".copiable-link", ".top-level-extent"), ("makeinfo", "texi2any", "texi2html"), ("body",), ".contents", ".nav-panel,.header,.copiable-link,.copiable-anchor,.summary-letter-printindex,.region-contents"),
    Generator(
        "docbook", (".navheader", ".titlepage .navfooter", ".refentry .refsynopsisdiv"), ("docbook",),
        ("#docContent", ".refentry", ".sect1", ".chapter", ".article", ".appendix", ".preface", ".section", ".book", ".part", "body"), "",
        ".navheader,.navfooter,.id_link,.toc,.legalnotice",
    ),
    Generator("mandoc", (".manual-text", ".man-page .head", ".Bl-compact .head-ltitle"), (), (".manual-text", ".man-page"), "", ".permalink-none,table.head,table.foot"),
)  # fmt: skip


def recognise(census: Census) -> Generator | None:
    """Which generator made a page; None when nothing on it says so."""
    for generator in GENERATORS:
        if any(note.startswith(generator.notes) for note in census.generators) if generator.notes else False:
            return generator
        for mark in generator.marks:
            if all(census.has(name) for name in mark.split()):
                return generator
    return None
