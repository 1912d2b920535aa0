import { z } from 'zod'
import { endpoint, type Endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, text } from '../../../api/wire.ts'
import type { Mount } from '../../access/sources.ts'
import { groupMount } from '../../groups/people.ts'
import { VariableEntity, presentVariable } from './entity.ts'
import { findVariable, listVariables } from './finding.ts'
import { attributes, filter, value } from './input.ts'
import { projectMount } from './mounts.ts'
import { createVariable, deleteVariable, updateVariable } from './service.ts'

const atBothMounts = (declare: (mount: Mount) => Endpoint) => [declare(projectMount), declare(groupMount)] as const

const key = { key: text }

export const [listOfProject, listOfGroup] = atBothMounts((mount) =>
  endpoint({
    method: 'GET',
    path: `${mount.path}/variables`,
    summary: `List the CI variables of a ${mount.kind}`,
    on: mount.source,
    allow: 'manage',
    secret: true,
    output: pageOf(VariableEntity),
    async handle({ app, subject, page }) {
      const { items, total } = await listVariables(app.db, subject.at, page)
      return { total, items: items.map((variable) => presentVariable(app, variable)) }
    },
  }),
)

export const [getOfProject, getOfGroup] = atBothMounts((mount) =>
  endpoint({
    method: 'GET',
    path: `${mount.path}/variables/:key`,
    summary: `Get a CI variable of a ${mount.kind}`,
    on: mount.source,
    allow: 'manage',
    secret: true,
    input: z.object({ ...key, ...filter }),
    output: VariableEntity,
    async handle({ app, subject, input }) {
      const { key, filter } = input
      return presentVariable(app, await findVariable(app.db, subject.at, key, filter?.environment_scope))
    },
  }),
)

export const [createForProject, createForGroup] = atBothMounts((mount) =>
  endpoint({
    method: 'POST',
    path: `${mount.path}/variables`,
    summary: `Set a CI variable of a ${mount.kind}`,
    on: mount.source,
    allow: 'manage',
    input: z.object({ ...key, value, ...attributes, masked_and_hidden: bool.nullish() }),
    output: VariableEntity,
    handle: async ({ app, subject, input }) => presentVariable(app, await createVariable(app, subject.at, input)),
  }),
)

export const [updateOfProject, updateOfGroup] = atBothMounts((mount) =>
  endpoint({
    method: 'PUT',
    path: `${mount.path}/variables/:key`,
    summary: `Change a CI variable of a ${mount.kind}`,
    on: mount.source,
    allow: 'manage',
    input: z.object({ ...key, value: value.optional(), ...attributes, ...filter }),
    output: VariableEntity,
    async handle({ app, subject, input: { key, filter, ...wish } }) {
      const variable = await findVariable(app.db, subject.at, key, filter?.environment_scope)
      return presentVariable(app, await updateVariable(app, variable, wish))
    },
  }),
)

export const [destroyOfProject, destroyOfGroup] = atBothMounts((mount) =>
  endpoint({
    method: 'DELETE',
    path: `${mount.path}/variables/:key`,
    summary: `Delete a CI variable of a ${mount.kind}`,
    on: mount.source,
    allow: 'manage',
    input: z.object({ ...key, ...filter }),
    output: null,
    async handle({ app, subject, input: { key, filter } }) {
      await deleteVariable(app, await findVariable(app.db, subject.at, key, filter?.environment_scope))
    },
  }),
)
