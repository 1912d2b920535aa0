/** Checks of single refs: protection, the default branch, tags. The first violation rejects the whole change. */
import type { App } from '../../../context.ts'
import { isAncestor } from '../../../git/history/history.ts'
import { findCommit } from '../../../git/objects/commits.ts'
import { Developer, Master } from '../../../lib/levels.ts'
import { usualProtection } from '../../instance/settings/branch-protection.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { ownerFault } from '../code-owners/pushes.ts'
import {
  isProtected,
  mayCreateTag,
  mayForcePush,
  mayMerge,
  mayPush,
  type LoadedRule,
  type Rules,
} from '../protected-branches/matching.ts'
import { findProtection, groupsAmong } from '../protected-branches/queries.ts'
import { sharedBranches } from '../repositories/rights.ts'
import type { Incoming } from './incoming.ts'
import { branchOf, tagOf, type Pusher, type Update } from './updates.ts'

const HASH = /^([0-9a-f]{40}|[0-9a-f]{64})$/i

export async function refFault(
  app: App,
  pusher: Pusher,
  project: Project,
  updates: readonly Update[],
  incoming: Incoming,
): Promise<string | null> {
  if (!(await areTheirs(app, pusher, project, updates))) return 'You are not allowed to push code to this project.'
  const branches = await findProtection(app.db, project.id, 'branch')
  const tags = await findProtection(app.db, project.id, 'tag')
  const groups = await groupsAmong(app.db, pusher.user, [...branches, ...tags])
  const who = { ...pusher, groups }
  for (const update of updates) {
    const branch = branchOf(update.ref)
    const tag = tagOf(update.ref)
    const fault =
      branch !== null
        ? await branchFault(app, who, project, { ...update, name: branch }, branches, incoming)
        : tag !== null
          ? tagFault(who, { ...update, name: tag }, tags)
          : null
    if (fault) return fault
  }
  return null
}

/**
 * A user who is not a member of a fork may update branches that are shared with them, but may neither create nor delete
 * branches.
 */
async function areTheirs(app: App, pusher: Pusher, project: Project, updates: readonly Update[]): Promise<boolean> {
  if (pusher.deployKeyId !== undefined || pusher.level >= Developer) return true
  const names = updates.map(({ ref, before, after }) => (before === null || after === null ? null : branchOf(ref)))
  const shared = await sharedBranches(
    app,
    pusher.user,
    project,
    names.filter((name) => name !== null),
  )
  return names.every((name) => name !== null && shared.has(name))
}

type NamedRecord = Update & { name: string }

async function branchFault(
  app: App,
  pusher: Pusher & { readonly groups: readonly number[] },
  project: Project,
  { name, ...update }: NamedRecord,
  rules: readonly LoadedRule[],
  incoming: Incoming,
): Promise<string | null> {
  const { before, after } = update
  if (after === null && name === project.default_branch) return 'The default branch of a project cannot be deleted.'
  if (before === null && HASH.test(name)) return 'You cannot create a branch with a SHA-1 or SHA-256 branch name.'
  if (project.empty_repo && (await isWhollyProtected(app))) {
    return pusher.level >= Master || isNamed(rules, name, pusher) ? null : NO_PUSH
  }
  if (!isProtected(rules, name)) return null
  if (after === null) return deletionFault(pusher)
  if (before !== null && !mayForcePush(rules, name) && (await rewrites(incoming, before, after))) {
    return 'You are not allowed to force push code to a protected branch on this project.'
  }
  const may = pusher.merging ? mayMerge : mayPush
  if (!may(rules, name, pusher)) return NO_PUSH
  return ownerFault(app, pusher, project, { name, ...update }, rules, incoming)
}

/**
 * In most pushes the pack contains all commits in between, and commits of the server build on the old tip. Git is asked
 * only in other cases.
 */
async function rewrites({ dir, environment, pack }: Incoming, before: string, after: string): Promise<boolean> {
  if ((await pack())?.leads(after, before)) return false
  if (!environment && (await findCommit(dir, after))?.parents.includes(before)) return false
  return !(await isAncestor(dir, before, after, { environment }))
}

const NO_PUSH = 'You are not allowed to push code to protected branches on this project.'

/** A deploy key has no role, so it needs a rule that names it. */
const isNamed = (rules: Rules, name: string, pusher: Pusher) =>
  pusher.deployKeyId !== undefined && isProtected(rules, name) && mayPush(rules, name, pusher)

/** In an empty repository the first branch becomes the default branch. */
async function isWhollyProtected(app: App): Promise<boolean> {
  const usual = usualProtection(await currentSettings(app))
  return usual !== null && !usual.developersBegin
}

function deletionFault({ level, via }: Pusher): string | null {
  if (level < Master) {
    return 'You are not allowed to delete protected branches from this project. Only a project master or owner can delete a protected branch.'
  }
  return via === 'web' ? null : 'You can only delete protected branches using the web interface.'
}

function tagFault(pusher: Pusher, { name, before, after }: NamedRecord, rules: Rules): string | null {
  // Roles apply to users. Protection also applies to deploy keys.
  const isBelow = pusher.deployKeyId === undefined && pusher.level < Master
  if (before !== null && isBelow) return 'You are not allowed to change existing tags on this project.'
  if (!isProtected(rules, name)) return null
  if (after === null) return 'Protected tags cannot be deleted.'
  if (before !== null) return 'Protected tags cannot be updated.'
  return mayCreateTag(rules, name, pusher) ? null : 'You are not allowed to create this tag as it is protected.'
}
