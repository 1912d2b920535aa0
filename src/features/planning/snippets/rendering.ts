/** A snippet as pages show it: rendered texts and highlighted code. */
import type { App, User } from '../../../context.ts'
import { escapeHtml } from '../../../lib/markdown/html.ts'
import { markLines } from '../../../lib/markdown/marked-code.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { renderText } from '../markdown/service.ts'
import type { SnippetRecord } from './entity.ts'
import type { Snippet } from './model.ts'
import { presentOneSnippet } from './queries.ts'

export async function renderSnippet(
  app: App,
  viewer: User | null,
  home: ProjectSubject | null,
  snippet: Snippet,
): Promise<SnippetRecord> {
  const [shown, files] = await Promise.all([
    presentOneSnippet(app, snippet),
    app.db.selectFrom('snippet_files').select(['path', 'content']).where('snippet_id', '=', snippet.id).execute(),
  ])
  const contents = new Map(files.map(({ path, content }) => [path, content]))
  const texts = shown.files.map(({ path }) => contents.get(path) ?? '')
  const blocks = shown.files.map(({ path }, n) => ({ language: languageOf(path), lines: texts[n]!.split('\n') }))
  const marked = await markLines(blocks, app.caller)
  return {
    ...shown,
    description_html: await renderText(app, viewer, home, shown.description ?? ''),
    files: shown.files.map((file, n) => {
      const content = texts[n]!
      return { ...file, content, content_html: marked[n]?.join('\n') ?? escapeHtml(content) }
    }),
  }
}

/** Language names are also file extensions. */
const languageOf = (path: string) => path.slice(path.lastIndexOf('.') + 1).toLowerCase()
