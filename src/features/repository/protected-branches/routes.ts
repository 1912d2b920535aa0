import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, text } from '../../../api/wire.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { ProtectedBranchEntity, presentProtectedBranch, withoutNames } from './entity.ts'
import { allowedTo, changedAllowedTo, entriesOf, level, unprotectLevel } from './input.ts'
import type { LoadedRule } from './matching.ts'
import { protectionPolicy } from './policy.ts'
import { listRules, protectedName, protectedProject } from './queries.ts'
import { changeProtectedBranch, protectName, unprotectName } from './service.ts'

const protectedBranch = protectedName('branch')

const switches = { allow_force_push: bool.nullish(), code_owner_approval_required: bool.nullish() }

const presentTo = (subject: ProjectSubject, rule: LoadedRule) =>
  presentProtectedBranch(protectionPolicy.readNames(subject) ? rule : withoutNames(rule))

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_branches',
  summary: 'List the protected branches of a project',
  on: protectedProject,
  allow: 'readRules',
  by: 'visitor',
  input: z.object({ search: text.nullish() }),
  output: pageOf(ProtectedBranchEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listRules(app.db, 'branch', subject.project.id, input, page)
    return { total, items: items.map((rule) => presentTo(subject, rule)) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_branches/:name',
  summary: 'Get a protected branch, or a pattern, by its name',
  on: protectedBranch,
  allow: 'readRules',
  by: 'visitor',
  output: ProtectedBranchEntity,
  handle: async ({ subject }) => presentTo(subject, subject.rule),
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/protected_branches',
  summary: 'Protect a branch or wildcard',
  on: protectedProject,
  allow: 'administer',
  input: z.object({
    name: text,
    push_access_level: level.nullish(),
    merge_access_level: level.nullish(),
    unprotect_access_level: unprotectLevel.nullish(),
    ...allowedTo,
    ...switches,
  }),
  output: ProtectedBranchEntity,
  async handle({ app, subject, input }) {
    const entries = [
      ...entriesOf('push', input.push_access_level, input.allowed_to_push),
      ...entriesOf('merge', input.merge_access_level, input.allowed_to_merge),
      ...entriesOf('unprotect', input.unprotect_access_level, input.allowed_to_unprotect),
    ]
    return presentProtectedBranch(await protectName(app, 'branch', subject.project, { ...input, entries }))
  },
})

export const update = endpoint({
  method: 'PATCH',
  path: '/projects/:id/protected_branches/:name',
  summary: 'Update a protected branch',
  on: protectedBranch,
  allow: 'administer',
  alsoAsks: ['unprotect the branch'],
  input: z.object({ ...changedAllowedTo, ...switches }),
  output: ProtectedBranchEntity,
  async handle({ app, viewer, subject, input }) {
    const changes = {
      push: input.allowed_to_push,
      merge: input.allowed_to_merge,
      unprotect: input.allowed_to_unprotect,
    }
    const changed = await changeProtectedBranch(app, viewer, subject, subject.rule, { ...input, changes })
    return presentProtectedBranch(changed)
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/protected_branches/:name',
  summary: 'Unprotect a branch or wildcard',
  on: protectedBranch,
  allow: 'administer',
  alsoAsks: ['unprotect the branch'],
  changedAt: ({ rule }) => rule.updated_at,
  output: null,
  handle: ({ app, viewer, subject }) => unprotectName(app, 'branch', viewer, subject.level, subject.rule),
})
