import { on, type App, type User } from '../../../context.ts'
import { listCommits } from '../../../git/history/history.ts'
import type { Subscription } from '../../../jobs/worker.ts'
import { resolveCommits, type Commit } from '../../../git/objects/commits.ts'
import { onBranches } from '../../../git/refs/refs.ts'
import { closingReferences } from '../../../lib/text/closing.ts'
import { scanReferences } from '../../../lib/text/references.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById, findProjectSubject } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { Update } from '../../repository/gate/updates.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import { mayReferChanged } from '../items/changes.ts'
import { issuePolicy } from '../issues/policy.ts'
import { updateIssue } from '../issues/service.ts'
import { findItem, findItems } from '../items/queries.ts'
import { itemIn, type RegisteredKind } from '../items/registry.ts'
import { findNamedIssue } from '../quick-actions/arguments.ts'
import { NO_SOURCE } from './model.ts'
import { commitName, itemName, snippetName, trackText } from './service.ts'

/** Only the newest commits of one push. */
const MOST_COMMITS = 100
const MOST_TIPS = 10

async function trackItem(app: App, kind: RegisteredKind, { id, by }: { id: number; by: number }): Promise<void> {
  const [item, actor] = await Promise.all([findItem(app.db, kind, id), findUser(app.db, by)])
  const subject = item && actor && (await findProjectSubject(app, String(item.project_id), actor))
  if (!subject) return // deleted meanwhile
  await trackText(app, actor, subject, {
    source: { ...NO_SOURCE, [`source_${kind.column}`]: id, source_project_id: item.project_id },
    text: `${item.title}\n\n${item.description ?? ''}`,
    name: itemName(kind, subject, item.iid),
    isReported: true,
    except: new Set(await kind.commitsOf?.(app, subject.project, id)),
  })
}

export const referenceReactions = (kind: RegisteredKind): Subscription<App>[] => [
  on(`${kind.key}.created`, 'references', (app, payload) => trackItem(app, kind, payload), {
    when: ({ plain = false }) => !plain,
  }),
  on(`${kind.key}.updated`, 'references', (app, payload) => trackItem(app, kind, payload), {
    when: ({ changes }) => mayReferChanged(changes),
  }),
]

async function trackNote(app: App, { id, by }: { id: number; by: number }): Promise<void> {
  const note = await app.db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst()
  const actor = await findUser(app.db, by)
  const subject = note && actor && (await findProjectSubject(app, String(note.project_id), actor))
  if (!subject) return // deleted meanwhile
  const named = itemIn(note)
  const [item] = named ? await findItems(app.db, named.kind, [named.id]) : []
  const source = {
    source_issue_id: note.issue_id,
    source_merge_request_id: note.merge_request_id,
    source_note_id: id,
    source_snippet_id: note.snippet_id,
    source_project_id: note.project_id,
    source_sha: note.commit_sha,
  }
  const name =
    named && item
      ? itemName(named.kind, subject, item.iid)
      : note.snippet_id === null
        ? commitName(subject, note.commit_sha ?? '')
        : snippetName(subject, note.snippet_id)
  await trackText(app, actor, subject, { source, text: note.body, name, isReported: !note.internal })
}

export const trackNewNote = on('note.created', 'references', trackNote, { when: ({ plain = false }) => !plain })
export const trackChangedNote = on('note.updated', 'references', trackNote)

const BRANCH = 'refs/heads/'

/** Tracks the commit messages of a push: they mention issues and, on the default branch, close them. */
export const trackCommits = on(
  'repository.changed',
  'references',
  async (app, { project_id, by, updates, merging = false }) => {
    const actor = await findUser(app.db, by!)
    const subject = actor && (await findRepositorySubject(app, String(project_id), actor))
    if (!subject) return // deleted meanwhile
    const main = `${BRANCH}${subject.project.default_branch}`
    const branches = updates.filter(({ ref, after }) => ref.startsWith(BRANCH) && after !== null)
    for (const some of [branches.filter(({ ref }) => ref === main), branches.filter(({ ref }) => ref !== main)]) {
      const isMain = some[0]?.ref === main
      const commits = await newCommits(subject.dir, some, isMain ? [] : [main])
      const telling = commits.filter(({ message }) => scanReferences(message).length > 0)
      // Commits that a fork shares with its origin are tracked there.
      const copied = await copiedFromSource(app, subject, telling)
      for (const commit of telling.toReversed())
        if (!copied.has(commit.id)) await trackCommit(app, actor, subject, commit, isMain && !merging)
    }
  },
  { when: ({ wiki, by }) => !wiki && by !== null },
)

/** Of all these branches together: a mirror pushes thousands. */
async function newCommits(dir: string, branches: readonly Update[], known: readonly string[]): Promise<Commit[]> {
  const tips = await resolveCommits(dir, [...new Set(branches.flatMap(({ after }) => after ?? []))])
  const from = tips.filter((tip) => tip !== null)
  if (from.length === 0) return []
  const before = branches.flatMap(({ before }) => before ?? [])
  const not = [...before, ...(branches.some(({ before }) => before === null) ? known : [])]
  return listCommits(dir, { from, not, limit: MOST_COMMITS * Math.min(from.length, MOST_TIPS) })
}

async function copiedFromSource(
  app: App,
  { project }: RepositorySubject,
  commits: readonly Commit[],
): Promise<ReadonlySet<string>> {
  const source = project.forked_from_id === null ? null : await findProjectById(app.db, project.forked_from_id)
  if (!source) return new Set()
  const ids = commits.map(({ id }) => id)
  return onBranches(repositoryDir(app, source), ids)
}

async function trackCommit(
  app: App,
  actor: User,
  subject: RepositorySubject,
  { id, message }: Commit,
  isMain: boolean,
): Promise<void> {
  const name = commitName(subject, id)
  const closed = new Set<number>()
  const isClosing = isMain && subject.project.autoclose_referenced_issues
  for (const one of isClosing ? closingReferences(message, app.url) : []) {
    if (one.kind !== 'issue') continue
    const found = await findNamedIssue(app, actor, subject, one)
    // Commits of a fork do not close issues of the fork's origin.
    if (!found || !issuePolicy.update(found) || found.project.id === subject.project.forked_from_id) continue
    closed.add(found.issue.id)
    const via = { name: name(found.project.id === subject.project.id), project_id: subject.project.id }
    if (found.issue.state === 'opened')
      await updateIssue(app, actor, found, found.issue.id, { state_event: 'close' }, via)
  }
  const source = { ...NO_SOURCE, source_project_id: subject.project.id, source_sha: id }
  await trackText(app, actor, subject, { source, text: message, name, isReported: true, except: closed })
}
