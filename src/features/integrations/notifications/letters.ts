/** The content of notification mails. */
import type { App, User } from '../../../context.ts'
import { listCommits } from '../../../git/history/history.ts'
import { oneLine } from '../../../mail/compose.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { findUser } from '../../identity/users/queries.ts'
import type { Note } from '../../planning/notes/model.ts'
import type { Position } from '../../planning/notes/positions.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { Item } from './items.ts'
import type { Change, Facts, Kind, Notification } from './model.ts'
import * as t from './texts.ts'

export interface Letter {
  readonly author: User | null
  /** One sentence. */
  readonly opening: string
  /** Markdown texts by users, each with an introduction. */
  readonly texts: readonly { readonly before: string | null; readonly markdown: string }[]
  readonly lines: readonly string[]
  readonly url: string
  readonly subject: string
  readonly id: string
  /** The ids of earlier mails in the thread, the nearest last. */
  readonly after: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  /** Only for users who may see internal notes. */
  readonly internal: boolean
}

const MOST_NAME = 100
const MOST_LINE = 300
const MOST_COMMITS = 20
const MOST_JOBS = 20
/** Longer texts are cut: the recipient reads them on the page. */
const MOST_TEXT = 10_000

const nameOf = (user: User | null) => (user ? oneLine(user.name, MOST_NAME) : t.someone)

type PipelineKind = keyof typeof t.pipelineSubjects
const isOfPipeline = (kind: Kind): kind is PipelineKind => kind in t.pipelineSubjects

const FIRST: readonly Kind[] = ['new_issue', 'new_merge_request', 'new_release', 'moved_project']

/** Null if the content no longer exists. */
export async function writeLetter(app: App, event: Notification, item: Item): Promise<Letter | null> {
  const facts = JSON.parse(event.facts) as Facts
  const author = event.by_id === null ? null : await findUser(app.db, event.by_id)
  const message = facts.notes
    ? await writeSystemNotes(app, item, nameOf(author), facts.notes)
    : await tell(app, event.kind, item, nameOf(author), facts)
  if (!message) return null
  const { thread } = item
  const isFirst = FIRST.includes(event.kind) || isOfPipeline(event.kind)
  const start = isOfPipeline(event.kind) ? `${t.pipelineSubjects[event.kind]} ` : ''
  return {
    author,
    opening: message.opening,
    texts: (message.texts ?? []).filter(({ markdown }) => markdown.trim() !== '').map(bounded(message.url ?? item.url)),
    lines: (message.lines ?? []).map((line) => oneLine(line, MOST_LINE)),
    url: message.url ?? item.url,
    subject: `${isFirst ? '' : t.reply}${item.project.name} | ${start}${item.title}`,
    id: message.id ?? (isFirst ? thread : `${thread}_${event.id}`),
    after: isFirst ? [] : [thread, ...(message.after ?? [])],
    headers: { ...item.headers, ...message.headers },
    internal: message.internal ?? false,
  }
}

interface Payload {
  readonly opening: string
  readonly texts?: Letter['texts']
  readonly lines?: readonly string[]
  readonly url?: string
  readonly id?: string
  readonly after?: readonly string[]
  readonly headers?: Record<string, string>
  readonly internal?: boolean
}

const bounded =
  (url: string) =>
  ({ before, markdown }: Letter['texts'][number]): Letter['texts'][number] => ({
    before,
    markdown: markdown.length > MOST_TEXT ? `${markdown.slice(0, MOST_TEXT)}…\n\n${t.truncated(url)}` : markdown,
  })

async function tell(app: App, kind: Kind, item: Item, name: string, facts: Facts): Promise<Payload | null> {
  const { about } = item
  const what = 'issue' in about ? t.issue : t.mergeRequest
  switch (kind) {
    case 'new_issue':
    case 'new_merge_request': {
      const row = 'issue' in about ? about.issue : 'mergeRequest' in about ? about.mergeRequest : null
      if (!row) return null
      const branches =
        'mergeRequest' in about ? [t.branches(about.mergeRequest.source_branch, about.mergeRequest.target_branch)] : []
      return {
        opening: kind === 'new_issue' ? t.createdIssue(name) : t.createdMergeRequest(name),
        texts: [{ before: null, markdown: row.description ?? '' }],
        lines: [...branches, ...(await peopleLines(app, facts))],
      }
    }
    case 'change_issue':
    case 'change_merge_request': {
      const row = 'issue' in about ? about.issue : 'mergeRequest' in about ? about.mergeRequest : null
      const lines = [...(await peopleLines(app, facts)), ...(await labelLines(app, facts.labels ?? []))]
      // A recipient newly mentioned in the description gets the description.
      const isNamed = lines.length === 0
      return {
        opening: isNamed ? t.mentionedYou(name, what) : t.updated(name, what),
        texts: isNamed ? [{ before: null, markdown: row?.description ?? '' }] : [],
        lines,
      }
    }
    case 'close_issue':
    case 'close_merge_request':
      return { opening: t.closed(name, what) }
    case 'reopen_issue':
    case 'reopen_merge_request':
      return { opening: t.reopened(name, what) }
    case 'merge_merge_request':
      return 'mergeRequest' in about ? { opening: t.merged(name, about.mergeRequest.target_branch) } : null
    case 'approve_merge_request':
      return { opening: t.approved(name) }
    case 'unapprove_merge_request':
      return { opening: t.unapproved(name) }
    case 'merge_when_pipeline_succeeds':
      return { opening: t.autoMergeEnabled(name) }
    case 'unmergeable':
      return {
        opening: t.unmergeable,
        lines: 'mergeRequest' in about && about.mergeRequest.merge_error ? [about.mergeRequest.merge_error] : [],
      }
    case 'push_to_merge_request':
      return sendPush(app, item, name, facts)
    case 'move_issue':
      return {
        opening: t.movedIssue(name, pathWithNamespace(item.project, item.namespace)),
        after: [`issue_${facts.from}`],
      }
    case 'issue_due':
      return 'issue' in about && about.issue.due_date
        ? {
            opening: t.issueDue(about.issue.due_date),
            texts: [{ before: null, markdown: about.issue.description ?? '' }],
          }
        : null
    case 'new_release':
      return 'release' in about
        ? {
            opening: t.released(name, oneLine(about.release.name ?? about.release.tag, MOST_LINE)),
            texts: [{ before: null, markdown: about.release.description ?? '' }],
            lines: [t.tag(about.release.tag)],
          }
        : null
    case 'moved_project':
      return {
        opening: t.movedProject(name, oneLine(facts.old_path ?? '', MOST_LINE)),
        lines: [t.newPath(pathWithNamespace(item.project, item.namespace))],
      }
    case 'failed_pipeline':
    case 'fixed_pipeline':
    case 'success_pipeline':
      return sendPipeline(app, kind, item)
    default:
      return null
  }
}

