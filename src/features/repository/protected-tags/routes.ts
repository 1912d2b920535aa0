import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
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
  abilityFirst: true,
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
  abilityFirst: true,
  output: ProtectedTagEntity,
  async handle({ subject }) {
    if (!subject.rule) throw notFound()
    return presentProtectedTag(subject.rule)
  },
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/protected_tags',
  summary: 'Protect a tag, or all whose names match a pattern',
  on: protectedProject,
  allow: 'administer',
  abilityFirst: true,
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
  summary: 'No longer protect a tag, or a pattern',
  on: protectedTag,
  allow: 'administer',
  abilityFirst: true,
  changedAt: ({ rule }) => rule?.updated_at ?? new Date(0).toISOString(),
  output: null,
  async handle({ app, viewer, subject }) {
    if (!subject.rule) throw notFound()
    await unprotectName(app, 'tag', viewer, subject.level, subject.rule)
  },
})
