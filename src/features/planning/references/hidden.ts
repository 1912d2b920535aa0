import type { App, User } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { repositoryPolicy } from '../../repository/repositories/policy.ts'
import { findItems } from '../items/queries.ts'
import { readableItems } from '../items/readers.ts'
import { itemKinds } from '../items/registry.ts'
import type { Note } from '../notes/model.ts'
import { projectSnippetPolicy } from '../snippets/policy.ts'
import { projectSubjects } from '../subjects.ts'
import type { Source } from './model.ts'

const isReferring = (note: Note) =>
  note.action === 'cross_reference' || note.about_issue_id !== null || note.about_project_id !== null

/** Removes notes that mention a text the viewer may not see. A fixed number of queries. */
export async function withoutHidden(app: App, viewer: User | null, notes: readonly Note[]): Promise<Note[]> {
  const sources = await sourcesOf(app, notes.filter(isReferring))
  const isReadable = await readableSources(app, viewer, sources)
  const seen = new Set(sources.filter(isReadable).map(({ note_id }) => note_id))
  return notes.filter((note) => !isReferring(note) || seen.has(note.id))
}

type ReferencedBy = Pick<Source, 'source_issue_id' | 'source_merge_request_id' | 'source_snippet_id'> & {
  readonly note_id: number | null
  readonly source_project_id: number | null
}

async function sourcesOf({ db }: App, notes: readonly Note[]): Promise<ReferencedBy[]> {
  const noteIds = notes.filter(({ action }) => action === 'cross_reference').map(({ id }) => id)
  const texts = await (noteIds.length === 0
    ? []
    : db
        .selectFrom('text_references')
        .select(['note_id', 'source_issue_id', 'source_merge_request_id', 'source_snippet_id', 'source_project_id'])
        .where(inIdList(db, 'note_id', idList(db, noteIds)))
        .execute())
  const named = notes.filter(({ action }) => action !== 'cross_reference')
  return [
    ...texts,
    ...named.map((note) => ({
      note_id: note.id,
      source_issue_id: note.about_issue_id,
      source_merge_request_id: null,
      source_snippet_id: null,
      source_project_id: note.about_project_id,
    })),
  ]
}

async function readableSources(app: App, viewer: User | null, sources: readonly ReferencedBy[]) {
  if (sources.length === 0) return () => true
  const snippets = [...new Set(sources.flatMap(({ source_snippet_id }) => source_snippet_id ?? []))]
  const [items, subjects, snippetRows] = await Promise.all([
    Promise.all(
      itemKinds().map(async (kind) => {
        const column = `source_${kind.column}` as const
        const found = await findItems(
          app.db,
          kind,
          sources.flatMap((source) => source[column] ?? []),
        )
        const seen = await readableItems(app, kind, viewer, found)
        return { column, seen: new Set(seen.map(({ id }) => id)) }
      }),
    ),
    projectSubjects(
      app,
      viewer,
      sources.flatMap(({ source_project_id }) => source_project_id ?? []),
    ),
    app.db
      .selectFrom('snippets')
      .selectAll()
      .where(inIdList(app.db, 'id', idList(app.db, snippets)))
      .execute(),
  ])
  return (source: ReferencedBy): boolean => {
    const item = items.find(({ column }) => source[column] !== null)
    if (item) return item.seen.has(source[item.column]!)
    const { source_project_id, source_snippet_id } = source
    const subject = source_project_id === null ? undefined : subjects.get(source_project_id)
    if (!subject || !projectPolicy.read(subject)) return false
    if (source_snippet_id === null) return repositoryPolicy.download({ ...subject, dir: '' })
    const snippet = snippetRows.find(({ id }) => id === source_snippet_id)
    return snippet !== undefined && projectSnippetPolicy.read({ ...subject, snippet })
  }
}
