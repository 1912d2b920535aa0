import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/wire.ts'
import { unauthenticated } from '../../../errors.ts'
import { renderMarkdown } from '../../../lib/markdown/markdown.ts'
import { currentSettings } from '../settings/queries.ts'

/** Visitors read it too, unless nothing at all is to be public. */
export const get = endpoint({
  method: 'GET',
  path: '/application/help',
  summary: 'Get what the instance says to whoever looks for help',
  allow: 'anyone',
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
