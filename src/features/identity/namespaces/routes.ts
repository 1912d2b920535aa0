import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, id, text } from '../../../api/wire.ts'
import { surroundings } from '../users/queries.ts'
import { NamespaceEntity, NamespaceExistenceEntity, presentNamespace } from './entity.ts'
import { listNamespaces, loadNamespaces, lookUpPath, namespace } from './queries.ts'

export const list = endpoint({
  method: 'GET',
  path: '/namespaces',
  summary: 'List namespaces',
  allow: 'signed_in',
  input: z.object({ search: text.nullish(), owned_only: bool.nullish(), top_level_only: bool.nullish() }),
  output: pageOf(NamespaceEntity),
  async handle({ app, viewer, input, page }) {
    const { items, total } = await listNamespaces(app.db, viewer, input, page)
    const loaded = await loadNamespaces(app.db, viewer, items)
    const around = await surroundings(app)
    return { total, items: loaded.map((one) => presentNamespace(one, around)) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/namespaces/:id',
  summary: 'Get a namespace by id or path',
  on: namespace,
  allow: 'signed_in',
  output: NamespaceEntity,
  async handle({ app, viewer, subject }) {
    const [loaded] = await loadNamespaces(app.db, viewer, [subject.namespace])
    return presentNamespace(loaded!, await surroundings(app))
  },
})

export const exists = endpoint({
  method: 'GET',
  path: '/namespaces/:path/exists',
  summary: 'Check whether a path is available',
  allow: 'signed_in',
  input: z.object({ path: text, parent_id: blankable(id) }),
  output: NamespaceExistenceEntity,
  handle: ({ app, viewer, input }) => lookUpPath(app, viewer, input),
})
