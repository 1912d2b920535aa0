/** Applies suggestions as a commit on the source branch, by the user who applies them. */
import type { App, User } from '../../../context.ts'
import { Refusal, forbidden, notFound } from '../../../errors.ts'
import { buildCommit, type Change } from '../../../git/objects/building.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { findBranch } from '../../../git/refs/refs.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { withUsers } from '../../identity/users/queries.ts'
import { projectPaths } from '../../planning/items/load.ts'
import type { Note } from '../../planning/notes/model.ts'
import type { Position } from '../../planning/notes/positions.ts'
import { resolveNotes } from '../../planning/notes/resolving.ts'
import type { SuggestionRecord } from '../../planning/notes/suggestion-entity.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { landCommit, landWithMutex, messageFrom, signerOf } from '../../repository/commits/landing.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { mayPushTo } from '../../repository/repositories/rights.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { MergeRequestSubject } from '../merge-requests/policy.ts'
import { findMergeRequests } from '../merge-requests/queries.ts'
import { noteableItemOf } from '../notes/noteable.ts'
import { linesAt, textBetween } from './files.ts'
import { suggestionMessage } from './messages.ts'
import type { Suggestion } from './model.ts'
import { findSuggestions, isDifferent, coveredLines, presentSuggestion } from './queries.ts'

const refuse = (text: string) => new Refusal('bad_request', text)

/** A suggestion with its position. */
interface Proposed {
  readonly suggestion: Suggestion
  readonly note: Note
  readonly position: Position
  readonly path: string
  readonly from: number
  readonly to: number
}

/** Applies all suggestions in one commit, or none. All belong to this merge request. */
export async function applySuggestions(
  app: App,
  actor: User,
  subject: MergeRequestSubject,
  suggestions: readonly Suggestion[],
  message: string | null | undefined,
): Promise<SuggestionRecord[]> {
  const { mergeRequest: one } = subject
  const proposed = await proposedBy(app, suggestions)
  assertAppliable(one, proposed)
  const source = await sourceOf(app, actor, one)
  const words = message || (await usualMessage(app, actor, source, one, proposed))
  const land = (source: RepositorySubject) => commitOnce(app, actor, source, one, proposed, messageFrom(words))
  const commit = await landWithMutex(app, actor, source, one.source_branch, land)
  await transact(app, async (app) => {
    const ids = idList(
      app.db,
      suggestions.map(({ id }) => id),
    )
    await app.db
      .updateTable('suggestions')
      .set({ commit_sha: commit.id })
      .where(inIdList(app.db, 'id', ids))
      .execute()
    const topic = noteableItemOf(subject)
    for (const discussion_id of new Set(proposed.map(({ note }) => note.discussion_id)))
      await resolveNotes(app, actor, topic, { discussion_id }, true)
  })
  return presentApplied(app, one, suggestions)
}

async function presentApplied(app: App, { id }: MergeRequest, suggestions: readonly Suggestion[]) {
  const [one] = await findMergeRequests(app.db, [id])
  const rows = await findSuggestions(
    app.db,
    suggestions.map((suggestion) => suggestion.id),
  )
  if (!one) throw notFound('Suggestion') // deleted meanwhile
  return (await proposedBy(app, rows)).map(({ suggestion, position }) => presentSuggestion(suggestion, position, one))
}

async function proposedBy({ db }: App, suggestions: readonly Suggestion[]): Promise<Proposed[]> {
  const ids = idList(
    db,
    suggestions.map(({ note_id }) => note_id),
  )
  const notes = await db
    .selectFrom('notes')
    .selectAll()
    .where(inIdList(db, 'id', ids))
    .execute()
  const byId = new Map(notes.map((note) => [note.id, note]))
  return suggestions.map((suggestion) => {
    const note = byId.get(suggestion.note_id)
    if (!note?.position) throw notFound('Suggestion') // deleted meanwhile
    const position = JSON.parse(note.position) as Position
    return { suggestion, note, position, path: position.new_path ?? '', ...coveredLines(suggestion, position) }
  })
}

const outdated = ({ from, to }: Proposed) =>
  refuse(`Can't apply as ${from === to ? 'this line was' : 'these lines were'} changed in a more recent version.`)

