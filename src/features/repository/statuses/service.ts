import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, invalid, notFound, type FieldErrors } from '../../../errors.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { containingRefs } from '../../../git/refs/refs.ts'
import { holdName } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import type { CommitStatus } from './entity.ts'

type State = CommitStatus['status']

export interface StatusWish {
  readonly state: State
  readonly ref?: string | null | undefined
  readonly name?: string | null | undefined
  readonly context?: string | null | undefined
  readonly target_url?: string | null | undefined
  readonly description?: string | null | undefined
  readonly coverage?: number | null | undefined
}

/** Tools report again and again: what is still open goes on, what has ended gives way to a new one. */
export async function reportStatus(
  app: App,
  author: User,
  subject: RepositorySubject,
  commit: Commit,
  wish: StatusWish,
): Promise<CommitStatus> {
  assertValid(wish)
  const ref = wish.ref || (await firstBranchWith(subject, commit))
  const place = { project_id: subject.project.id, sha: commit.id, ref, name: nameFrom(wish) }
  return transact(app, async (app) => {
    await holdName(app.db, `status ${Object.values(place).join(' ')}`)
    const status = await writeStatus(app, author, place, wish)
    await emit(app, 'commit.status_changed', { id: status.id })
    return status
  })
}

type Place = Pick<CommitStatus, 'project_id' | 'sha' | 'ref' | 'name'>

const nameFrom = ({ name, context }: StatusWish) => name || context || 'default'

async function firstBranchWith({ dir }: RepositorySubject, { id }: Commit): Promise<string> {
  const [first] = await containingRefs(dir, id, 'branch')
  if (!first) throw notFound('References for commit')
  return first.name
}

async function writeStatus(app: App, author: User, place: Place, wish: StatusWish): Promise<CommitStatus> {
  const known = await latestOf(app, place)
  const open = known.find(({ status, author_id }) => author_id === author.id && isOpen(status))
  if (open) return changeStatus(app, open, wish)
  const ids = known.map(({ id }) => id)
  if (ids.length > 0) {
    await app.db.updateTable('commit_statuses').set({ retried: true }).where('id', 'in', ids).execute()
  }
  const now = timestamp(app.clock)
  return app.db
    .insertInto('commit_statuses')
    .values({
      ...place,
      stage: 'external',
      status: wish.state,
      target_url: wish.target_url || null,
      description: wish.description ?? null,
      coverage: wish.coverage ?? null,
      allow_failure: false,
      retried: false,
      author_id: author.id,
      created_at: now,
      started_at: wish.state === 'running' ? now : null,
      finished_at: isOpen(wish.state) ? null : now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

const isOpen = (state: State) => state === 'pending' || state === 'running'

const latestOf = (app: App, { project_id, sha, ref, name }: Place) =>
  app.db
    .selectFrom('commit_statuses')
    .selectAll()
    .where('project_id', '=', project_id)
    .where('sha', '=', sha)
    .where('ref', '=', ref)
    .where('name', '=', name)
    .where('retried', '=', false)
    .execute()

const EVENTS: Record<State, string> = {
  pending: 'enqueue',
  running: 'run',
  success: 'success',
  failed: 'drop',
  canceled: 'cancel',
  skipped: 'skip',
}

async function changeStatus(app: App, known: CommitStatus, wish: StatusWish): Promise<CommitStatus> {
  const event = EVENTS[wish.state]
  const isOnward = wish.state === 'running' ? known.status === 'pending' : wish.state !== 'pending'
  // Clients know by this very text that they have said so already.
  if (!isOnward) {
    const text = `Cannot transition status via :${event} from :${known.status} (Reason(s): Status cannot transition via "${event}")`
    throw new Refusal('bad_request', text)
  }
  const now = timestamp(app.clock)
  return app.db
    .updateTable('commit_statuses')
    .set({
      status: wish.state,
      target_url: wish.target_url || known.target_url,
      description: wish.description ?? known.description,
      coverage: wish.coverage ?? known.coverage,
      ...(isOpen(wish.state) ? { started_at: now } : { finished_at: now }),
    })
    .where('id', '=', known.id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

const LONGEST = 255
const TOO_LONG = `is too long (maximum is ${LONGEST} characters)`

function assertValid(wish: StatusWish): void {
  const { target_url: url, description, ref } = wish
  const faults: FieldErrors = {}
  if (nameFrom(wish).length > LONGEST) faults.name = [TOO_LONG]
  if ((ref ?? '').length > LONGEST) faults.ref = [TOO_LONG]
  if ((description ?? '').length > LONGEST) faults.description = [TOO_LONG]
  if (url && url.length > LONGEST) faults.target_url = [TOO_LONG]
  else if (url && !isWebAddress(url)) faults.target_url = ['must be a valid URL']
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text)
}
