import type { App } from '../../../context.ts'
import { html } from '../../../lib/text/html.ts'
import { referencesIn, renderMarkdown } from '../../../lib/markdown/markdown.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { withoutFrontMatter } from './pages.ts'

/** Renders Markdown and shows other formats as plain text. Relative links lead to neighboring pages. */
export async function renderPage(
  app: App,
  subject: ProjectSubject,
  { slug, format, content }: { slug: string; format: string; content: string },
): Promise<string> {
  if (format !== 'markdown') return html`<pre>${content}</pre>`.toString()
  const project = webUrlOf(app, subject)
  const location = { root: pageBelow(project, 'wikis'), folder: slug.split('/').slice(0, -1).join('/') }
  const text = withoutFrontMatter(content)
  const named = await referencesIn(text, app.url, app.caller)
  return renderMarkdown(text, {
    base: app.url,
    caller: app.caller,
    resolutions: await app.resolveReferences(app, subject.viewer, subject.project, named),
    tracker: await app.findTracker(app, subject.project),
    linkBases: { project, links: location, pictures: location },
  })
}
