import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { filledText, text } from '../../../api/wire.ts'
import { CustomAttributeEntity } from '../../identity/custom-attributes.ts'
import { atEachMount } from './mounts.ts'
import { deleteAttribute, listAttributes, setAttribute } from './service.ts'

export const [listOfUser, listOfGroup, listOfProject] = atEachMount((mount) =>
  endpoint({
    method: 'GET',
    path: `${mount.path}/custom_attributes`,
    summary: `List the custom attributes of a ${mount.kind}`,
    on: mount.owner,
    ...administratorsFirst,
    output: z.array(CustomAttributeEntity),
    handle: ({ app, subject }) => listAttributes(app.db, subject),
  }),
)

export const [getOfUser, getOfGroup, getOfProject] = atEachMount((mount) =>
  endpoint({
    method: 'GET',
    path: `${mount.path}/custom_attributes/:key`,
    summary: `Get a custom attribute of a ${mount.kind}`,
    on: mount.attribute,
    ...administratorsFirst,
    output: CustomAttributeEntity,
    handle: async ({ subject }) => subject.attribute,
  }),
)

export const [setOfUser, setOfGroup, setOfProject] = atEachMount((mount) =>
  endpoint({
    method: 'PUT',
    path: `${mount.path}/custom_attributes/:key`,
    summary: `Set a custom attribute of a ${mount.kind}`,
    on: mount.owner,
    ...administratorsFirst,
    input: z.object({ key: filledText, value: text }),
    output: CustomAttributeEntity,
    handle: ({ app, subject, input }) => setAttribute(app, subject, input),
  }),
)

export const [deleteOfUser, deleteOfGroup, deleteOfProject] = atEachMount((mount) =>
  endpoint({
    method: 'DELETE',
    path: `${mount.path}/custom_attributes/:key`,
    summary: `Delete a custom attribute of a ${mount.kind}`,
    on: mount.attribute,
    ...administratorsFirst,
    output: null,
    handle: ({ app, subject }) => deleteAttribute(app, subject, subject.attribute.key),
  }),
)
