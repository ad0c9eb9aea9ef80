// How the VitePress site is built: the default theme, with the plugins that its users add.
import { defineConfig } from 'vitepress'
import deflist from 'markdown-it-deflist'
import footnote from 'markdown-it-footnote'
import katex from 'katex'
import tasks from 'markdown-it-task-lists'

// `\(…\)` by KaTeX; dollars are MathJax's, which VitePress brings itself.
function formulas(md) {
  md.inline.ruler.before('escape', 'katex', (state, silent) => {
    if (!state.src.startsWith('\\(', state.pos)) return false
    const end = state.src.indexOf('\\)', state.pos)
    if (end < 0) return false
    if (!silent) state.push('katex', '', 0).content = state.src.slice(state.pos + 2, end)
    state.pos = end + 2
    return true
  })
  md.renderer.rules.katex = (tokens, index) => katex.renderToString(tokens[index].content, { throwOnError: true })
}

const page = (text, name) => ({ text, link: `/${name}` })

export default defineConfig({
  title: 'Kettle',
  description: 'The handbook of the kettle',
  cleanUrls: false,
  markdown: {
    math: true,
    config: (md) => md.use(deflist).use(footnote).use(tasks).use(formulas),
  },
  themeConfig: {
    nav: [page('Guide', 'languages')],
    sidebar: [
      { text: 'Code', items: [page('Languages', 'languages'), page('Odd code', 'odd'), page('Lines', 'lines'), page('Groups', 'groups')] },
      { text: 'Blocks', items: [page('Tables', 'tables'), page('Containers', 'containers'), page('Alerts', 'alerts'), page('Nesting', 'nesting')] },
      { text: 'More', items: [page('Lists', 'lists'), page('Math', 'math'), page('Notes', 'notes'), page('Pictures', 'pictures')] },
    ],
    editLink: { pattern: 'https://kettle.example/edit/:path' },
    footer: { message: 'Made of steel', copyright: 'The kettle makers' },
    search: { provider: 'local' },
  },
})
