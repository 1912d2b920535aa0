import type { App, User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { levelsOnProjects, openVisibilities } from '../../access/authorizations/queries.ts'
import { repositoryPolicy } from '../../repository/repositories/policy.ts'
import { findIssues } from '../issues/queries.ts'
import { readableAmong } from '../issues/readable.ts'
import type { Note } from '../notes/model.ts'

const isReferring = (note: Note) =>
  note.action === 'cross_reference' || note.about_issue_id !== null || note.about_project_id !== null

/** Without those that tell of a text the viewer may not see; a fixed number of queries. */
export async function withoutHidden(app: App, viewer: User | null, notes: readonly Note[]): Promise<Note[]> {
  const sources = await sourcesOf(app, notes.filter(isReferring))
  if (sources.length === 0) return notes.filter((note) => !isReferring(note))
  const issues = [...new Set(sources.flatMap(({ source_issue_id }) => source_issue_id ?? []))]
  const projects = sources.filter(({ source_issue_id }) => source_issue_id === null).map((one) => one.source_project_id)
  const [readable, open] = await Promise.all([
    readableAmong(app, viewer, await findIssues(app.db, issues)),
    projectsOfCode(app, viewer, [...new Set(projects.map((id) => id!))]),
  ])
  const seen = new Set(
    sources
      .filter(({ source_issue_id, source_project_id }) =>
        source_issue_id === null ? open.has(source_project_id!) : readable.some(({ id }) => id === source_issue_id),
      )
      .map(({ note_id }) => note_id),
  )
  return notes.filter((note) => !isReferring(note) || seen.has(note.id))
}

async function sourcesOf({ db }: App, notes: readonly Note[]) {
  const told = notes.filter(({ action }) => action === 'cross_reference').map(({ id }) => id)
  const texts = await (told.length === 0
    ? []
    : db
        .selectFrom('text_references')
        .select(['note_id', 'source_issue_id', 'source_project_id'])
        .where(inIdList(db, 'note_id', idList(db, told)))
        .execute())
  const named = notes.filter(({ action }) => action !== 'cross_reference')
  return [
    ...texts,
    ...named.map((note) => ({
      note_id: note.id,
      source_issue_id: note.about_issue_id,
      source_project_id: note.about_project_id,
    })),
  ]
}

/** Those whose code the viewer may read. */
async function projectsOfCode({ db }: App, viewer: User | null, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const [projects, levels] = await Promise.all([
    db
      .selectFrom('projects')
      .selectAll()
      .where(inIdList(db, 'id', idList(db, ids)))
      .where('deleting', '=', false)
      .execute(),
    levelsOnProjects(db, viewer, ids),
  ])
  const isRead = (project: Row<'projects'>) => {
    const subject = {
      project,
      // No rule asks where a project lies.
      namespace: null as unknown as Row<'namespaces'>,
      viewer,
      level: levels(project.id),
      open: openVisibilities(viewer),
      dir: '',
    }
    return repositoryPolicy.read(subject) && repositoryPolicy.download(subject)
  }
  return new Set(projects.filter(isRead).map(({ id }) => id))
}
