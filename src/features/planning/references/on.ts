import { on, type App, type User } from '../../../context.ts'
import { listCommits } from '../../../git/history/history.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { onBranches } from '../../../git/refs/refs.ts'
import { closingReferences } from '../../../lib/text/closing.ts'
import { scanReferences } from '../../../lib/text/references.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProjectById, findProjectSubject } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { findRepositorySubject } from '../../repository/repositories/queries.ts'
import { issuePolicy } from '../issues/policy.ts'
import { findIssues } from '../issues/queries.ts'
import { updateIssue } from '../issues/service.ts'
import { findMergeRequestRows } from '../merge-requests.ts'
import { findNamedIssue } from '../quick-actions/arguments.ts'
import { NO_SOURCE } from './model.ts'
import { commitName, issueName, mergeRequestName, snippetName, trackText } from './service.ts'

/** Only the newest commits of one push. */
const MOST_COMMITS = 100

async function trackIssue(app: App, { id, by }: { id: number; by: number }): Promise<void> {
  const [[issue], actor] = await Promise.all([findIssues(app.db, [id]), findUser(app.db, by)])
  const subject = issue && actor && (await findProjectSubject(app, String(issue.project_id), actor))
  if (!subject) return // deleted meanwhile
  const text = `${issue.title}\n\n${issue.description ?? ''}`
  const source = { ...NO_SOURCE, source_issue_id: id, source_project_id: issue.project_id }
  await trackText(app, actor, subject, { source, text, name: issueName(subject, issue.iid), isReported: true })
}

async function trackNote(app: App, { id, by }: { id: number; by: number }): Promise<void> {
  const note = await app.db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst()
  const actor = await findUser(app.db, by)
  const subject = note && actor && (await findProjectSubject(app, String(note.project_id), actor))
  if (!subject) return // deleted meanwhile
  const [issue] = note.issue_id === null ? [] : await findIssues(app.db, [note.issue_id])
  const [request] = note.merge_request_id === null ? [] : await findMergeRequestRows(app.db, [note.merge_request_id])
  const source = {
    source_issue_id: note.issue_id,
    source_merge_request_id: note.merge_request_id,
    source_note_id: id,
    source_snippet_id: note.snippet_id,
    source_project_id: note.project_id,
    source_sha: note.commit_sha,
  }
  const name = issue
    ? issueName(subject, issue.iid)
    : request
      ? mergeRequestName(subject, request.iid)
      : note.snippet_id === null
        ? commitName(subject, note.commit_sha ?? '')
        : snippetName(subject, note.snippet_id)
  await trackText(app, actor, subject, { source, text: note.body, name, isReported: !note.internal })
}

const TEXTS = ['title', 'description']

export const trackNewIssue = on('issue.created', 'references', trackIssue)
export const trackChangedIssue = on('issue.updated', 'references', trackIssue, {
  when: ({ changes }) => TEXTS.some((field) => field in changes),
})
export const trackNewNote = on('note.created', 'references', trackNote)
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
    for (const { ref, before, after } of updates) {
      if (!ref.startsWith(BRANCH) || after === null) continue
      const not = before ? [before] : ref === main ? [] : [main]
      const commits = await listCommits(subject.dir, { from: after, not, limit: MOST_COMMITS })
      const telling = commits.filter(({ message }) => scanReferences(message).length > 0)
      // Commits that a fork shares with its origin are tracked there.
      const copied = await copiedFromSource(app, subject, telling)
      for (const commit of telling.toReversed())
        if (!copied.has(commit.id)) await trackCommit(app, actor, subject, commit, ref === main && !merging)
    }
  },
  { when: ({ wiki, by }) => !wiki && by !== null },
)

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
    const met = await findNamedIssue(app, actor, subject, one)
    // Commits of a fork do not close issues of the fork's origin.
    if (!met || !issuePolicy.update(met) || met.project.id === subject.project.forked_from_id) continue
    closed.add(met.issue.id)
    const via = { name: name(met.project.id === subject.project.id), project_id: subject.project.id }
    if (met.issue.state === 'opened') await updateIssue(app, actor, met, met.issue.id, { state_event: 'close' }, via)
  }
  const source = { ...NO_SOURCE, source_project_id: subject.project.id, source_sha: id }
  await trackText(app, actor, subject, { source, text: message, name, isReported: true, except: closed })
}
