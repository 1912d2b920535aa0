import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { oneOf } from '../../../api/wire.ts'
import { surroundings } from '../../identity/users/queries.ts'
import { planningScopes } from '../scopes.ts'
import { DeletedItemEntity, presentDeletedItem } from './entity.ts'
import { BIN_KEYS } from './model.ts'
import { deletedItem, listDeletedItems, withDeleters } from './queries.ts'
import { purgeFromBin, restoreFromBin } from './service.ts'

export const [list, listOfGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/deleted_items`,
    summary: `List the deleted records of a ${scope.kind} that the user may restore, newest first`,
    on: scope.resource,
    allow: 'restore',
    input: z.object({ kind: oneOf(...BIN_KEYS).nullish() }),
    output: pageOf(DeletedItemEntity),
    async handle({ app, subject, input, page }) {
      const { items, ...rest } = await listDeletedItems(app.db, subject, input, page)
      const around = await surroundings(app)
      return { ...rest, items: items.map((item) => presentDeletedItem(item, around)) }
    },
  }),
)

export const [restore, restoreInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/deleted_items/:deleted_item_id/restore`,
    summary: `Restore a deleted record of a ${scope.kind}`,
    on: deletedItem(scope),
    allow: 'restore',
    output: DeletedItemEntity,
    async handle({ app, subject: { item } }) {
      await restoreFromBin(app, item)
      const [loaded] = await withDeleters(app.db, [item])
      return presentDeletedItem(loaded!, await surroundings(app))
    },
  }),
)

export const [destroy, destroyInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/deleted_items/:deleted_item_id`,
    summary: `Delete a record of a ${scope.kind} for good`,
    on: deletedItem(scope),
    allow: 'restore',
    output: null,
    handle: ({ app, subject: { item } }) => purgeFromBin(app, item),
  }),
)
