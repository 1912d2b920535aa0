/** Sort orders of project lists, as in the URL. */
export const PROJECT_ORDERS = [
  ['last_activity_at', 'Recently active'],
  ['created_at', 'Newest'],
  ['name', 'Name'],
] as const

export function orderOf(query: URLSearchParams) {
  const [order_by] = PROJECT_ORDERS.find(([name]) => name === query.get('sort')) ?? PROJECT_ORDERS[0]
  return { order_by, sort: order_by === 'name' ? 'asc' : 'desc' } as const
}
