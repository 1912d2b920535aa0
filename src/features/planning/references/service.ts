/** Stores the references and mentions of a text, and adds a system note to newly mentioned records. */
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { referencesIn, type TextReference } from '../../../lib/markdown/markdown.ts'
import type { Db } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import { columnsOfItem } from '../items/kind.ts'
import { findNamedItem } from '../items/queries.ts'
import { touchItem } from '../items/rows.ts'
import { itemIn, itemKind, type RegisteredKind } from '../items/registry.ts'
import { addSystemNotes } from '../notes/system.ts'
import { mentionedGroups, namesTeam } from '../todos/mentions.ts'
import type { Source } from './model.ts'

/** Further references are ignored. */
const MOST_REFERENCES = 100

export interface Text {
  readonly source: Source
  readonly text: string
  /** As in `mentioned in issue #1`: the short form inside the text's project, the full form elsewhere. */
  readonly name: (isSameProject: boolean) => string
  /** Whether targets get a system note. Texts with restricted visibility give none. */
  readonly isReported: boolean
  /** Issues that the text closes get another note; commits of a merge request need none. */
  readonly except?: ReadonlySet<number | string>
}

interface Target {
  /** False for archived projects, which stay unchanged. */
  readonly isReported: boolean
  readonly project_id: number
  readonly issue_id: number | null
  readonly merge_request_id: number | null
  readonly commit_sha: string | null
}

const NOTHING = { issue_id: null, merge_request_id: null, commit_sha: null }

/** Stores all references that the author may see, and deletes those no longer in the text. */
export async function trackText(app: App, actor: User, home: ProjectSubject, text: Text): Promise<void> {
  const named = (await referencesIn(text.text, app.url)).slice(0, MOST_REFERENCES)
  const targets = await targetsOf(app, actor, home, named)
  const names = named.flatMap((one) => (one.kind === 'user' ? [one.name.toLowerCase()] : []))
  const people = await peopleOf(app, names)
  const groups = await groupsOf(app, actor, home, names)
  const { source } = text
  await transact(app, async (app) => {
    // One lock for all texts of an item: the item gives only one note per target.
    await lockName(app.db, lockOf(source))
    await keepReferences(app, actor, text, targets)
    const added = await keepMentions(app, source, people)
    await keepGroups(app, source, groups)
    if (added.length > 0) await emit(app, 'text.mentioned', { ...source, user_ids: added, by: actor.id })
  })
}

const lockOf = (source: Source) =>
  `references of ${source.source_issue_id} ${source.source_project_id} ${source.source_sha} ${source.source_snippet_id} ${source.source_merge_request_id}`

async function targetsOf(
  app: App,
  actor: User,
  home: ProjectSubject,
  named: readonly TextReference[],
): Promise<Target[]> {
  const found = new Map<string, Target>()
  for (const one of named) {
    const target = await targetOf(app, actor, home, one)
    if (target) found.set(keyOf(target), target)
  }
  return [...found.values()].toSorted(inLockOrder)
}

/** Issues by id, then merge requests by id: their rows are updated. */
const inLockOrder = (one: Target, other: Target) =>
  (one.issue_id ?? LAST) - (other.issue_id ?? LAST) || (one.merge_request_id ?? LAST) - (other.merge_request_id ?? LAST)
const LAST = Number.MAX_SAFE_INTEGER

const keyOf = ({ project_id, issue_id, merge_request_id, commit_sha }: Target) =>
  `${project_id} ${issue_id} ${merge_request_id} ${commit_sha}`

async function targetOf(app: App, actor: User, home: ProjectSubject, one: TextReference): Promise<Target | null> {
  if (one.kind === 'issue' || one.kind === 'merge_request') {
    const kind = itemKind(one.kind)
    const found = await findNamedItem(app, actor, home, kind, one)
    return found && { ...NOTHING, ...projectColumns(found), ...columnsOfItem(kind, found.item.id) }
  }
  if (one.kind !== 'commit') return null
  const subject = await codeNamed(app, actor, home, one.project)
  const [commit] = subject ? await findCommits(subject.dir, [one.sha]) : []
  // A branch may have a name like a commit id.
  return subject && commit?.id.startsWith(one.sha)
    ? { ...NOTHING, ...projectColumns(subject), commit_sha: commit.id }
    : null
}

