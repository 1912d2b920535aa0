/** Sort orders of project lists, as in the URL. */
import * as common from '../texts/common.ts'
import * as t from '../texts/planning.ts'

export const PROJECT_ORDERS = [
  ['last_activity_at', t.recentlyActive],
  ['created_at', common.newest],
  ['name', common.name],
] as const

export function orderOf(query: URLSearchParams) {
  const [order_by] = PROJECT_ORDERS.find(([name]) => name === query.get('sort')) ?? PROJECT_ORDERS[0]
  return { order_by, sort: order_by === 'name' ? 'asc' : 'desc' } as const
}
