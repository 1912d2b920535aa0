import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import { InstanceVariableEntity, presentInstanceVariable } from './entity.ts'
import { INSTANCE, findVariable, listVariables } from './finding.ts'
import { ofAll, value } from './input.ts'
import { createVariable, deleteVariable, updateVariable } from './service.ts'

const PATH = '/admin/ci/variables'
const ITEM = `${PATH}/:key` as const

export const listOfInstance = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the CI variables of the instance',
  ...administratorsFirst,
  secret: true,
  output: pageOf(InstanceVariableEntity),
  async handle({ app, page }) {
    const { items, total } = await listVariables(app.db, INSTANCE, page)
    return { total, items: items.map((variable) => presentInstanceVariable(app, variable)) }
  },
})

export const getOfInstance = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get a CI variable of the instance',
  ...administratorsFirst,
  secret: true,
  input: z.object({ key: text }),
  output: InstanceVariableEntity,
  handle: async ({ app, input }) => presentInstanceVariable(app, await findVariable(app.db, INSTANCE, input.key)),
})

export const createForInstance = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Set a CI variable of the instance',
  ...administratorsFirst,
  input: z.object({ key: text, value, ...ofAll }),
  output: InstanceVariableEntity,
  handle: async ({ app, input }) => presentInstanceVariable(app, await createVariable(app, INSTANCE, input)),
})

export const updateOfInstance = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update a CI variable of the instance',
  ...administratorsFirst,
  input: z.object({ key: text, value: value.optional(), ...ofAll }),
  output: InstanceVariableEntity,
  async handle({ app, input: { key, ...request } }) {
    return presentInstanceVariable(app, await updateVariable(app, await findVariable(app.db, INSTANCE, key), request))
  },
})

export const destroyOfInstance = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Delete a CI variable of the instance',
  ...administratorsFirst,
  input: z.object({ key: text }),
  output: null,
  handle: async ({ app, input }) => deleteVariable(app, await findVariable(app.db, INSTANCE, input.key)),
})
