"""Recognises the program that generated a page, and knows where its content, navigation and noise are.

A page belongs to a generator if its `<meta name="generator">` starts with one of the notes, or if it has all names of one of the
marks. The rows are tried in order, specific ones first (a theme of Sphinx before Sphinx). Names are classes and ids that the
generator itself writes, never those of one site. If none is recognised, `score` finds the content.
"""

from __future__ import annotations

from dataclasses import dataclass

from tadoru.parse.html import Element, HtmlDocument

_NAMED_ELEMENTS = ":is([class],[id],meta[content]):not(span)"
"""Spans are most elements of a page with code, and no generator is recognised by one."""


@dataclass(frozen=True, slots=True)
class ElementNames:
    """The ids and classes on a page, each with the first element that has it, and the `<meta>` contents by lower-case name.

    They are collected in one walk, because recognising a generator looks up some hundred names. The elements must not be used
    after `noise` has changed the tree.
    """

    ids: dict[str, Element]
    classes: dict[str, Element]
    metas: dict[str, str]

    @classmethod
    def collect(cls, document: HtmlDocument) -> ElementNames:
        """Collect the names of a page."""
        ids: dict[str, Element] = {}
        groups: dict[str, Element] = {}
        metas: dict[str, str] = {}
        for element in document.select(_NAMED_ELEMENTS):
            attributes = element.attributes
            if not attributes:
                continue
            names = attributes.get("class")
            if names and names not in groups:
                groups[names] = element
            if "id" in attributes:
                ids.setdefault(attributes["id"] or "", element)
            if "content" in attributes and element.tag == "meta":
                metas.setdefault((attributes.get("name") or "").lower(), (attributes["content"] or "").strip())
        classes: dict[str, Element] = {}
        for names, element in groups.items():
            for name in names.split():
                classes.setdefault(name, element)
        return cls(ids, classes, metas)

    def has(self, mark: str) -> bool:
        """Whether `#an-id` or `.a-class` is on the page."""
        return mark[1:] in (self.ids if mark[0] == "#" else self.classes)


@dataclass(frozen=True, slots=True)
class DocsGenerator:
    """A generator or theme: how it is recognised, and selectors of its parts."""

    name: str
    marks: tuple[str, ...] = ()
    """Each is a set of names (`#id .class`) that together are unmistakable."""
    notes: tuple[str, ...] = ()
    """Starts of its `<meta name="generator">`, in lower case."""
    content: tuple[str, ...] = ()
    """Selectors of the content area, best first."""
    navigation: str = ""
    noise: str = ""
    """Selectors of noise in the content area, beyond what `noise` removes everywhere."""
    tools: str = ""
    """Selectors that match only on tool pages without documentation, such as search and settings."""


_SPHINX_NOISE = (
    ".headerlink,.viewcode-link,.viewcode-back,.sphinxsidebar,.related,.prev-next-area,.bd-header-"
    "article,.related-pages,.rst-footer-buttons,.rst-versions,.bottom-of-page,.sphinxsidebarwrapper,"
    ".content-icon-container,.back-to-top,.bd-sidebar-secondary,.page_source_link,nav.contents,"
    "div.contents.local,div.contents.topic,aside.contents,#sidebar"
)

_SPHINX_SEARCH = "div#search-results:not(.section)"
"""An empty element of its search page; a section on search results has the same id."""