async function writeSystemNotes(app: App, item: Item, name: string, ids: readonly number[]): Promise<Payload | null> {
  const found = await app.db
    .selectFrom('notes')
    .selectAll()
    .where(inIdList(app.db, 'id', idList(app.db, ids)))
    .orderBy('id')
    .execute()
  const [first] = found
  if (!first) return null
  const [start] = await app.db
    .selectFrom('notes')
    .select('id')
    .where('discussion_id', '=', first.discussion_id)
    .orderBy('id')
    .limit(1)
    .execute()
  const isAnswer = found.length === 1 && start !== undefined && start.id !== first.id
  return {
    opening: found.length === 1 ? t.commented(name) : t.reviewed(name),
    texts: found.map((note) => ({ before: locationOf(note), markdown: note.body })),
    url: `${item.url}#note_${first.id}`,
    id: `note_${first.id}`,
    after: isAnswer ? [`note_${start.id}`] : [],
    headers: { 'X-GitLab-Discussion-ID': first.discussion_id },
    internal: found.some(({ internal }) => internal),
  }
}

/** The file and line of a note in a diff. */
function locationOf({ position }: Note): string | null {
  if (position === null) return null
  const { new_path, old_path, new_line, old_line } = JSON.parse(position) as Position
  const line = new_line ?? old_line
  const path = String(new_path ?? old_path)
  return oneLine(line ? t.onLine(path, line) : t.onFile(path), MOST_LINE)
}

async function sendPush(app: App, item: Item, name: string, { before, after }: Facts): Promise<Payload | null> {
  if (!('mergeRequest' in item.about) || !after) return null
  const { base_sha } = item.about.mergeRequest
  const not = [before, base_sha].filter((sha) => typeof sha === 'string')
  const dir = repositoryDir(app, item.project)
  const commits = await listCommits(dir, { from: after, not, limit: MOST_COMMITS + 1 })
  const more = commits.length > MOST_COMMITS ? [t.andMore] : []
  return {
    opening: t.pushed(name),
    lines: [...commits.slice(0, MOST_COMMITS).map(({ id, title }) => `${id.slice(0, 8)} ${title}`), ...more],
  }
}

async function sendPipeline(app: App, kind: PipelineKind, item: Item): Promise<Payload | null> {
  if (!('pipeline' in item.about)) return null
  const { pipeline } = item.about
  const failed =
    kind === 'failed_pipeline'
      ? await app.db
          .selectFrom('ci_jobs')
          .select(['name', 'stage'])
          .where('pipeline_id', '=', pipeline.id)
          .where('status', '=', 'failed')
          .where('allow_failure', '=', false)
          .orderBy('id')
          .limit(MOST_JOBS)
          .execute()
      : []
  return {
    opening: t.pipelineEnded(pipeline.id, oneLine(pipeline.ref, MOST_LINE), t.pipelineResults[kind]),
    lines: [t.commit(pipeline.sha), ...failed.map(({ stage, name }) => t.failedJob(name, stage))],
    id: `${item.thread}_${kind}`,
  }
}

async function peopleLines(app: App, { assignees, reviewers }: Facts): Promise<string[]> {
  const changes: (readonly [string, Change | undefined])[] = [
    [t.assignees, assignees],
    [t.reviewers, reviewers],
  ]
  const ids = changes.flatMap(([, change]) => change?.flat() ?? [])
  if (ids.length === 0) return []
  const { db } = app
  const users = await db
    .selectFrom('users')
    .select(['id', 'name'])
    .where(inIdList(db, 'id', idList(db, ids)))
    .execute()
  const names = (some: readonly number[]) =>
    some.flatMap((id) => users.find((user) => user.id === id)?.name ?? []).join(', ') || t.none
  return changes.flatMap(([what, change]) => {
    if (!change) return []
    const [before, after] = change
    return before.length === 0 ? [t.people(what, names(after))] : [t.peopleChanged(what, names(after), names(before))]
  })
}

async function labelLines({ db }: App, labels: readonly number[]): Promise<string[]> {
  if (labels.length === 0) return []
  const found = await db
    .selectFrom('labels')
    .select('title')
    .where(inIdList(db, 'id', idList(db, labels)))
    .execute()
  return found.length === 0 ? [] : [t.newLabels(found.map(({ title }) => title).join(', '))]
}
