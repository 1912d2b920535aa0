import { z } from 'zod'
import { endpoint, publicPolicy, resource } from '../../../api/endpoint.ts'
import { entity, text } from '../../../api/wire.ts'
import { unauthenticated } from '../../../errors.ts'
import { renderMarkdown } from '../../../lib/markdown/markdown.ts'
import { currentSettings } from '../settings/queries.ts'
import { documentation } from './documentation.ts'
import { addressOf, renderPage } from './rendering.ts'
import { searchDocumentation } from './search.ts'

/** Visitors can read it too, unless public visibility is restricted. */
export const get = endpoint({
  method: 'GET',
  path: '/application/help',
  summary: 'Get the help text of the instance',
  by: 'visitor',
  allow: 'anyone',
  alsoAsks: ['see public records, for visitors'],
  output: entity({
    text: z.string().nullable(),
    html: z.string().nullable(),
    support_url: z.string().nullable(),
  }).meta({ id: 'Help' }),
  async handle({ app, viewer }) {
    const settings = await currentSettings(app)
    if (!viewer && settings.restricted_visibility_levels.includes('public')) throw unauthenticated()
    const { help_page_text: text, help_page_support_url: support_url } = settings
    return { text, html: text && (await renderMarkdown(text, { caller: app.caller })), support_url }
  },
})

const INDEX = 'index'

const documentationPage = resource({
  name: 'Page',
  params: z.object({ page: text }),
  policy: publicPolicy,
  find: async (_app, { page }) => (await documentation()).pages.get(page === INDEX ? '' : page) ?? null,
})

export const getPage = endpoint({
  method: 'GET',
  path: '/application/help/pages/:page',
  summary: 'Get a page of the documentation, or its index (`index`)',
  on: documentationPage,
  by: 'visitor',
  allow: 'anyone',
  output: entity({ path: z.string(), title: z.string(), html: z.string() }).meta({ id: 'HelpPage' }),
  handle: async ({ app, subject }) => ({
    path: addressOf(subject),
    title: subject.title,
    html: await renderPage(app, await documentation(), subject),
  }),
})

export const search = endpoint({
  method: 'GET',
  path: '/application/help/search',
  summary: 'Search the documentation: the best 20 sections',
  by: 'visitor',
  allow: 'anyone',
  input: z.object({ search: text }),
  output: z.array(
    entity({
      path: z.string(),
      title: z.string(),
      heading: z.string().nullable(),
      excerpt: z.string(),
    }).meta({ id: 'HelpResult' }),
  ),
  async handle({ input }) {
    const found = searchDocumentation(await documentation(), input.search)
    return found.map(({ page, section, excerpt }) => ({
      path: addressOf(page) + (section.anchor ? `#${section.anchor}` : ''),
      title: page.title,
      heading: section.heading || null,
      excerpt,
    }))
  },
})