_SITE_GENERATORS: tuple[DocsGenerator, ...] = (
    DocsGenerator(
        "sphinx-furo",
        marks=("#furo-main-content", ".sidebar-tree .toc-drawer"),
        content=("#furo-main-content", "[role=main]"),
        navigation=".sidebar-tree",
        noise=_SPHINX_NOISE,
        tools=_SPHINX_SEARCH,
    ),
    DocsGenerator(
        "sphinx-pydata",
        marks=(".bd-article", ".bd-main .bd-content"),
        content=(".bd-article", ".bd-content", "#main-content"),
        navigation=".bd-docs-nav,.bd-links,.bd-sidebar-primary",
        noise=_SPHINX_NOISE,
        tools=_SPHINX_SEARCH,
    ),
    DocsGenerator(
        "mkdocs-readthedocs",
        marks=(".rst-content .wy-nav-side #mkdocs-search-query",),
        content=("[itemprop=articleBody]", "[role=main]"),
        navigation=".wy-menu-vertical",
        noise=".headerlink",
    ),
    DocsGenerator(
        "sphinx-readthedocs",
        marks=(".rst-content .wy-nav-content", ".wy-nav-side"),
        content=("[itemprop=articleBody]", "[role=main]", ".rst-content"),
        navigation=".wy-menu-vertical",
        noise=_SPHINX_NOISE,
        tools=_SPHINX_SEARCH,
    ),
    DocsGenerator(
        "sphinx",
        marks=(".sphinxsidebar", ".headerlink .toctree-wrapper", ".document .documentwrapper", ".bodywrapper .body"),
        notes=("docutils", "sphinx"),
        content=("div.body", "[role=main]", "[itemprop=articleBody]", "article", "main", ".document"),
        navigation=".sphinxsidebarwrapper",
        noise=_SPHINX_NOISE,
        tools=_SPHINX_SEARCH,
    ),
    DocsGenerator(
        "mkdocs-material",
        marks=(".md-content__inner", ".md-main__inner .md-nav--primary"),
        content=(".md-content__inner", "article.md-typeset"),
        navigation=".md-nav--primary",
        noise=(".md-content__button,.md-source-file,.md-feedback,.md-tags,.headerlink,.md-nav,.md-footer,.md-annotation__index"),
    ),
    DocsGenerator(
        "mkdocs",
        marks=("#mkdocs-search-query", "#mkdocs_search_modal"),
        notes=("mkdocs",),
        content=("[role=main]", "article", "main", ".col-md-9"),
        navigation=".bs-sidebar,.navbar-nav",
        noise=".headerlink",
    ),
    DocsGenerator(
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
    DocsGenerator(
        "docusaurus-1",
        marks=(".docMainWrapper", ".onPageNav .navGroups", ".docsNavContainer"),
        content=(".post", "article"),
        navigation=".navGroups",
        noise=".docs-prevnext,.edit-page-link,.hash-link,.docLastUpdate",
    ),
    DocsGenerator(
        "vitepress",
        marks=(".vp-doc", ".VPContent .VPNav"),
        notes=("vitepress",),
        content=(".vp-doc", "main"),
        navigation=".VPSidebar",
        noise=".header-anchor,.VPDocFooter,.VPBadge-none,.line-numbers-wrapper",
    ),
    DocsGenerator(
        "vuepress",
        marks=(".theme-default-content", ".vp-page", ".theme-container .page-nav"),
        notes=("vuepress",),
        content=(".theme-default-content", "[vp-content]", "main"),
        navigation=".vp-sidebar,.sidebar-links,.sidebar",
        noise=".header-anchor,.page-edit,.page-nav,.page-meta,.vp-page-meta,.vp-page-nav",
    ),
    DocsGenerator(
        "mdbook",
        marks=("#mdbook-sidebar", ".sidebar-scrollbox", "#page-wrapper #menu-bar", "#mdbook-content"),
        content=("main",),
        navigation=".chapter",
        noise=".nav-wrapper,.nav-wide-wrapper,.nav-chapters",
    ),
    DocsGenerator(
        "bookdown",
        notes=("bookdown",),
        content=("section.normal", ".page-inner"),
        navigation=".summary",
        noise=".book-header,.navigation",
    ),
    DocsGenerator(
        "gitbook-legacy",
        marks=(".book-summary .page-inner", ".markdown-section .book-body"),
        notes=("honkit", "gitbook 2", "gitbook 3"),
        content=(".markdown-section", ".page-inner", "section.normal"),
        navigation=".summary",
        noise=".book-header,.navigation,.page-footer",
    ),
    DocsGenerator(
        "gitbook",
        marks=(".gitbook-root",),
        notes=("gitbook",),
        content=("main",),
        navigation="#table-of-contents",
    ),
    DocsGenerator(
        "mintlify",
        marks=("#content-area .mdx-content", "#navigation-items .mdx-content"),
        notes=("mintlify",),
        content=(".mdx-content", "#content", "#content-area"),
        navigation="#navigation-items",
        noise="#pagination,#table-of-contents,#feedback-form,.feedback-toolbar",
    ),
    DocsGenerator(
        "nextra",
        marks=(".nextra-toc", ".nextra-content", ".nextra-nav-container", ".nextra-navbar"),
        content=("main", ".nextra-content", "article"),
        navigation=".nextra-sidebar,.nextra-sidebar-container",
        noise=".nextra-breadcrumb,.nextra-toc,.subheading-anchor,.nextra-copy-icon",
    ),
    DocsGenerator(
        "starlight",
        marks=(".sl-markdown-content", ".sl-container .content-panel"),
        notes=("starlight",),
        content=(".sl-markdown-content", "main"),
        navigation="nav.sidebar,.sidebar-content",
        noise=".sl-anchor-link,.pagination-links,starlight-toc,mobile-starlight-toc",
    ),
    DocsGenerator(
        "docsy",
        marks=(".td-content", ".td-main #td-sidebar-menu"),
        content=(".td-content", "main"),
        navigation="#td-section-nav,#td-sidebar-menu",
        noise=(
            ".td-page-meta,.feedback--title,.feedback--question,.td-heading-self-link,.reading-time,"
            ".taxonomy-terms-article,.td-toc,.d-print-none"
        ),
    ),
    DocsGenerator(
        "antora",
        marks=(".doc .nav-container", ".nav-menu .doc .toolbar", ".nav-panel-menu .doc"),
        notes=("antora",),
        content=("article.doc", ".doc"),
        navigation=".nav-menu",
        noise=".toc,.pagination,.toolbar,.anchor",
    ),
    DocsGenerator(
        "just-the-docs",
        marks=(".main-content-wrap #main-content", "#site-nav .main-content"),
        content=("#main-content", ".main-content"),
        navigation="#site-nav",
        noise=".breadcrumb-nav,.anchor-heading",
    ),
    DocsGenerator(
        "hugo-book",
        marks=(".book-page .book-menu",),
        content=(".book-article", "article.markdown", ".book-page"),
        navigation=".book-menu",
        noise=".anchor,.book-footer",
    ),
    DocsGenerator(
        "hugo-learn",
        marks=("#R-body-inner", "#body-inner #sidebar"),
        content=("#R-body-inner", "#body-inner"),
        navigation="#R-sidebar,#sidebar",
        noise="#top-bar,.anchor,.R-headinganchor",
    ),
    DocsGenerator(
        "hextra",
        marks=(".hextra-toc", ".hextra-code-block .sidebar-container"),
        content=("main",),
        navigation=".sidebar-container",
        noise=".subheading-anchor,.hextra-toc",
    ),
    DocsGenerator(
        "quarto",
        marks=("#quarto-document-content", "#quarto-content"),
        notes=("quarto",),
        content=("#quarto-document-content", "main"),
        navigation="#quarto-sidebar",
        noise=".quarto-title-breadcrumbs,#TOC,.anchorjs-link,.nav-page",
    ),
    DocsGenerator(
        "docsify",
        marks=(".markdown-section .sidebar-nav", "#app .markdown-section"),
        notes=("docsify",),
        content=(".markdown-section",),
        navigation=".sidebar-nav",
        noise=".anchor",
    ),
)


_MANUAL_GENERATORS: tuple[DocsGenerator, ...] = (
    DocsGenerator(
        "rustdoc",
        marks=(".rustdoc #main-content", ".sidebar-elems #main-content"),
        notes=("rustdoc",),
        content=("#main-content", "main"),
        navigation=".sidebar-elems",
        noise=(
            ".out-of-band,.src,.srclink,rustdoc-toolbar,.rustdoc-breadcrumbs,#copy-path,.anchor,.doc-anchor,"
            ".settings-menu,rustdoc-search,.sub,.tooltip,.search-results-title,.rightside,.collapse-toggle,"
            ".since,.hideme,.notable-traits"
        ),
        tools="a#back",
    ),
    DocsGenerator(
        "javadoc",
        marks=(".contentContainer .topNav", "#navbar-top .sub-nav", ".packageSummary .topNav"),
        notes=("javadoc",),
        content=("main", "[role=main]", ".contentContainer"),
        noise=".topNav,.bottomNav,.subNav,.skip-nav,.sub-nav,.subNavList,.navList,.copy,.legalCopy,.checkbox-div",
    ),
    DocsGenerator(
        "scaladoc",
        marks=("#definition #template #mbrsel", "#definition #template #comment"),
        content=("#content-container", "body"),
        noise=(
            "#mbrsel,#memberfilter,#search,#tooltip,#footer,#inheritedMembers,.morelinks,.permalink,.full-signature-block,"
            ".shadowed,#shadowedImplicitMembers"
        ),
    ),
    DocsGenerator(
        "doxygen",
        marks=("#doc-content .contents", "#projectname .contents", ".headertitle .contents"),
        notes=("doxygen",),
        content=("#doc-content", ".contents"),
        navigation="#nav-tree,#main-nav",
        noise=(
            ".summary,.permalink,#nav-path,.navpath,.memSeparator,#MSearchSelectWindow,#MSearchResultsWindow,"
            ".dynheader,.iconfclosed,.ttc,.levels,.toc,.footer,.ingroups,a[href$='#details']"
        ),
    ),
    DocsGenerator(
        "gi-docgen",
        marks=(".devhelp-hidden #btn-to-top #main",),
        content=("#main",),
        navigation=".sidebar",
        noise="#toc,.srclink,.md-anchor",
    ),
    DocsGenerator(
        "asciidoctor",
        marks=("#header #content .sectionbody",),
        notes=("asciidoctor",),
        # On a manual page, the summary of the command is in the header.
        content=("body.manpage", "#content", ".doc", "body"),
        navigation="#toc",
        noise="#toc,.anchor,#footer",
    ),
    DocsGenerator(
        "pandoc",
        marks=("#title-block-header #TOC",),
        notes=("pandoc",),
        content=("main", "article", "body"),
        navigation="#TOC",
        noise="#TOC,.sourceLine-number",
    ),
    DocsGenerator(
        "nodejs",
        marks=("#apicontent #gtoc",),
        content=("#apicontent",),
        navigation="#column2",
        noise=".mark,.toc",
    ),
    DocsGenerator(
        "typedoc",
        marks=(".tsd-page-title", ".tsd-navigation .col-content"),
        content=(".col-content", ".col-8"),
        navigation=".tsd-navigation",
        noise=".tsd-breadcrumb,.tsd-anchor-icon,.tsd-sources,.tsd-generator,.tsd-filter-visibility",
    ),
    DocsGenerator(
        "exdoc",
        marks=(".content-inner .sidebar-listNav", "#sidebar-full-list"),
        notes=("exdoc",),
        content=("#content", ".content-inner", "main"),
        navigation="#sidebar-full-list",
        noise=".icon-action,.bottom-actions,.hover-link,.detail-link",
    ),
    DocsGenerator(
        "pkgdown",
        marks=(".template-reference-topic", ".template-article", ".template-reference-index"),
        notes=("pkgdown",),
        content=("#main", "main", ".contents"),
        noise=".dropdown,.anchor",
    ),
    DocsGenerator(
        "haddock",
        marks=("#package-header #content", "#module-header #interface"),
        content=("#content",),
        noise="#table-of-contents,.selflink,.link,.hide-when-js-enabled",
    ),
    DocsGenerator(
        "yard",
        marks=("#content #search .method_details_list", "#filecontents #search"),
        content=("#content",),
        noise=".showSource,.toggleSource,.source_code,.note.title.constructor,.summary_toggle,.inheritanceTree",
    ),
    DocsGenerator(
        "rdoc",
        marks=(".method-detail .method-heading", "#validator-badges #project-navigation"),
        content=("main", "[role=main]", "#documentation"),
        navigation="#classindex-section",
        noise=".method-click-advice,.method-source-code,.method-controls",
    ),
    DocsGenerator(
        "readme",
        marks=(".rm-Markdown", ".rm-Article"),
        content=(".rm-Article", ".rm-Markdown"),
        navigation=".rm-Sidebar",
        noise=".rm-Pagination,.content-toc,.heading-anchor-icon",
    ),
    DocsGenerator(
        "confluence",
        marks=("#main-content .wiki-content",),
        content=("#main-content",),
    ),
    DocsGenerator(
        "oxygen",
        marks=(".wh_topic_content", ".wh_content_area"),
        notes=("dita-ot", "oxygen"),
        content=(".wh_topic_content", "main", "article"),
        navigation=".wh_publication_toc",
        noise=".related-links,.wh_breadcrumb,.navfooter",
    ),
    DocsGenerator(
        "flare",
        marks=("#mc-main-content",),
        content=("#mc-main-content",),
        noise=".MCBreadcrumbsBox_0,.MCToolbar_0,.relatedTopics",
    ),
    DocsGenerator(
        "devsite",
        marks=(".devsite-article-body", ".devsite-article"),
        content=(".devsite-article", ".devsite-article-body"),
        navigation=".devsite-book-nav",
        noise=(
            ".devsite-article-meta,devsite-content-footer,devsite-feature-tooltip,devsite-actions,devsite-toc,"
            "devsite-recommendations,devsite-thumb-rating,devsite-feedback,devsite-bookmark,.devsite-banner,"
            ".devsite-floating-action-buttons,.nocontent"
        ),
    ),
    DocsGenerator(
        "mediawiki",
        marks=(".mw-parser-output", "#mw-content-text"),
        notes=("mediawiki",),
        content=(".mw-parser-output", "#mw-content-text", "#bodyContent"),
        noise=(
            ".mw-editsection,#toc,.toc,.navbox,.catlinks,.printfooter,.mw-jump-link,.vector-toc,#siteSub,"
            "#contentSub,#jump-to-nav,.mw-indicators,.mw-empty-elt"
        ),
    ),
    DocsGenerator(
        "dokuwiki",
        marks=("#dokuwiki__content", ".dokuwiki .dw-content"),
        notes=("dokuwiki",),
        content=(".dw-content", ".page", "#dokuwiki__content"),
        navigation="#dokuwiki__aside",
        noise="#dw__toc,.secedit,.pageId,.docInfo,.breadcrumbs,.plugin_translation",
    ),
    DocsGenerator(
        "github",
        marks=(".markdown-body .repository-content", "#readme .markdown-body", ".markdown-body .Box-body"),
        content=(".markdown-body",),
        noise=".anchor,.zeroclipboard-container",
    ),
    DocsGenerator(
        "texinfo",
        marks=(".nav-panel", ".copiable-link", ".top-level-extent"),
        notes=("makeinfo", "texi2any", "texi2html"),
        content=("body",),
        navigation=".contents",
        noise=".nav-panel,.header,.copiable-link,.copiable-anchor,.summary-letter-printindex,.region-contents,table:has(.summary-letter)",
    ),
    DocsGenerator(
        "publican",
        marks=(".docnav .titlepage",),
        notes=("publican",),
        content=(".refentry,.section,.chapter,.article,.appendix,.preface,.book,.part,.set", "body"),
        noise="#title,#banner,.docnav,.toc,.legalnotice",
    ),
    DocsGenerator(
        "docbook",
        marks=(".navheader", ".titlepage .navfooter", ".refentry .refsynopsisdiv"),
        notes=("docbook",),
        content=("#docContent", ".refentry,.sect1,.chapter,.article,.appendix,.preface,.section,.book,.part", "body"),
        noise=".navheader,.navfooter,table.navigation,.id_link,.toc,.legalnotice",
    ),
    DocsGenerator(
        "mandoc",
        marks=(".manual-text", ".man-page .head", ".Bl-compact .head-ltitle"),
        content=(".manual-text", ".man-page"),
        noise=".permalink-none,table.head,table.foot",
    ),
)


GENERATORS = (*_SITE_GENERATORS, *_MANUAL_GENERATORS)


def recognise_generator(element_names: ElementNames) -> DocsGenerator | None:
    """The generator of a page; None if it is not recognised."""
    note = element_names.metas.get("generator", "").lower()
    for generator in GENERATORS:
        if note and generator.notes and note.startswith(generator.notes):
            return generator
        if any(all(element_names.has(name) for name in mark.split()) for mark in generator.marks):
            return generator
    return None
