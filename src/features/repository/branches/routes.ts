import { z } from 'zod'
import { Answer, endpoint, optional } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, entity, oneOf, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { Refusal, badParameter, notFound } from '../../../errors.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import { listBranches } from '../../../git/refs/refs.ts'
import { enqueue } from '../../../jobs/queue.ts'
import { PatternTooSlow, finder, patternFault } from '../../../lib/text/patterns.ts'
import { nextLink } from '../repositories/next-link.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { repository } from '../repositories/queries.ts'
import { BranchEntity, presentBranch } from './entity.ts'
import { deleteMergedLater } from './jobs.ts'
import { aroundBranches, branch, listHeads } from './queries.ts'
import { createBranch, deleteBranch, protectBranch, unprotectBranch } from './service.ts'

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/branches',
  summary: 'List the branches of a repository',
  on: repository,
  allow: 'download',
  by: 'visitor',
  input: z.object({
    search: text.nullish(),
    regex: text.nullish(),
    sort: oneOf('name_asc', 'updated_asc', 'updated_desc').nullish(),
    pagination: oneOf('keyset', 'legacy').nullish(),
    page_token: text.nullish(),
  }),
  output: pageOf(BranchEntity),
  async handle({ app, subject, input, page }) {
    const { search, regex, sort, page_token } = input
    const isKeyset = input.pagination === 'keyset' || Boolean(page_token)
    const range = isKeyset ? { limit: page.limit + 1 } : { skip: page.offset, limit: page.limit }
    const { items, total } = await listHeads(subject.dir, {
      order: sort ?? 'name_asc',
      ...(search && { search }),
      ...(regex && { where: await regexFilter(app, subject, regex) }),
      ...(isKeyset && page_token && { after: page_token }),
      ...range,
    })
    const shown = items.slice(0, page.limit)
    const around = await aroundBranches(app, subject, shown)
    const records = shown.map((head) => presentBranch(head, around))
    if (!isKeyset) return { items: records, total }
    if (items.length === shown.length) return new Answer(200, records)
    const next = { ...input, per_page: page.limit, pagination: 'keyset', page_token: shown.at(-1)!.name }
    return new Answer(200, records, nextLink(app, subject, 'branches', next))
  },
})

const LONGEST_REGEX = 255

async function regexFilter(
  { caller }: App,
  { dir }: RepositorySubject,
  regex: string,
): Promise<(name: string) => boolean> {
  if (regex.length > LONGEST_REGEX || (await patternFault(regex, caller)) !== null)
    throw badParameter('regex is invalid')
  try {
    const { items } = await listBranches(dir)
    return await finder(
      regex,
      items.map(({ name }) => name),
      { caller },
    )
  } catch (error) {
    if (error instanceof PatternTooSlow) throw badParameter('regex takes too long')
    throw error
  }
}

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/branches/:branch',
  summary: 'Get a branch',
  on: optional(branch),
  allow: 'download',
  by: 'visitor',
  input: z.object({ branch: text }),
  headStatus: 204,
  output: BranchEntity,
  async handle({ app, subject, input, isHead }) {
    // HEAD only checks whether the branch exists.
    if (!isHead && !isBranchName(input.branch)) throw new Refusal('bad_request', 'The branch refname is invalid')
    if (!subject.branch) throw notFound('Branch')
    return presentBranch(subject.branch, await aroundBranches(app, subject, [subject.branch]))
  },
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/repository/branches',
  summary: 'Create a branch from another, a tag or a commit',
  on: repository,
  allow: 'push',
  input: z.object({ branch: text, ref: text }),
  output: BranchEntity,
  async handle({ app, viewer, subject, input }) {
    const head = await createBranch(app, viewer, subject, input)
    return presentBranch(head, await aroundBranches(app, subject, [head]))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/branches/:branch',
  summary: 'Delete a branch',
  on: branch,
  allow: 'push',
  changedAt: ({ branch }) => branch.commit.author.date.toISOString(),
  output: null,
  handle: ({ app, viewer, subject }) => deleteBranch(app, viewer, subject, subject.branch),
})

export const destroyMerged = endpoint({
  method: 'DELETE',
  path: '/projects/:id/repository/merged_branches',
  summary: 'Delete all branches that are merged into the default branch, except protected ones, in the background',
  on: repository,
  allow: 'download',
  output: entity({ message: z.string() }),
  status: 202,
  async handle({ app, viewer, subject }) {
    await enqueue(app, deleteMergedLater, { project_id: subject.project.id, by: viewer.id })
    return { message: '202 Accepted' }
  },
})

export const protect = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/branches/:branch/protect',
  summary: 'Protect a branch, or update the access of developers',
  on: branch,
  allow: 'protect',
  abilityFirst: true,
  input: z.object({ developers_can_push: bool.nullish(), developers_can_merge: bool.nullish() }),
  output: BranchEntity,
  async handle({ app, viewer, subject, input }) {
    await protectBranch(app, viewer, subject, subject.branch.name, input)
    return presentBranch(subject.branch, await aroundBranches(app, subject, [subject.branch]))
  },
})

export const unprotect = endpoint({
  method: 'PUT',
  path: '/projects/:id/repository/branches/:branch/unprotect',
  summary: 'Unprotect a branch by name',
  on: branch,
  allow: 'protect',
  abilityFirst: true,
  output: BranchEntity,
  async handle({ app, viewer, subject }) {
    await unprotectBranch(app, viewer, subject, subject.branch.name)
    return presentBranch(subject.branch, await aroundBranches(app, subject, [subject.branch]))
  },
})
