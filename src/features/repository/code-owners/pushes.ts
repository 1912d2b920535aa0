/** On branches that require code owner approval, owned files change only through merge requests. */
import type { App, User } from '../../../context.ts'
import { mergeBase } from '../../../git/history/history.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import type { Project } from '../../projects/projects/queries.ts'
import type { Incoming } from '../gate/incoming.ts'
import type { Pusher, Update } from '../gate/updates.ts'
import { matches, type LoadedRule } from '../protected-branches/matching.ts'
import { findOwnersFile, ownedIn, ownersOf, type OwnerRule } from './owners.ts'

/** The maximum number of listed patterns. */
const MOST_NAMED = 20

interface Change extends Update {
  /** The name of the branch. */
  readonly name: string
}

type Who = Pusher & { readonly groups: readonly number[] }

/**
 * The reason why a direct push to a branch is rejected, or null. Administrators, and users, groups and keys that the
 * branch rules name, need no owner. Other users may push changes to files that they own.
 */
export async function ownerFault(
  app: App,
  who: Who,
  project: Project,
  change: Change,
  rules: readonly LoadedRule[],
  incoming: Incoming,
): Promise<string | null> {
  const matching = rules.filter((rule) => matches(rule.name, change.name))
  if (!matching.some((rule) => rule.code_owner_approval_required)) return null
  if (who.merging || who.user?.admin || isNamed(matching, who)) return null
  const owned = await ownedBy(app, project, change, incoming)
  const barring = who.user ? await notOf(app, who.user, owned) : owned
  return barring.length === 0 ? null : refusal(barring)
}

const isNamed = (rules: readonly LoadedRule[], { user, deployKeyId, groups }: Who): boolean =>
  rules
    .flatMap(({ allowances }) => allowances)
    .filter(({ ability }) => ability === 'push')
    .some(({ user_id, group_id, deploy_key_id }) => {
      if (deployKeyId !== undefined) return deploy_key_id === deployKeyId
      return (user_id !== null && user_id === user?.id) || (group_id !== null && groups.includes(group_id))
    })

/**
 * Uses the `CODEOWNERS` of the branch before the push. A new branch uses the file of the default branch, and its
 * changes count from the merge base.
 */
async function ownedBy(
  { db }: App,
  project: Project,
  { before, after }: Change,
  { dir, environment }: Incoming,
): Promise<OwnerRule[]> {
  if (after === null) return []
  const usual = before ?? (await resolveRef(dir, `refs/heads/${project.default_branch}`))
  if (usual === null) return []
  const base = before ?? (await mergeBase(dir, [usual, after], { environment }))
  const file = await findOwnersFile(dir, usual)
  if (file === null) return []
  const ends = { base_sha: base ?? usual, head_sha: after }
  const rules = await ownersOf(db, await ownedIn(dir, file, ends, { environment }))
  return rules.filter(({ approvals_required }) => approvals_required > 0)
}

/** Direct members of an owning group are owners. */
async function notOf({ db }: App, { id }: User, owned: readonly OwnerRule[]): Promise<OwnerRule[]> {
  const named = [...new Set(owned.flatMap(({ groups }) => groups))]
  const rows =
    named.length === 0
      ? []
      : await db
          .selectFrom('members')
          .select('group_id')
          .where('user_id', '=', id)
          .where(inIdList(db, 'group_id', idList(db, named)))
          .execute()
  const own = new Set(rows.map(({ group_id }) => group_id))
  return owned.filter(({ users, groups }) => !users.includes(id) && !groups.some((group) => own.has(group)))
}

const refusal = (owned: readonly OwnerRule[]) =>
  [
    'Pushes to protected branches that contain changes to files that match patterns defined in `CODEOWNERS` are disabled for this project. Please submit these changes via a merge request.',
    '',
    'The following pattern(s) from `CODEOWNERS` were matched:',
    ...owned.slice(0, MOST_NAMED).map(({ name }) => `- ${name}`),
  ].join('\n')
