import type { App, User } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { repositoryPolicy } from '../../repository/repositories/policy.ts'
import { findIssues } from '../issues/queries.ts'
import { readableAmong } from '../issues/readable.ts'
import type { Note } from '../notes/model.ts'
import { projectSnippetPolicy } from '../snippets/policy.ts'
import { projectSubjects } from '../subjects.ts'
import type { Source } from './model.ts'

/** Without those that tell of a text the viewer may not see; a fixed number of queries. */
export async function withoutHidden(app: App, viewer: User | null, notes: readonly Note[]): Promise<Note[]> {
  const seen = await withoutNamed(app, viewer, notes)
  const told = seen.filter(({ action }) => action === 'cross_reference').map(({ id }) => id)
  if (told.length === 0) return seen
  const sources = await app.db
    .selectFrom('text_references')
    .select(['note_id', 'source_issue_id', 'source_note_id', 'source_snippet_id', 'source_project_id', 'source_sha'])
    .where(inIdList(app.db, 'note_id', idList(app.db, told)))
    .execute()
  const isReadable = await readableSources(app, viewer, sources)
  const readable = new Set(sources.filter(isReadable).map(({ note_id }) => note_id))
  return seen.filter(({ id, action }) => action !== 'cross_reference' || readable.has(id))
}

/** Without those that name an issue the viewer may not see. */
async function withoutNamed(app: App, viewer: User | null, notes: readonly Note[]): Promise<Note[]> {
  const named = [...new Set(notes.flatMap(({ names_issue_id }) => names_issue_id ?? []))]
  if (named.length === 0) return [...notes]
  const readable = await readableAmong(app, viewer, await findIssues(app.db, named))
  const ids = new Set(readable.map(({ id }) => id))
  return notes.filter(({ names_issue_id }) => names_issue_id === null || ids.has(names_issue_id))
}

async function readableSources(app: App, viewer: User | null, sources: readonly Source[]) {
  const issues = [...new Set(sources.flatMap(({ source_issue_id }) => source_issue_id ?? []))]
  const snippets = [...new Set(sources.flatMap(({ source_snippet_id }) => source_snippet_id ?? []))]
  const others = sources.filter(({ source_issue_id }) => source_issue_id === null)
  const [issuesSeen, subjects, snippetRows] = await Promise.all([
    findIssues(app.db, issues).then((found) => readableAmong(app, viewer, found)),
    projectSubjects(
      app,
      viewer,
      others.map(({ source_project_id }) => source_project_id),
    ),
    app.db
      .selectFrom('snippets')
      .selectAll()
      .where(inIdList(app.db, 'id', idList(app.db, snippets)))
      .execute(),
  ])
  const issueIds = new Set(issuesSeen.map(({ id }) => id))
  return ({ source_issue_id, source_snippet_id, source_project_id }: Source): boolean => {
    if (source_issue_id !== null) return issueIds.has(source_issue_id)
    const subject = subjects.get(source_project_id)
    if (!subject || !projectPolicy.read(subject)) return false
    if (source_snippet_id === null) return repositoryPolicy.download({ ...subject, dir: '' })
    const snippet = snippetRows.find(({ id }) => id === source_snippet_id)
    return snippet !== undefined && projectSnippetPolicy.read({ ...subject, snippet })
  }
}
