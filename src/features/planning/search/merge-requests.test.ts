import { expect, test } from 'vitest'
import { openProposals } from '../../../../test/proposals.ts'
import { costOf } from '../../../../test/sources.ts'
import { timestamp } from '../../../clock.ts'
import { startForge, type Person } from '../../../forge.ts'

test('merge requests are found by words, as far as one sees them', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const open = await openProposals(forge, owner, { visibility: 'public' })
  const closed = await openProposals(forge, owner)
  const [guest, stranger] = [await closed.member(10), await forge.user()]
  const shown = await open.propose('Needle in the open')
  const hidden = await closed.propose('Hidden', { description: 'a needle' })
  await closed.propose('Haystack')
  const found = async (who: Person, at: string, query: Record<string, unknown> = {}) => {
    const { status, body } = await who.get(`${at}/search`, { scope: 'merge_requests', search: 'needle', ...query })
    expect(status).toBe(200)
    return (body as { id: number }[]).map(({ id }) => id)
  }
  expect(await found(owner, '')).toEqual([hidden.id, shown.id])
  expect(await found(owner, '', { sort: 'asc' })).toEqual([shown.id, hidden.id])
  for (const who of [guest, stranger]) expect(await found(who, '')).toEqual([shown.id])
  expect(await found(owner, closed.at)).toEqual([hidden.id])
  expect(await found(guest, closed.at)).toEqual([])
  expect(await found(stranger, open.at)).toEqual([shown.id])

  // The author finds the merge request and the notes on it.
  const now = timestamp(forge.clock)
  await forge.app.db
    .insertInto('notes')
    .values({
      project_id: closed.project.id,
      merge_request_id: hidden.id,
      author_id: owner.id,
      discussion_id: 'd'.repeat(40),
      body: 'needle said',
      created_at: now,
      updated_at: now,
    } as never)
    .execute()
  expect(await found(guest, closed.at, { scope: 'notes' })).toEqual([])
  await forge.app.db
    .insertInto('merge_request_reviewers')
    .values({ merge_request_id: hidden.id, user_id: guest.id, created_at: now })
    .execute()
  expect(await found(guest, '')).toEqual([hidden.id, shown.id])
  expect(await found(guest, closed.at)).toEqual([hidden.id])
  const notes = await guest.get(`${closed.at}/search`, { scope: 'notes', search: 'needle' })
  expect(notes.body).toMatchObject([
    { noteable_type: 'MergeRequest', noteable_id: hidden.id, noteable_iid: hidden.iid },
  ])
  expect((await guest.get('/user_counts')).body).toMatchObject({
    merge_requests: 0,
    assigned_merge_requests: 0,
    review_requested_merge_requests: 1,
  })

  await owner.put(shown.url, { state_event: 'close' })
  expect(await found(owner, '', { state: 'closed' })).toEqual([shown.id])
  expect(await found(owner, '', { state: 'opened' })).toEqual([hidden.id])
  expect(await found(owner, '', { state: 'merged' })).toEqual([])
  await owner.put(closed.at, { merge_requests_access_level: 'disabled' })
  expect(await found(owner, closed.at)).toEqual([])
})

test('a page costs the same, however many are found', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const { propose } = await openProposals(forge, owner)
  const ask = () => owner.get('/search', { scope: 'merge_requests', search: 'needle' })
  await propose('needle')
  const few = await costOf(forge, ask)
  for (let n = 0; n < 3; n++) await propose(`needle ${n}`)
  expect((await ask()).body).toHaveLength(4)
  expect(await costOf(forge, ask)).toBe(few)
})
