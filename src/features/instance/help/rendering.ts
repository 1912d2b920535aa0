import type { App } from '../../../context.ts'
import { ID_PREFIX } from '../../../lib/markdown/html.ts'
import { renderMarkdown } from '../../../lib/markdown/markdown.ts'
import type { Documentation, DocumentationPage } from './documentation.ts'

export const HELP = '/help'

export const addressOf = ({ slug }: Pick<DocumentationPage, 'slug'>): string => (slug ? `${HELP}/${slug}` : HELP)

/** Links between files lead to their pages. Links to files that have no page become plain text. */
export async function renderPage(app: App, { pages }: Documentation, page: DocumentationPage): Promise<string> {
  const location = { root: HELP, folder: page.slug.split('/').slice(0, -1).join('/') }
  const html = await renderMarkdown(page.text, {
    base: app.url,
    caller: app.caller,
    linkBases: { links: location, pictures: location },
  })
  return html.replaceAll(/ href="\/help\/([^"#]*)(?:#([^"]*))?"/g, (_, file: string, anchor?: string) => {
    const name = /^(.*)\.md$/.exec(file)?.[1]
    const linked = name === undefined ? undefined : pages.get(name === 'README' ? '' : name)
    return linked ? ` href="${addressOf(linked)}${anchor ? `#${ID_PREFIX}${anchor}` : ''}"` : ''
  })
}
