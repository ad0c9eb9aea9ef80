// A documentation site as a program in the browser: the pages are fetched as data when it runs, and nothing is in the HTML.
import { createApp, h, ref } from 'vue'
import { createRouter, createWebHistory, RouterLink, RouterView, useRoute } from 'vue-router'

const pages = ref([])

const Block = (block) => {
  if (block.code !== undefined)
    return h('div', { class: `language-${block.language}` }, [h('button', { class: 'copy', title: 'Copy Code' }), h('pre', h('code', block.code))])
  if (block.note !== undefined)
    return h('div', { class: 'admonition note' }, [h('p', { class: 'admonition-title' }, 'Note'), h('p', block.note)])
  if (block.items !== undefined) return h('ul', block.items.map((item) => h('li', item)))
  if (block.rows !== undefined) {
    const [head, ...body] = block.rows
    const row = (cells, tag) => h('tr', cells.map((cell) => h(tag, cell)))
    return h('table', [h('thead', [row(head, 'th')]), h('tbody', body.map((cells) => row(cells, 'td')))])
  }
  return h('p', block.text)
}

const Page = {
  setup() {
    const route = useRoute()
    return () => {
      if (!pages.value.length) return h('p', { class: 'loading' }, 'Loading …')
      const page = pages.value.find((each) => each.path === route.path)
      if (!page) return h('main', h('h1', 'There is no such page'))
      document.title = `${page.title} | Kettle`
      return h('main', [
        h('h1', page.title),
        ...page.sections.map((section) =>
          h('section', [h('h2', { id: section.id }, [section.title, h('a', { class: 'header-anchor', href: `#${section.id}` }, '#')]), ...section.blocks.map(Block)]),
        ),
      ])
    }
  },
}

const App = {
  setup: () => () =>
    h('div', [
      h('header', [h('a', { href: '/' }, 'Kettle')]),
      h('nav', { class: 'sidebar' }, h('ul', pages.value.map((page) => h('li', h(RouterLink, { to: page.path }, () => page.title))))),
      h(RouterView),
      h('footer', 'The kettle makers'),
    ]),
}

const router = createRouter({
  history: createWebHistory(),
  routes: [{ path: '/:path(.*)*', component: Page }],
})

createApp(App).use(router).mount('#app')
fetch('/content.json')
  .then((answer) => answer.json())
  .then((content) => {
    pages.value = content
  })
