/**
 * The gate: every change of a ref passes these checks, whether by a push over HTTP or SSH, the file API or a merge.
 * Before the gate nothing has moved. After it, the change is published.
 */
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { NO_OBJECT, RefInTheWay, RefMoved, moveRefs } from '../../../git/refs/update.ts'
import { recordActivity } from '../../identity/activities/service.ts'
import { findPushRule } from '../../projects/push-rules/queries.ts'
import type { Namespace, Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { dropChange, expectChange, recordChange, type Change, type Expected } from './changes.ts'
import { incomingOf, type Incoming, type Origin } from './incoming.ts'
import { largeFileFault } from './large-files.ts'
import { pushRuleFault } from './push-rules.ts'
import { refFault } from './refs.ts'
import { branchOf, tagOf, type Pusher, type Update } from './updates.ts'

export interface PushTarget {
  readonly project: Project
  readonly namespace: Namespace
}

/** The reason to reject these updates together, or null. The objects may still be in quarantine. */
export async function updateFault(
  app: App,
  pusher: Pusher,
  { project }: PushTarget,
  updates: readonly Update[],
  origin: Origin = {},
): Promise<string | null> {
  const incoming = incomingOf(repositoryDir(app, project), updates, origin)
  return (
    (await refFault(app, pusher, project, updates, incoming)) ??
    (await largeFileFault(app, pusher, project, incoming)) ??
    ruleFault(app, pusher, project, updates, incoming)
  )
}

async function ruleFault(
  app: App,
  pusher: Pusher,
  project: Project,
  updates: readonly Update[],
  incoming: Incoming,
): Promise<string | null> {
  // Deploy keys belong to machines, so push rules do not apply to them.
  if (pusher.deployKeyId !== undefined) return null
  const rule = await findPushRule(app.db, project.id)
  if (!rule) return null
  if (rule.deny_delete_tag && pusher.via !== 'web' && updates.some(deletesTag)) return 'You cannot delete a tag'
  return pushRuleFault(app, rule, { pusher: pusher.user, defaultBranch: project.default_branch, ...incoming })
}

const deletesTag = ({ ref, after }: Update) => after === null && ref.startsWith('refs/tags/')

/** For the API: checks, moves and publishes. */
export async function changeRefs(
  app: App,
  pusher: Pusher,
  target: PushTarget,
  updates: readonly Update[],
  { pointers, ...facts }: Pick<Origin, 'pointers'> & Pick<Expected, 'unsigned' | 'undoes'> = {},
): Promise<void> {
  const fault = await updateFault(app, pusher, target, updates, { pointers })
  if (fault) throw new Refusal('bad_request', fault)
  const { project } = target
  await landUpdates(app, pusher, repositoryDir(app, project), { project, updates, ...facts })
}

/** A concurrent change moved a ref. */
export class Overtaken extends Refusal {}

/** Applies all updates or none. The updates have passed the checks. */
export async function landUpdates(app: App, pusher: Pusher, dir: string, expected: Expected): Promise<void> {
  await moveExpected(app, pusher, dir, await expectChange(app, pusher, expected), expected.updates)
}

/** The same for a change that is already recorded. */
export async function moveExpected(
  app: App,
  pusher: Pusher,
  dir: string,
  change: Change,
  updates: readonly Update[],
): Promise<void> {
  try {
    await moveRefs(
      dir,
      updates.map(({ ref, before, after }) => ({ ref, before: before ?? NO_OBJECT, after: after ?? NO_OBJECT })),
    )
  } catch (error) {
    // After any other failure it is unknown whether the refs moved.
    if (!(error instanceof RefMoved || error instanceof RefInTheWay)) throw error
    await dropChange(app, change)
    if (error instanceof RefMoved) throw new Overtaken('bad_request', movedText(updates[0]!))
    throw new Refusal('bad_request', inTheWayText(updates[0]!))
  }
  await refsMoved(app, pusher, change, updates)
}

/** A caller that tries to create a ref that was just created gets the error that it would get a moment later. */
function movedText(update: Update): string {
  const { ref, before } = update
  if (before !== null) return inTheWayText(update)
  return branchOf(ref) === null ? `Tag ${tagOf(ref)} already exists` : 'Branch already exists'
}

function inTheWayText({ ref }: Update): string {
  const name = branchOf(ref)
  return name === null ? 'Failed to update ref' : `Could not update branch ${name}. Please refresh and try again.`
}

/** All or some of the expected refs have moved: publishes the change. */
export async function refsMoved(
  app: App,
  pusher: Pusher,
  change: Change,
  moved: readonly Update[],
): Promise<readonly string[]> {
  // Goes to the disk during the follow-up work. Until it is there, the pending change is, which leads to the same.
  await recordChange({ ...app, db: app.store.early }, change, moved)
  if (pusher.user) await recordActivity(app, pusher.user)
  const lines = change.wiki ? [] : await followUp(app, change, moved)
  await app.store.flushed()
  return lines
}

/** Runs the follow-up work of other contexts. The refs have moved in any case, and the event retries failed work. */
async function followUp(
  app: App,
  { project, by, options }: Change,
  updates: readonly Update[],
): Promise<readonly string[]> {
  const lines: string[] = []
  for (const afterPush of app.afterPushes) {
    try {
      lines.push(...((await afterPush(app, { project, by, updates, options })) ?? []))
    } catch (error) {
      app.log.error({ err: error, project: project.id }, 'what follows a push failed')
    }
  }
  return lines
}

export const webPusher = (user: User, level: number): Pusher => ({ user, level, via: 'web' })
