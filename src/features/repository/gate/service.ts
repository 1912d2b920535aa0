/**
 * The gate every change of a ref passes, whoever makes it and however: a push over HTTP or SSH, the file API, a merge.
 * Before it, nothing has moved; behind it, everything that must be known of the change at once is known.
 */
import { HOUR, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { setHead } from '../../../git/repositories.ts'
import { NO_OBJECT, RefInTheWay, RefMoved, moveRefs } from '../../../git/update.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { recordActivity } from '../../identity/activities/service.ts'
import { tidySoon } from '../../projects/housekeeping/jobs.ts'
import { findPushRule } from '../../projects/push-rules/queries.ts'
import type { Namespace, Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import { protectDefaultBranch } from '../protected-branches/service.ts'
import { inspectSoon } from './jobs.ts'
import { pushRuleFault } from './push-rules.ts'
import { refFault } from './refs.ts'
import type { Pusher, Update } from './updates.ts'
import { branchOf, isNewTip } from './updates.ts'

export interface Place {
  readonly project: Project
  readonly namespace: Namespace
}

/** Why these updates are refused, all together; null if they are not. Objects may still be in quarantine. */
export async function updateFault(
  app: App,
  pusher: Pusher,
  { project }: Place,
  updates: readonly Update[],
  environment?: Readonly<Record<string, string>>,
): Promise<string | null> {
  const dir = repositoryDir(app, project)
  const fault = await refFault(app, pusher, project, updates, { dir, environment })
  if (fault || pusher.deployKeyId !== undefined) return fault
  const rule = await findPushRule(app.db, project.id)
  if (!rule) return null
  const branches = updates.filter(isNewTip).flatMap(({ ref, after }) => {
    const name = branchOf(ref)
    return name === null ? [] : [{ name, tip: after }]
  })
  if (rule.deny_delete_tag && pusher.via !== 'web' && updates.some(deletesTag)) return 'You cannot delete a tag'
  if (branches.length === 0) return null
  const incoming = { dir, pusher: pusher.user, defaultBranch: project.default_branch, branches, environment }
  return pushRuleFault(app, rule, incoming)
}

const deletesTag = ({ ref, after }: Update) => after === null && ref.startsWith('refs/tags/')

/**
 * Said before the refs move: whoever is killed between that and telling of it leaves a job that looks at the repository
 * and puts the project's row right.
 */
export async function expectChange(app: App, { project }: Place): Promise<void> {
  await inspectSoon(app, project)
}

/** For the API: asks, moves and tells. Whoever lost a race is told that the branch moved. */
export async function changeRefs(app: App, pusher: Pusher, place: Place, updates: readonly Update[]): Promise<void> {
  const fault = await updateFault(app, pusher, place, updates)
  if (fault) throw new Refusal('bad_request', fault)
  const dir = repositoryDir(app, place.project)
  await expectChange(app, place)
  try {
    await moveRefs(
      dir,
      updates.map(({ ref, before, after }) => ({ ref, before: before ?? NO_OBJECT, after: after ?? NO_OBJECT })),
    )
  } catch (error) {
    if (error instanceof RefMoved || error instanceof RefInTheWay) throw new Refusal('bad_request', movedText(updates))
    throw error
  }
  await refsMoved(app, pusher, place, updates, [])
}

const movedText = (updates: readonly Update[]) => {
  const name = branchOf(updates[0]!.ref)
  return name === null ? 'Failed to update ref' : `Could not update branch ${name}. Please refresh and try again.`
}

/** The refs have moved: what the project's row and everybody else must know of it. */
export async function refsMoved(
  app: App,
  pusher: Pusher,
  place: Place,
  updates: readonly Update[],
  options: readonly string[],
): Promise<void> {
  const { project } = place
  const first = project.empty_repo ? await giveFirstBranch(app, project, updates) : null
  await transact(app, async (app) => {
    const now = timestamp(app.clock)
    const isOld = Date.parse(project.last_activity_at) <= app.clock.now().getTime() - HOUR
    const { pushes_since_housekeeping: pushes } = await app.db
      .updateTable('projects')
      .set((eb) => ({
        pushes_since_housekeeping: eb('pushes_since_housekeeping', '+', 1),
        ...(isOld && { last_activity_at: now }),
        ...(first !== null && { empty_repo: false, default_branch: first }),
      }))
      .where('id', '=', project.id)
      .returning('pushes_since_housekeeping')
      .executeTakeFirstOrThrow()
    if (pushes >= PUSHES_TO_TIDY) await tidySoon(app, project)
    if (first !== null) await protectDefaultBranch(app, project, first)
    await inspectSoon(app, project)
    await emit(app, 'repository.changed', {
      project_id: project.id,
      wiki: false,
      by: pusher.user?.id ?? null,
      updates: updates.map(({ ref, before, after }) => ({ ref, before, after })),
      options: [...options],
    })
  })
  if (pusher.user) await recordActivity(app, pusher.user)
}

/** Each push leaves a pack of its own. */
const PUSHES_TO_TIDY = 50

/** The first branch that arrives becomes the default, unless the one HEAD names arrives with it. */
async function giveFirstBranch(app: App, project: Project, updates: readonly Update[]): Promise<string | null> {
  const branches = updates
    .filter(isNewTip)
    .map(({ ref }) => branchOf(ref))
    .filter((name) => name !== null)
  const first = branches.includes(project.default_branch) ? project.default_branch : branches[0]
  if (first === undefined) return null
  if (first !== project.default_branch) await setHead(repositoryDir(app, project), first)
  return first
}

export const webPusher = (user: User, level: number): Pusher => ({ user, level, via: 'web' })
