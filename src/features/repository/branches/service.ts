import type { App, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import { buildCommit } from '../../../git/objects/building.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import { listBranches } from '../../../git/refs/refs.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { Developer, Master } from '../../../lib/levels.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { signerOf } from '../commits/landing.ts'
import { changeRefs, webPusher } from '../gate/service.ts'
import type { Update } from '../gate/updates.ts'
import { entriesOf } from '../protected-branches/input.ts'
import { isProtected, type LoadedRule } from '../protected-branches/matching.ts'
import type { BranchAbility } from '../protected-branches/model.ts'
import { findProtection, findRule } from '../protected-branches/queries.ts'
import { changeProtectedBranch, protectName, unprotectName } from '../protected-branches/service.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import type { Head } from './entity.ts'
import { findHead, mergedAmong } from './queries.ts'

const refused = (text: string) => new Refusal('bad_request', text)

const refOf = (name: string) => `refs/heads/${name}`

export async function createBranch(
  app: App,
  actor: User,
  subject: RepositorySubject,
  input: { branch: string; ref: string },
): Promise<Head> {
  const { dir, level } = subject
  if (!isBranchName(input.branch)) throw refused('Branch name is invalid')
  if (!(await repositoryExists(dir))) throw refused('Invalid reference name')
  if (await findHead(dir, input.branch)) throw refused('Branch already exists')
  const from = await resolveCommit(dir, input.ref)
  const updates: Update[] =
    from === null
      ? await firstBranches(app, actor, subject, input)
      : [{ ref: refOf(input.branch), before: null, after: from }]
  await changeRefs(app, webPusher(actor, level), subject, updates)
  const head = await findHead(dir, input.branch)
  if (!head) throw notFound('Branch') // a concurrent request deleted the branch
  return head
}

/** An empty repository has no commit to start from. The server first creates the default branch with an empty file. */
async function firstBranches(
  app: App,
  actor: User,
  { dir, project }: RepositorySubject,
  { branch, ref }: { branch: string; ref: string },
): Promise<Update[]> {
  const isDefault = ref === project.default_branch || ref === 'HEAD'
  if (!isDefault || (await listBranches(dir, { limit: 0 })).total > 0) throw refused('Invalid reference name')
  const by = signerOf(app, actor)
  const words = { message: 'Add README.md', author: by, committer: by }
  const after = await buildCommit(dir, null, [{ path: 'README.md', content: '' }], words)
  return [...new Set([project.default_branch, branch])].map((name) => ({ ref: refOf(name), before: null, after }))
}

export async function deleteBranch(
  app: App,
  actor: User,
  subject: RepositorySubject,
  { name, id }: Head,
): Promise<void> {
  const update = { ref: refOf(name), before: id, after: null }
  await changeRefs(app, webPusher(actor, subject.level), subject, [update])
}

/** Deletes branches that are merged into the default branch and not protected. */
export async function deleteMergedBranches(app: App, actor: User, subject: RepositorySubject): Promise<void> {
  const { dir, project, level } = subject
  const { items } = await listBranches(dir)
  const merged = await mergedAmong(dir, project.default_branch, items)
  const rules = await findProtection(app.db, project.id, 'branch')
  const updates = items
    .filter(({ name }) => merged.has(name) && name !== project.default_branch && !isProtected(rules, name))
    .map(({ name, id }) => ({ ref: refOf(name), before: id, after: null }))
  if (updates.length > 0) await changeRefs(app, webPusher(actor, level), subject, updates)
}

export interface ProtectionInput {
  developers_can_push?: boolean | null
  developers_can_merge?: boolean | null
}

/** Protects the exact name. Omitted fields keep their value; in a new rule they default to maintainers. */
export async function protectBranch(
  app: App,
  actor: User,
  subject: RepositorySubject,
  name: string,
  { developers_can_push, developers_can_merge }: ProtectionInput,
): Promise<void> {
  const push = levelFor(developers_can_push)
  const merge = levelFor(developers_can_merge)
  await holdingRule(app, subject, name, async (app, rule) => {
    if (rule) {
      const changes = { push: replacing(rule, 'push', push), merge: replacing(rule, 'merge', merge) }
      await changeProtectedBranch(app, actor, subject, rule, { changes })
    } else {
      const unprotect = entriesOf('unprotect', null, null)
      const entries = [...entriesOf('push', push, null), ...entriesOf('merge', merge, null), ...unprotect]
      await protectName(app, 'branch', subject.project, { name, entries })
    }
  })
}

/**
 * Serializes concurrent changes of the same rule with a lock, so that each change sees the result of the one before.
 */
function holdingRule(
  app: App,
  { project }: RepositorySubject,
  name: string,
  change: (app: App, rule: LoadedRule | null) => Promise<void>,
): Promise<void> {
  return transact(app, async (app) => {
    await lockName(app.db, `protected branch ${project.id} ${name}`)
    await change(app, await findRule(app.db, 'branch', project.id, name))
  })
}

const levelFor = (developers: boolean | null | undefined) =>
  typeof developers === 'boolean' ? (developers ? Developer : Master) : null

/** Replaces all entries of the ability by this level. */
function replacing({ allowances }: LoadedRule, branchAbility: BranchAbility, access_level: number | null) {
  if (access_level === null) return []
  const old = allowances.filter(({ ability }) => ability === branchAbility).map(({ id }) => ({ id, _destroy: true }))
  return [...old, { access_level }]
}

/** A pattern that matches the name still protects the branch. */
export async function unprotectBranch(app: App, actor: User, subject: RepositorySubject, name: string): Promise<void> {
  await holdingRule(app, subject, name, async (app, rule) => {
    if (rule) await unprotectName(app, 'branch', actor, subject.level, rule)
  })
}
