"""The programs that make references, wikis and plain manuals: rustdoc, Javadoc, Doxygen, MediaWiki, DocBook and their like."""

from __future__ import annotations

from tadoru.jobs.docs.content.values import Generator

MANUALS: tuple[Generator, ...] = (
    Generator(
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
    Generator(
        "javadoc",
        marks=(".contentContainer .topNav", "#navbar-top .sub-nav", ".packageSummary .topNav"),
        notes=("javadoc",),
        content=("main", "[role=main]", ".contentContainer"),
        noise=".topNav,.bottomNav,.subNav,.skip-nav,.sub-nav,.subNavList,.navList,.copy,.legalCopy,.checkbox-div",
    ),
    Generator(
        "scaladoc",
        marks=("#definition #template #mbrsel", "#definition #template #comment"),
        content=("#content-container", "body"),
        noise=(
            "#mbrsel,#memberfilter,#search,#tooltip,#footer,#inheritedMembers,.morelinks,.permalink,.full-signature-block,"
            ".shadowed,#shadowedImplicitMembers"
        ),
    ),
    Generator(
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
    Generator(
        "gi-docgen",
        marks=(".devhelp-hidden #btn-to-top #main",),
        content=("#main",),
        navigation=".sidebar",
        noise="#toc,.srclink,.md-anchor",
    ),
    Generator(
        "asciidoctor",
        marks=("#header #content .sectionbody",),
        notes=("asciidoctor",),
        # On a manual page the sentence that says what the command does stands in the header.
        content=("body.manpage", "#content", ".doc", "body"),
        navigation="#toc",
        noise="#toc,.anchor,#footer",
    ),
    Generator(
        "pandoc",
        marks=("#title-block-header #TOC",),
        notes=("pandoc",),
        content=("main", "article", "body"),
        navigation="#TOC",
        noise="#TOC,.sourceLine-number",
    ),
    Generator(
        "nodejs",
        marks=("#apicontent #gtoc",),
        content=("#apicontent",),
        navigation="#column2",
        noise=".mark,.toc",
    ),
    Generator(
        "typedoc",
        marks=(".tsd-page-title", ".tsd-navigation .col-content"),
        content=(".col-content", ".col-8"),
        navigation=".tsd-navigation",
        noise=".tsd-breadcrumb,.tsd-anchor-icon,.tsd-sources,.tsd-generator,.tsd-filter-visibility",
    ),
    Generator(
        "exdoc",
        marks=(".content-inner .sidebar-listNav", "#sidebar-full-list"),
        notes=("exdoc",),
        content=("#content", ".content-inner", "main"),
        navigation="#sidebar-full-list",
        noise=".icon-action,.bottom-actions,.hover-link,.detail-link",
    ),
    Generator(
        "pkgdown",
        marks=(".template-reference-topic", ".template-article", ".template-reference-index"),
        notes=("pkgdown",),
        content=("#main", "main", ".contents"),
        noise=".dropdown,.anchor",
    ),
    Generator(
        "haddock",
        marks=("#package-header #content", "#module-header #interface"),
        content=("#content",),
        noise="#table-of-contents,.selflink,.link,.hide-when-js-enabled",
    ),
    Generator(
        "yard",
        marks=("#content #search .method_details_list", "#filecontents #search"),
        content=("#content",),
        noise=".showSource,.toggleSource,.source_code,.note.title.constructor,.summary_toggle,.inheritanceTree",
    ),
    Generator(
        "rdoc",
        marks=(".method-detail .method-heading", "#validator-badges #project-navigation"),
        content=("main", "[role=main]", "#documentation"),
        navigation="#classindex-section",
        noise=".method-click-advice,.method-source-code,.method-controls",
    ),
    Generator(
        "readme",
        marks=(".rm-Markdown", ".rm-Article"),
        content=(".rm-Article", ".rm-Markdown"),
        navigation=".rm-Sidebar",
        noise=".rm-Pagination,.content-toc,.heading-anchor-icon",
    ),
    Generator(
        "confluence",
        marks=("#main-content .wiki-content",),
        content=("#main-content",),
    ),
    Generator(
        "oxygen",
        marks=(".wh_topic_content", ".wh_content_area"),
        notes=("dita-ot", "oxygen"),
        content=(".wh_topic_content", "main", "article"),
        navigation=".wh_publication_toc",
        noise=".related-links,.wh_breadcrumb,.navfooter",
    ),
    Generator(
        "flare",
        marks=("#mc-main-content",),
        content=("#mc-main-content",),
        noise=".MCBreadcrumbsBox_0,.MCToolbar_0,.relatedTopics",
    ),
    Generator(
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
    Generator(
        "mediawiki",
        marks=(".mw-parser-output", "#mw-content-text"),
        notes=("mediawiki",),
        content=(".mw-parser-output", "#mw-content-text", "#bodyContent"),
        noise=(
            ".mw-editsection,#toc,.toc,.navbox,.catlinks,.printfooter,.mw-jump-link,.vector-toc,#siteSub,"
            "#contentSub,#jump-to-nav,.mw-indicators,.mw-empty-elt"
        ),
    ),
    Generator(
        "dokuwiki",
        marks=("#dokuwiki__content", ".dokuwiki .dw-content"),
        notes=("dokuwiki",),
        content=(".dw-content", ".page", "#dokuwiki__content"),
        navigation="#dokuwiki__aside",
        noise="#dw__toc,.secedit,.pageId,.docInfo,.breadcrumbs,.plugin_translation",
    ),
    Generator(
        "github",
        marks=(".markdown-body .repository-content", "#readme .markdown-body", ".markdown-body .Box-body"),
        content=(".markdown-body",),
        noise=".anchor,.zeroclipboard-container",
    ),
    Generator(
        "texinfo",
        marks=(".nav-panel", ".copiable-link", ".top-level-extent"),
        notes=("makeinfo", "texi2any", "texi2html"),
        content=("body",),
        navigation=".contents",
        noise=".nav-panel,.header,.copiable-link,.copiable-anchor,.summary-letter-printindex,.region-contents,table:has(.summary-letter)",
    ),
    Generator(
        "publican",
        marks=(".docnav .titlepage",),
        notes=("publican",),
        content=(".refentry,.section,.chapter,.article,.appendix,.preface,.book,.part,.set", "body"),
        noise="#title,#banner,.docnav,.toc,.legalnotice",
    ),
    Generator(
        "docbook",
        marks=(".navheader", ".titlepage .navfooter", ".refentry .refsynopsisdiv"),
        notes=("docbook",),
        content=("#docContent", ".refentry,.sect1,.chapter,.article,.appendix,.preface,.section,.book,.part", "body"),
        noise=".navheader,.navfooter,table.navigation,.id_link,.toc,.legalnotice",
    ),
    Generator(
        "mandoc",
        marks=(".manual-text", ".man-page .head", ".Bl-compact .head-ltitle"),
        content=(".manual-text", ".man-page"),
        noise=".permalink-none,table.head,table.foot",
    ),
)
