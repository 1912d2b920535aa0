/** A snippet as pages show it: its texts, words of code marked. */
import type { App, User } from '../../../context.ts'
import { highlight } from '../../../lib/markdown/highlight.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { renderText } from '../markdown/service.ts'
import type { SnippetRecord } from './entity.ts'
import type { Snippet } from './model.ts'
import { presentOneSnippet } from './queries.ts'

/** So much of a snippet is marked; the rest is shown as it is. */
const MARKED = 100_000

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
  const budget = { left: MARKED }
  return {
    ...shown,
    description_html: await renderText(app, viewer, home, shown.description ?? ''),
    files: shown.files.map((file) => {
      const content = contents.get(file.path) ?? ''
      return { ...file, content, content_html: highlight(content, languageOf(file.path), budget) }
    }),
  }
}

/** Names of languages are their endings, too. */
const languageOf = (path: string) => path.slice(path.lastIndexOf('.') + 1).toLowerCase()