const projectColumns = ({ project }: Pick<ProjectSubject, 'project'>) => ({
  isReported: !project.archived,
  project_id: project.id,
})

async function codeNamed(
  app: App,
  actor: User,
  { project, namespace }: ProjectSubject,
  named: string | null,
): Promise<RepositorySubject | null> {
  const own = named === null ? String(project.id) : `${namespace.full_path}/${named}`
  const subject = await findRepositorySubject(app, named?.includes('/') ? named : own, actor)
  return subject && repositoryPolicy.read(subject) && repositoryPolicy.download(subject) ? subject : null
}

/** Ids of groups that the author may see. Null stands for `@all`, if the author is a member. */
async function groupsOf(
  app: App,
  actor: User,
  { project }: ProjectSubject,
  names: readonly string[],
): Promise<(number | null)[]> {
  const groups = await mentionedGroups(app, actor, names)
  const team = await namesTeam(app, actor, project.id, names)
  return [...groups.map(({ id }) => id), ...(team ? [null] : [])]
}

async function peopleOf({ db }: App, names: readonly string[]): Promise<number[]> {
  if (names.length === 0) return []
  const users = await db
    .selectFrom('users')
    .select('id')
    .where((eb) => eb.fn<string>('lower', ['username']), 'in', [...names])
    .orderBy('id')
    .execute()
  return users.map(({ id }) => id)
}

/** The rows of exactly this text. */
function ownRows<T extends 'text_references' | 'text_mentions' | 'text_group_mentions'>(
  db: Db,
  table: T,
  source: Source,
) {
  const rows = db.selectFrom(table as 'text_references').selectAll()
  if (source.source_sha !== null) {
    return rows
      .where('source_project_id', '=', source.source_project_id)
      .where('source_sha', '=', source.source_sha)
      .where('source_note_id', source.source_note_id === null ? 'is' : '=', source.source_note_id)
  }
  const items = ['source_snippet_id', 'source_merge_request_id'] as const
  const item = items.find((column) => source[column] !== null) ?? 'source_issue_id'
  return rows
    .where(item, '=', source[item])
    .where('source_note_id', source.source_note_id === null ? 'is' : '=', source.source_note_id)
}

async function keepReferences(app: TransactionApp, actor: User, text: Text, targets: readonly Target[]): Promise<void> {
  const { source } = text
  const before = await ownRows(app.db, 'text_references', source).execute()
  const isNamed = (row: (typeof before)[number], target: Target) =>
    row.target_project_id === target.project_id &&
    row.target_issue_id === target.issue_id &&
    row.target_merge_request_id === target.merge_request_id &&
    row.target_sha === target.commit_sha
  // A row with a note stays, because it decides who may read the note.
  const gone = before.filter((row) => row.note_id === null && !targets.some((target) => isNamed(row, target)))
  if (gone.length > 0) {
    const ids = gone.map(({ id }) => id)
    await app.db.deleteFrom('text_references').where('id', 'in', ids).execute()
  }
  for (const target of targets) {
    if (isItself(source, target) || before.some((row) => isNamed(row, target))) continue
    const note_id = text.isReported && target.isReported ? await tell(app, actor, text, target) : null
    await app.db
      .insertInto('text_references')
      .values({
        ...source,
        target_issue_id: target.issue_id,
        target_merge_request_id: target.merge_request_id,
        target_project_id: target.project_id,
        target_sha: target.commit_sha,
        note_id,
        created_at: timestamp(app.clock),
      })
      .execute()
  }
}

