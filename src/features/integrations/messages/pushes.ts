import type { App } from '../../../context.ts'
import { changedFiles } from '../../../git/history/changed-files.ts'
import { countCommits, listCommits } from '../../../git/history/history.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { readObject } from '../../../git/objects/objects.ts'
import { parseTag } from '../../../git/objects/tags.ts'
import { isForPushes } from '../../../git/refs/namespaces.ts'
import { NO_OBJECT } from '../../../git/refs/update.ts'
import type { Events } from '../../../store/database.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { branchOf, tagOf, type Update } from '../../repository/gate/updates.ts'
import { isProtected } from '../../repository/protected-branches/matching.ts'
import { findProtection } from '../../repository/protected-branches/queries.ts'
import { askGit, type RepositoryContext } from './commits.ts'
import { source, instanceMessage, projectMessage, type Complete, type Subscription } from './message.ts'
import { hookPushOptions } from './push-options.ts'
import {
  hookCommit,
  hookProject,
  hookUserById,
  longRepository,
  findProjectInNamespace,
  type ProjectInNamespace,
} from './shared.ts'

const SWITCHES = ['push_events', 'tag_push_events', 'repository_update_events'] as const

type Pushed = Events['repository.changed']

const MOST_COMMITS = 20
/** The maximum number of refs in one message. */
const MOST_CHANGES = 1_000
const FILE_LIMITS = { files: 1_000, bytes: 100 * 1024 }
const LARGEST_TAG = 64 * 1024

async function pushMessages(
  app: App,
  pushed: Pushed,
  subscriptions: ReadonlySet<Subscription>,
): Promise<EventMessage[]> {
  const updates = pushed.wiki ? [] : pushed.updates.filter(({ ref }) => isForPushes(ref))
  const at = updates.length === 0 ? null : await findProjectInNamespace(app, pushed.project_id)
  if (!at) return []
  const { push_event_hooks_limit: most } = await currentSettings(app)
  const shared = await sharedBody(app, at, pushed)
  return [
    ...(subscriptions.has('push_events')
      ? await branchMessages(app, at, pushed, few(updates, branchOf, most), shared)
      : []),
    ...(subscriptions.has('tag_push_events') ? await tagMessages(app, at, few(updates, tagOf, most), shared) : []),
    ...(subscriptions.has('repository_update_events') ? [updateMessage(updates, shared)] : []),
  ]
}

type NamedRecord = Update & { readonly name: string }

/** If one push creates, changes or deletes more than `most` refs, these refs get no messages of their own. */
function few(updates: readonly Update[], nameOf: (ref: string) => string | null, most: number): NamedRecord[] {
  const named = updates.flatMap((update) => {
    const name = nameOf(update.ref)
    return name === null ? [] : [{ ...update, name }]
  })
  const groups = Map.groupBy(named, ({ before, after }) => `${before === null} ${after === null}`)
  return [...groups.values()].filter((group) => group.length <= most).flat()
}

type Shared = Awaited<ReturnType<typeof sharedBody>>

async function sharedBody(app: App, at: ProjectInNamespace, { by, options }: Pushed) {
  const user = await hookUserById(app, by)
  return {
    user_id: user?.id ?? null,
    user_name: user?.name ?? null,
    user_username: user?.username ?? null,
    user_email: user?.email ?? null,
    user_avatar: user?.avatar_url ?? null,
    project_id: at.project.id,
    project: hookProject(app, at),
    repository: longRepository(app, at),
    push_options: hookPushOptions(options),
  }
}

const refBody = (kind: 'push' | 'tag_push', { ref, before, after }: Update, isGuarded: boolean) => ({
  object_kind: kind,
  event_name: kind,
  before: before ?? NO_OBJECT,
  after: after ?? NO_OBJECT,
  ref,
  ref_protected: isGuarded,
  checkout_sha: after,
  message: null,
})

const NO_COMMITS = { commits: [], total_commits_count: 0 }

