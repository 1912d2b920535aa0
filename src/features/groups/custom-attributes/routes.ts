import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { filled, limited } from '../../../api/rules.ts'
import { filledText, text } from '../../../api/wire.ts'
import { CustomAttributeEntity } from '../../identity/custom-attributes.ts'
import { attributeScopes } from './scopes.ts'
import { deleteAttribute, listAttributes, setAttribute } from './service.ts'

export const [listOfUser, listOfGroup, listOfProject] = atScopes(attributeScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/custom_attributes`,
    summary: `List the custom attributes of a ${scope.kind}`,
    on: scope.resource,
    ...administratorsFirst,
    output: z.array(CustomAttributeEntity),
    handle: ({ app, subject }) => listAttributes(app.db, subject),
  }),
)

export const [getOfUser, getOfGroup, getOfProject] = atScopes(attributeScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/custom_attributes/:key`,
    summary: `Get a custom attribute of a ${scope.kind}`,
    on: scope.attribute,
    ...administratorsFirst,
    output: CustomAttributeEntity,
    handle: async ({ subject }) => subject.attribute,
  }),
)

export const [setOfUser, setOfGroup, setOfProject] = atScopes(attributeScopes, (scope) =>
  endpoint({
    method: 'PUT',
    path: `${scope.path}/custom_attributes/:key`,
    summary: `Set a custom attribute of a ${scope.kind}`,
    on: scope.resource,
    ...administratorsFirst,
    whileReadOnly: true,
    input: z.object({ key: limited(filledText, 255), value: filled(text, 255) }),
    output: CustomAttributeEntity,
    handle: ({ app, subject, input }) => setAttribute(app, subject, input),
  }),
)

export const [deleteOfUser, deleteOfGroup, deleteOfProject] = atScopes(attributeScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/custom_attributes/:key`,
    summary: `Delete a custom attribute of a ${scope.kind}`,
    on: scope.attribute,
    ...administratorsFirst,
    output: null,
    handle: ({ app, subject }) => deleteAttribute(app, subject, subject.attribute.key),
  }),
)