function isItself(source: Source, { project_id, issue_id, merge_request_id, commit_sha }: Target): boolean {
  if (issue_id !== null) return issue_id === source.source_issue_id
  if (merge_request_id !== null) return merge_request_id === source.source_merge_request_id
  return commit_sha === source.source_sha && project_id === source.source_project_id
}

/** One note per pair of items, whichever text mentions the other. */
async function tell(
  app: TransactionApp,
  actor: User,
  { source, name, except }: Text,
  target: Target,
): Promise<number | null> {
  const { project_id, issue_id, merge_request_id, commit_sha } = target
  if (except?.has(issue_id ?? commit_sha ?? '')) return null
  const pair = {
    source_issue_id: source.source_issue_id,
    source_merge_request_id: source.source_merge_request_id,
    source_snippet_id: source.source_snippet_id,
    source_project_id: source.source_project_id,
    source_sha: source.source_sha,
    target_issue_id: issue_id,
    target_merge_request_id: merge_request_id,
    target_project_id: project_id,
    target_sha: commit_sha,
  }
  const columns = Object.entries(pair) as [keyof typeof pair, number | string | null][]
  const known = await app.db
    .selectFrom('text_references')
    .select('id')
    .where((eb) => eb.and(columns.map(([column, value]) => eb(column, value === null ? 'is' : '=', value as never))))
    .where('note_id', 'is not', null)
    .executeTakeFirst()
  if (known) return null
  const item = itemIn(target)
  const noteable = item ? { project_id, ...columnsOfItem(item.kind, item.id) } : { project_id, commit_sha: commit_sha! }
  const body = `mentioned in ${name(project_id === source.source_project_id)}`
  const [note] = await addSystemNotes(app, actor, noteable, [{ action: 'cross_reference', body }])
  if (item) await touchItem(app, item.kind, item.id)
  return note!
}

/** Ids of newly mentioned users. */
async function keepMentions(app: App, source: Source, people: readonly number[]): Promise<number[]> {
  const rows = (await ownRows(app.db, 'text_mentions', source).execute()) as unknown as {
    id: number
    user_id: number
  }[]
  const gone = rows.filter(({ user_id }) => !people.includes(user_id)).map(({ id }) => id)
  if (gone.length > 0) await app.db.deleteFrom('text_mentions').where('id', 'in', gone).execute()
  const added = people.filter((id) => !rows.some(({ user_id }) => user_id === id))
  const created_at = timestamp(app.clock)
  if (added.length > 0) {
    const values = added.map((user_id) => ({ ...source, user_id, created_at }))
    await app.db.insertInto('text_mentions').values(values).execute()
  }
  return added
}

async function keepGroups(app: App, source: Source, groups: readonly (number | null)[]): Promise<void> {
  const rows = (await ownRows(app.db, 'text_group_mentions', source).execute()) as unknown as {
    id: number
    group_id: number | null
  }[]
  const gone = rows.filter(({ group_id }) => !groups.includes(group_id)).map(({ id }) => id)
  if (gone.length > 0) await app.db.deleteFrom('text_group_mentions').where('id', 'in', gone).execute()
  const added = groups.filter((id) => !rows.some(({ group_id }) => group_id === id))
  const created_at = timestamp(app.clock)
  const values = added.map((group_id) => ({ ...source, group_id, created_at }))
  if (values.length > 0) await app.db.insertInto('text_group_mentions').values(values).execute()
}

export const itemName =
  ({ noun, sign }: RegisteredKind, { project, namespace }: ProjectSubject, iid: number) =>
  (isSame: boolean) =>
    `${noun} ${isSame ? '' : pathWithNamespace(project, namespace)}${sign}${iid}`

export const snippetName =
  ({ project, namespace }: ProjectSubject, id: number) =>
  (isSame: boolean) =>
    `snippet ${isSame ? '' : pathWithNamespace(project, namespace)}$${id}`

export const commitName =
  ({ project, namespace }: ProjectSubject, sha: string) =>
  (isSame: boolean) =>
    `commit ${isSame ? '' : `${pathWithNamespace(project, namespace)}@`}${sha}`