function assertAppliable({ state, head_sha }: MergeRequest, proposed: readonly Proposed[]): void {
  for (const one of proposed) {
    if (one.suggestion.commit_sha !== null) throw refuse("Can't apply this suggestion.")
    if (state !== 'opened') {
      const word = state === 'closed' ? 'is closed' : 'was merged'
      throw refuse(`This merge request ${word}. To apply this suggestion, edit this file directly.`)
    }
    if (one.position.head_sha !== head_sha) throw outdated(one)
    if (!isDifferent(one.suggestion)) throw refuse('This suggestion already matches its content.')
  }
  const byPath = Map.groupBy(proposed, ({ path }) => path)
  for (const some of byPath.values()) {
    const sorted = some.toSorted((one, other) => one.from - other.from)
    if (sorted.some(({ from }, n) => n > 0 && from <= sorted[n - 1]!.to))
      throw refuse('Suggestions are not applicable as their lines cannot overlap.')
  }
}

async function sourceOf(
  app: App,
  actor: User,
  { source_project_id, source_branch }: MergeRequest,
): Promise<RepositorySubject> {
  const project = source_project_id === null ? null : await findProjectById(app.db, source_project_id)
  if (!project) throw refuse("Can't apply as the source branch was deleted.")
  const source = await loadRepositorySubject(app, project, actor)
  if (!(await mayPushTo(app, source, source_branch)).push) throw forbidden()
  return source
}

/** Commits on the tip that the branch has once the mutex is held. A suggestion whose lines have changed is refused. */
async function commitOnce(
  app: App,
  actor: User,
  source: RepositorySubject,
  { source_branch: branch }: MergeRequest,
  proposed: readonly Proposed[],
  message: string,
): Promise<Commit> {
  const tip = (await findBranch(source.dir, branch))?.id
  if (tip === undefined) throw refuse("Can't apply as the source branch was deleted.")
  const changes: Change[] = []
  for (const [path, some] of Map.groupBy(proposed, ({ path }) => path)) {
    const lines = await linesAt(source.dir, tip, path)
    if (!lines) throw refuse('A file was not found.')
    for (const one of some)
      if (textBetween(lines, one.from, one.to) !== one.suggestion.from_content) throw outdated(one)
    changes.push({ path, content: replaced(lines, some) })
  }
  const author = signerOf(app, actor)
  const after = await buildCommit(source.dir, tip, changes, { message, author, committer: author })
  return landCommit(app, actor, source, { branch, before: tip, after, pointers: true })
}

function replaced(lines: readonly Buffer[], some: readonly Proposed[]): Buffer {
  const parts: Buffer[] = []
  let next = 1
  for (const { suggestion, from, to } of some.toSorted((one, other) => one.from - other.from)) {
    parts.push(...lines.slice(next - 1, from - 1), contentOf(suggestion))
    next = to + 1
  }
  return Buffer.concat([...parts, ...lines.slice(next - 1)])
}

/** Keeps the line endings of the replaced lines. */
function contentOf({ from_content, to_content }: Suggestion): Buffer {
  return Buffer.from(from_content.endsWith('\r\n') ? to_content.replaceAll('\n', '\r\n') : to_content)
}

async function usualMessage(
  app: App,
  actor: User,
  source: RepositorySubject,
  { source_branch }: MergeRequest,
  proposed: readonly Proposed[],
): Promise<string> {
  const { project } = source
  const files = [...new Set(proposed.map(({ path }) => path))]
  const notes = proposed.map(({ note }) => note)
  const authors = (await withUsers(app.db, notes, { author: 'author_id' })).flatMap(({ author }) => author ?? [])
  const others = new Map(authors.filter(({ id }) => id !== actor.id).map((author) => [author.id, author]))
  const paths = await projectPaths(app.db, [project.id])
  return suggestionMessage(project.suggestion_commit_message, {
    branch_name: source_branch,
    project_name: project.name,
    project_path: paths.get(project.id) ?? project.path,
    username: actor.username,
    user_full_name: actor.name,
    suggestions_count: String(proposed.length),
    files_count: String(files.length),
    file_paths: files.join(' '),
    file_path: files.join(' '),
    // Mail addresses are private: the trailer names co-authors with a placeholder address.
    co_authored_by: [...others.values()]
      .map(({ name, username }) => `Co-authored-by: ${name} <${username}@noreply.invalid>`)
      .join('\n'),
  })
}
