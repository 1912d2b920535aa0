import { expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

async function begin(forge: TestForge, count: number) {
  const { administrator: root } = forge
  const project = await forge.project()
  const people: Person[] = []
  for (let n = 0; n < count; n++) people.push(await forge.user())
  for (const { id } of people) await root.post(`/projects/${project.id}/members`, { user_id: id, access_level: 30 })
  const reviewer_ids = people.map(({ id }) => id)
  const { iid } = await forge.mergeRequest(project, { reviewer_ids })
  const url = `/projects/${project.id}/merge_requests/${iid}`
  const states = async () =>
    (await root.get(`${url}/reviewers`)).body.map((one: { state: string }) => one.state) as string[]
  return { root, project, people, url, states }
}

test('reviewers are told with how far they are', async () => {
  await using forge = await startForge()
  const { root, project, people, url, states } = await begin(forge, 3)
  const [jane, joe] = people
  const { status, body } = await root.get(`${url}/reviewers`)
  expect(status).toBe(200)
  expect(body).toEqual(
    people.map(({ id, username }) => ({
      user: expect.objectContaining({ id, username, state: 'active', web_url: expect.stringMatching(username) }),
      state: 'unreviewed',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    })),
  )

  await jane!.post(`${url}/approve`)
  await joe!.post(`${url}/notes`, { body: 'A word is no review yet' })
  expect(await states()).toEqual(['approved', 'unreviewed', 'unreviewed'])
  await joe!.post(`${url}/draft_notes`, { note: 'This is' })
  await joe!.post(`${url}/draft_notes/bulk_publish`)
  expect(await states()).toEqual(['approved', 'reviewed', 'unreviewed'])
  await jane!.post(`${url}/unapprove`)
  expect(await states()).toEqual(['unapproved', 'reviewed', 'unreviewed'])

  await root.put(url, { reviewer_ids: [joe!.id] })
  expect(await states()).toEqual(['reviewed'])
  await root.put(url, { reviewer_ids: [] })
  expect(await states()).toEqual([])
  const other = await forge.mergeRequest(project)
  expect((await root.get(`/projects/${project.id}/merge_requests/${other.iid}/reviewers`)).body).toEqual([])
})

test('they come in pages, each of as many queries as any other', async () => {
  await using forge = await startForge()
  const { root, people, url } = await begin(forge, 5)
  const page = async (page: number, per_page: number) => {
    const { body, headers } = await root.get(`${url}/reviewers`, { page, per_page })
    return [body.map((one: { user: { id: number } }) => one.user.id), headers.get('x-total')]
  }
  const ids = people.map(({ id }) => id)
  expect(await page(1, 2)).toEqual([ids.slice(0, 2), '5'])
  expect(await page(3, 2)).toEqual([ids.slice(4), '5'])
  const cost = (per_page: number) => forge.queries(() => page(1, per_page))
  await cost(1)
  expect(await cost(4)).toBe(await cost(1))
})