async function branchMessages(
  app: App,
  { project }: ProjectInNamespace,
  { default_sha }: Pushed,
  updates: readonly NamedRecord[],
  shared: Shared,
): Promise<EventMessage[]> {
  if (updates.length === 0) return []
  const rules = await findProtection(app.db, project.id, 'branch')
  return updates.map((update) => {
    const { name, before, after } = update
    const isNew = before === null && name !== project.default_branch
    const base = isNew ? default_sha : (before ?? undefined)
    return projectMessage({
      kind: 'push',
      switch: 'push_events',
      project_id: project.id,
      ref: name,
      to_system: true,
      complete: after === null,
      body: {
        ...refBody('push', update, isProtected(rules, name)),
        ...shared,
        ...NO_COMMITS,
        ...(base && after && { base }),
      },
    })
  })
}

async function tagMessages(
  app: App,
  { project }: ProjectInNamespace,
  updates: readonly NamedRecord[],
  shared: Shared,
): Promise<EventMessage[]> {
  if (updates.length === 0) return []
  const rules = await findProtection(app.db, project.id, 'tag')
  return updates.flatMap((update) => {
    const body = { ...refBody('tag_push', update, isProtected(rules, update.name)), ...shared, ...NO_COMMITS }
    const { id: project_id } = project
    const message = { kind: 'tag_push', switch: 'tag_push_events', project_id, complete: false } as const
    return [
      projectMessage({ ...message, body }),
      // System hooks do not receive the message of the tag.
      { ...instanceMessage(message.kind, { ...body, message: '' }, message.switch), project_id, complete: false },
    ]
  })
}

/** One message per push, however many refs it moved. */
function updateMessage(updates: readonly Update[], shared: Shared): EventMessage {
  const changes = updates.slice(0, MOST_CHANGES)
  const body = {
    event_name: 'repository_update',
    user_id: shared.user_id,
    user_name: shared.user_name,
    user_email: shared.user_email,
    user_avatar: shared.user_avatar,
    project_id: shared.project_id,
    project: shared.project,
    changes: changes.map(({ ref, before, after }) => ({ before: before ?? NO_OBJECT, after: after ?? NO_OBJECT, ref })),
    refs: [...new Set(changes.map(({ ref }) => ref))],
    total_changes_count: updates.length,
  }
  return instanceMessage('repository_update', body, 'repository_update_events')
}

interface PushBody {
  readonly before: string
  readonly after: string
  /** The commit to compare with, until the message is completed. */
  readonly base?: string
  readonly message: string | null
}

export const completePush: Complete = async (app, { project_id, body }) => {
  const { base, ...rest } = body as PushBody
  const commits = await askGit(app, project_id, (context) => pushedSince(context, rest.after, base), NO_COMMITS)
  return { ...rest, ...commits }
}

async function pushedSince({ dir, webUrl }: RepositoryContext, after: string, base: string | undefined) {
  const input = { from: after, not: base === undefined ? [] : [base] }
  const commits = await listCommits(dir, { ...input, limit: MOST_COMMITS })
  const files = await changedFiles(dir, commits, FILE_LIMITS)
  return {
    commits: commits.toReversed().map((commit) => ({ ...hookCommit(commit, webUrl), ...files.get(commit.id) })),
    total_commits_count: commits.length < MOST_COMMITS ? commits.length : await countCommits(dir, input),
  }
}

export const completeTagPush: Complete = async (app, { project_id, body }) => {
  const { before, after, message } = body as PushBody
  const find = (context: RepositoryContext) =>
    after === NO_OBJECT ? taggedBefore(context, before) : taggedBy(context, after, message === '')
  const found = await askGit<object>(app, project_id, find, {})
  return { ...body, ...found }
}

/** For a deleted tag, `before` is the tagged commit. */
async function taggedBefore({ dir }: RepositoryContext, before: string) {
  const [commit] = await findCommits(dir, [before])
  return { before: commit?.id ?? before }
}

async function taggedBy({ dir, webUrl }: RepositoryContext, id: string, isForInstance: boolean) {
  const object = await readObject(dir, id, { maxBytes: LARGEST_TAG })
  const [commit] = await findCommits(dir, [id])
  const checkout_sha = commit?.id ?? null
  if (isForInstance) return { checkout_sha }
  const files = commit ? await changedFiles(dir, [commit], FILE_LIMITS) : null
  return {
    checkout_sha,
    message: object?.type === 'tag' && object.content ? parseTag(object.content).message : null,
    commits: commit ? [{ ...hookCommit(commit, webUrl), ...files?.get(commit.id) }] : [],
    total_commits_count: commit ? 1 : 0,
  }
}

export const pushSources = [source('repository.changed', SWITCHES, pushMessages)]
