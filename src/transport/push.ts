/** The steps of a push over any protocol: the gate before its refs move, and the event after. */
import { outageOf } from '../api/answers.ts'
import type { App } from '../context.ts'
import { isMergeRequestOption } from '../features/merge-requests/pushes/options.ts'
import { dropChange, expectChange, type Change } from '../features/repository/gate/changes.ts'
import { refsMoved, updateFault } from '../features/repository/gate/service.ts'
import { linkLines } from '../features/merge-requests/pushes/links.ts'
import { addresses } from '../features/projects/projects/load.ts'
import type { Pusher, Update } from '../features/repository/gate/updates.ts'
import { currentSettings } from '../features/instance/settings/queries.ts'
import { receivePack, type Push, type ReceiveOptions } from '../git/push/receive.ts'
import { NO_OBJECT, type RefUpdate } from '../git/refs/update.ts'
import { denialOf, reloadFacts, NO_PROJECT, type Facts } from './access.ts'
import { announcement } from './announcement.ts'
import type { RepositoryLocation } from './locations.ts'

const idOrNull = (id: string) => (id === NO_OBJECT ? null : id)

const updateOf = ({ ref, before, after }: RefUpdate): Update => ({
  ref,
  before: idOrNull(before),
  after: idOrNull(after),
})

function pusherOf({ principal, subject, over }: Facts): Pusher {
  return {
    user: principal.user,
    level: subject.level,
    ...(principal.deployKeyId !== undefined && { deployKeyId: principal.deployKeyId }),
    via: over === 'ssh' ? 'ssh' : 'http',
  }
}

interface Admitted {
  readonly location: RepositoryLocation
  readonly pusher: Pusher
  readonly change: Change
}

const MB = 1024 * 1024

/**
 * Receives a push. Jobs and deliveries that it orders start after the report, because the client waits for nothing of
 * them, and they would take the processor from what it waits for.
 */
export async function receivePush(
  app: App,
  facts: Facts,
  repository: RepositoryLocation,
  dir: string,
  exchange: Pick<ReceiveOptions, 'input' | 'size' | 'output' | 'stateless' | 'protocol'>,
): Promise<void> {
  let isWorkDue = false
  const patient = { ...app, jobs: { wake: () => void (isWorkDue = true) } }
  try {
    await receivePack(dir, { ...exchange, ...(await pushOptionsFor(patient, facts, repository)) })
  } finally {
    if (isWorkDue) app.jobs.wake()
  }
}

async function pushOptionsFor(
  app: App,
  facts: Facts,
  repository: RepositoryLocation,
): Promise<Pick<ReceiveOptions, 'gate' | 'afterwards' | 'explain' | 'limits'>> {
  const { receive_max_input_size: most } = await currentSettings(app)
  let admitted: Admitted | undefined
  return {
    limits: most ? { packBytes: most * MB } : {},
    async gate(push: Push) {
      const verdict = await judge(app, facts, repository, push)
      if ('refuse' in verdict) return { refuse: `Mortise: ${verdict.refuse}` }
      admitted = verdict
      return { messages: [] }
    },
    async afterwards(moved) {
      const { location, pusher, change } = admitted!
      const updates = moved.map(updateOf)
      if (updates.length === 0) return void (await dropChange(app, change))
      const lines = await refsMoved(app, pusher, change, updates)
      if (location.wiki) return
      return {
        messages: [
          ...(await announcement(app)),
          ...movedNotice(app, pusher, location),
          ...lines,
          ...(await linkLines(app, location, updates)),
        ],
      }
    },
    explain: (failure) => outageOf(failure)?.message ?? null,
  }
}

/** Checks access again, because receiving a pack may take hours. */
async function judge(
  app: App,
  before: Facts,
  repository: RepositoryLocation,
  { updates: refUpdates, options, environment, pack }: Push,
): Promise<Admitted | { refuse: string }> {
  const current = await reloadFacts(app, before, repository)
  if (!current) return { refuse: NO_PROJECT }
  const denial = denialOf(current.facts)
  if (denial) return { refuse: denial.message }
  const { location } = current
  const pusher = pusherOf(current.facts)
  const updates = refUpdates.map(updateOf)
  const fault = location.wiki ? null : await updateFault(app, pusher, location, updates, { environment, pack })
  if (fault !== null) return { refuse: fault }
  const change = await expectChange(app, pusher, {
    ...location,
    updates,
    options: optionsOf(pusher, location, options),
  })
  return { location, pusher, change }
}

/**
 * Ignores merge request options of deploy keys: the merge requests would be created and merged with all rights of the
 * user who added the key.
 */
function optionsOf(
  { deployKeyId }: Pusher,
  { wiki }: RepositoryLocation,
  options: readonly string[],
): readonly string[] {
  if (wiki) return []
  return deployKeyId === undefined ? options : options.filter((option) => !isMergeRequestOption(option))
}

/** Tells a client that pushes to an old path the new path. */
function movedNotice(app: App, { via }: Pusher, { movedFrom, project, namespace }: RepositoryLocation): string[] {
  if (movedFrom === undefined) return []
  const { url, ssh } = addresses(app)
  const address = `${via === 'ssh' ? ssh : `${url}/`}${namespace.full_path}/${project.path}.git`
  return [
    '',
    `Project '${movedFrom}' was moved to '${namespace.full_path}/${project.path}'.`,
    '',
    'Please update your Git remote:',
    '',
    `  git remote set-url origin ${address}`,
    '',
  ]
}
