import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import { allowedToCreate, entriesOf, level } from '../protected-branches/input.ts'
import { listRules, protectedName, protectedProject } from '../protected-branches/queries.ts'
import { protectName, unprotectName } from '../protected-branches/service.ts'
import { ProtectedTagEntity, presentProtectedTag } from './entity.ts'

const protectedTag = protectedName('tag')

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_tags',
  summary: 'List the protected tags of a project',
  on: protectedProject,
  allow: 'administer',
  output: pageOf(ProtectedTagEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listRules(app.db, 'tag', subject.project.id, {}, page)
    return { total, items: items.map(presentProtectedTag) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/protected_tags/:name',
  summary: 'Get a protected tag, or a pattern, by its name',
  on: protectedTag,
  allow: 'administer',
  output: ProtectedTagEntity,
  handle: async ({ subject }) => presentProtectedTag(subject.rule),
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/protected_tags',
  summary: 'Protect a tag or wildcard',
  on: protectedProject,
  allow: 'administer',
  input: z.object({ name: text, create_access_level: level.nullish(), allowed_to_create: allowedToCreate }),
  output: ProtectedTagEntity,
  async handle({ app, subject, input: { name, create_access_level, allowed_to_create } }) {
    const entries = entriesOf('create', create_access_level, allowed_to_create)
    return presentProtectedTag(await protectName(app, 'tag', subject.project, { name, entries }))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/protected_tags/:name',
  summary: 'Unprotect a tag or wildcard',
  on: protectedTag,
  allow: 'administer',
  changedAt: ({ rule }) => rule.updated_at,
  output: null,
  handle: ({ app, viewer, subject }) => unprotectName(app, 'tag', viewer, subject.level, subject.rule),
})
