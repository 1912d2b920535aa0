import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, id, oneOf, text } from '../../../api/wire.ts'
import { today } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { pageOfArray } from '../../../store/pages.ts'
import {
  LicenseEntity,
  TemplateEntity,
  TemplateSummaryEntity,
  presentLicense,
  presentTemplate,
} from '../../instance/templates/entity.ts'
import { findLicense } from '../../instance/templates/queries.ts'
import { repositoryPolicy, type RepositorySubject } from '../repositories/policy.ts'
import { findRepositorySubject, repository } from '../repositories/queries.ts'
import { TYPES, findTypeOf, listTypeOf } from './queries.ts'

const reading = { method: 'GET', on: repository, allow: 'read', by: 'visitor', abilityFirst: true } as const

export const list = endpoint({
  ...reading,
  path: '/projects/:id/templates/:type',
  summary: 'List the templates a project offers',
  input: z.object({ type: oneOf(...TYPES) }),
  output: pageOf(TemplateSummaryEntity),
  async handle({ subject, input, page }) {
    const { items, total } = pageOfArray(await listTypeOf(subject, input.type), page)
    return { total, items: items.map(({ key, name }) => ({ key, name })) }
  },
})

export const get = endpoint({
  ...reading,
  path: '/projects/:id/templates/:type/:name',
  summary: 'Get a template a project offers',
  input: z.object({
    type: oneOf(...TYPES),
    name: text,
    source_template_project_id: blankable(id),
    project: text.nullish(),
    fullname: text.nullish(),
  }),
  output: z.union([LicenseEntity, TemplateEntity]),
  async handle({ app, viewer, subject, input }) {
    const { type, name, source_template_project_id: source } = input
    const from = source ? await otherProject(app, viewer, source) : subject
    if (type !== 'licenses') return presentTemplate(found(await findTypeOf(from, type, name)))
    return presentLicense(found(await findLicense(name)), {
      year: today(app.clock).slice(0, 4),
      project: input.project || subject.project.name,
      fullname: input.fullname || viewer?.name,
    })
  },
})

function found<T>(template: T | null | undefined): T {
  if (!template) throw notFound('Template')
  return template
}

/** A project that shares its templates with other projects. */
async function otherProject(app: App, viewer: User | null, id: number): Promise<RepositorySubject> {
  const other = await findRepositorySubject(app, String(id), viewer)
  if (!other || !repositoryPolicy.read(other)) throw notFound('Project')
  return other
}
