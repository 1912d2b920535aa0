import { child } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { ancestryOf } from '../../../git/history/graph.ts'
import { isAncestor } from '../../../git/history/history.ts'
import {
  findBranch,
  listBranches,
  mergedBranches,
  type Branch,
  type Listed,
  type RefsOptions,
} from '../../../git/refs/refs.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { mayPush } from '../protected-branches/matching.ts'
import { findProtection, groupsAmong } from '../protected-branches/queries.ts'
import { repositoryPolicy, type RepositorySubject } from '../repositories/policy.ts'
import { repository } from '../repositories/queries.ts'
import { sharedBranches } from '../repositories/rights.ts'
import type { BranchSurroundings, Head } from './entity.ts'

/** A project that is still being imported has no repository yet, so it has no branches. */
export async function findHead(dir: string, name: string): Promise<Head | null> {
  const branch = (await repositoryExists(dir)) ? await findBranch(dir, name) : null
  return branch && ((await withCommits(dir, [branch]))[0] ?? null)
}

export async function listHeads(dir: string, input: RefsOptions): Promise<Listed<Head>> {
  const { items, total } = await listBranches(dir, input)
  return { items: await withCommits(dir, items), total }
}

async function withCommits(dir: string, branches: readonly Branch[]): Promise<Head[]> {
  const commits = await findCommits(
    dir,
    branches.map(({ id }) => id),
  )
  return branches.flatMap((branch, n) => (commits[n] ? [{ ...branch, commit: commits[n] }] : []))
}

export const branch = child(repository, {
  name: 'Branch',
  key: 'branch',
  params: { branch: text },
  find: (_app, { dir }, { branch: name }) => findHead(dir, name),
})

/** Loads everything that the records of these branches show beyond git's refs, for all branches at once. */
export async function aroundBranches(
  app: App,
  subject: RepositorySubject,
  heads: readonly Head[],
): Promise<BranchSurroundings> {
  const { project, namespace, viewer, level, dir } = subject
  const rules = await findProtection(app.db, project.id, 'branch')
  const groups = await groupsAmong(app.db, viewer, rules)
  const names = heads.map(({ name }) => name)
  const shared = repositoryPolicy.push(subject) ? null : await sharedBranches(app, viewer, project, names)
  return {
    url: webUrlOf(app, { project, namespace }),
    defaultBranch: project.default_branch,
    merged: await mergedAmong(dir, project.default_branch, heads),
    rules,
    mayPush: (name) => (shared?.has(name) ?? true) && mayPush(rules, name, { user: viewer, level, groups }),
  }
}

/**
 * Names of the branches that are merged into the default branch. A branch at the very tip of the default branch does
 * not count as merged, like the default branch itself.
 */
export async function mergedAmong(dir: string, defaultBranch: string, heads: readonly Branch[]): Promise<Set<string>> {
  const isDefault = ({ name }: Branch) => name === defaultBranch
  const into = heads.length === 0 ? null : (heads.find(isDefault) ?? (await findBranch(dir, defaultBranch)))
  const others = heads.filter(({ id }) => id !== into?.id)
  if (!into || others.length === 0) return new Set()
  const leads = await ancestryOf(dir, into.id)
  if (leads) return new Set(others.filter(({ id }) => leads(id)).map(({ name }) => name))
  const [only, ...more] = others
  // For a single branch git answers without reading all others.
  if (more.length === 0) return new Set((await isAncestor(dir, only!.id, into.id)) ? [only!.name] : [])
  const merged = await mergedBranches(dir, into.id)
  return new Set(others.map(({ name }) => name).filter((name) => merged.has(name)))
}
