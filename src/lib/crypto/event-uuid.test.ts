import { expect, test } from 'vitest'
import { eventIn, eventUuid } from './event-uuid.ts'
import { vault } from './secrets.ts'

test('an event is known by its name, and by no other', () => {
  const [ours, other] = [vault(Buffer.alloc(32, 1)), vault(Buffer.alloc(32, 2))]
  for (const id of [1, 4711, 2 ** 40]) {
    const uuid = eventUuid(ours, id)
    expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(eventIn(ours, uuid)).toBe(id)
    expect(eventIn(other, uuid)).toBeNull()
    expect(eventIn(ours, `${uuid.slice(0, -12)}${(id + 1).toString(16).padStart(12, '0')}`)).toBeNull()
  }
  for (const text of ['', 'x', '-'.repeat(36), 'z'.repeat(36)]) expect(eventIn(ours, text)).toBeNull()
})
