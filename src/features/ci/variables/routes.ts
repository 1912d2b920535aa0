import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { bool, text } from '../../../api/wire.ts'
import { VariableEntity, presentVariable } from './entity.ts'
import { findVariable, listVariables } from './finding.ts'
import { attributes, filter, value } from './input.ts'
import { variableScopes } from './scopes.ts'
import { createVariable, deleteVariable, updateVariable } from './service.ts'

const key = { key: text }

export const [listOfProject, listOfGroup] = atScopes(variableScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/variables`,
    summary: `List the CI variables of a ${scope.kind}`,
    on: scope.resource,
    allow: 'manage',
    secret: true,
    output: pageOf(VariableEntity),
    async handle({ app, subject, page }) {
      const { items, total } = await listVariables(app.db, subject.at, page)
      return { total, items: items.map((variable) => presentVariable(app, variable)) }
    },
  }),
)

export const [getOfProject, getOfGroup] = atScopes(variableScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/variables/:key`,
    summary: `Get a CI variable of a ${scope.kind}`,
    on: scope.resource,
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

export const [createForProject, createForGroup] = atScopes(variableScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/variables`,
    summary: `Set a CI variable of a ${scope.kind}`,
    on: scope.resource,
    allow: 'manage',
    input: z.object({ ...key, value, ...attributes, masked_and_hidden: bool.nullish() }),
    output: VariableEntity,
    handle: async ({ app, subject, input }) => presentVariable(app, await createVariable(app, subject.at, input)),
  }),
)

export const [updateOfProject, updateOfGroup] = atScopes(variableScopes, (scope) =>
  endpoint({
    method: 'PUT',
    path: `${scope.path}/variables/:key`,
    summary: `Update a CI variable of a ${scope.kind}`,
    on: scope.resource,
    allow: 'manage',
    input: z.object({ ...key, value: value.optional(), ...attributes, ...filter }),
    output: VariableEntity,
    async handle({ app, subject, input: { key, filter, ...request } }) {
      const variable = await findVariable(app.db, subject.at, key, filter?.environment_scope)
      return presentVariable(app, await updateVariable(app, variable, request))
    },
  }),
)

export const [destroyOfProject, destroyOfGroup] = atScopes(variableScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/variables/:key`,
    summary: `Delete a CI variable of a ${scope.kind}`,
    on: scope.resource,
    allow: 'manage',
    input: z.object({ ...key, ...filter }),
    output: null,
    async handle({ app, subject, input: { key, filter } }) {
      await deleteVariable(app, await findVariable(app.db, subject.at, key, filter?.environment_scope))
    },
  }),
)
