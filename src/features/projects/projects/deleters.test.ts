import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

const KINDS = ['projects', 'groups'] as const

test.each(KINDS)('a page of deleted %s names who deleted each one, in a fixed number of queries', async (kind) => {
  await using forge = await startForge()
  const { administrator: root } = forge
  await root.put('/application/settings', { deletion_adjourned_period: 7 })
  const deleters: number[] = []
  const deleteSome = async (count: number) => {
    for (let n = 0; n < count; n++) {
      const user = await forge.user()
      const path = `${kind}-${deleters.length}`
      const { body } = await user.post(`/${kind}`, { name: path, path })
      expect((await user.delete(`/${kind}/${body.id}`)).status).toBe(204)
      deleters.push(user.id)
    }
    await forge.settle()
  }
  const list = () => root.get(`/${kind}`, { only_pending_delete: true, order_by: 'id', sort: 'asc', per_page: 100 })
  const cost = async () => {
    await list()
    const before = forge.app.store.queries
    const { body } = await list()
    expect(body.map(({ deleted_by }: { deleted_by: { id: number } }) => deleted_by.id)).toEqual(deleters)
    return forge.app.store.queries - before
  }
  await deleteSome(2)
  const few = await cost()
  await deleteSome(8)
  expect(await cost()).toBe(few)
})
