import { afterAll, beforeAll, expect, test } from 'vitest'
import { crewOf } from '../../../test/crew.ts'
import { startForge, type TestForge } from '../../forge.ts'

let forge: TestForge
beforeAll(async () => void (forge = await startForge()))
afterAll(async () => forge.close())

/** Iids of no record: zero, above the range of the column, above the range of a number. */
const NOWHERE = ['0', '2147483648', '9007199254740991', '99999999999999999999']

test('a number that nothing has is looked for in vain', async () => {
  const { id, path, issue, owner } = await crewOf(forge)
  const [url, at] = [await issue(), `/projects/${id}`]
  for (const iid of NOWHERE) {
    const statuses = [
      await owner.get(`${at}/issues/${iid}`),
      await owner.put(`${at}/issues/${iid}`, { title: 'x' }),
      await owner.get(`${at}/milestones?iids=${iid}`),
      await owner.post(`${url}/links`, { target_project_id: id, target_issue_iid: iid }),
      await owner.post(`${url}/notes`, { body: `/duplicate #${iid}\n/relate #${iid}\n/milestone %${iid}` }),
      await owner.post(`${url}/notes`, { body: `As in #${iid}, %${iid} and ~${iid}` }),
      await owner.post('/markdown', { text: `#${iid} %${iid} ~${iid}`, gfm: true, project: path }),
    ].map(({ status }) => status)
    expect([iid, statuses]).toEqual([iid, [404, 404, 200, 404, 202, 201, 201]])
  }
})

test('a number that leaves none for others, and a weight beyond measure, are refused', async () => {
  const { id, issue, owner } = await crewOf(forge)
  const url = await issue()
  for (const iid of NOWHERE) {
    const { status, body } = await owner.post(`/projects/${id}/issues`, { title: 'x', iid })
    expect([iid, status, body.error]).toEqual([iid, 400, 'iid is invalid'])
  }
  expect(await owner.put(url, { weight: 2 ** 31 })).toMatchObject({
    status: 400,
    body: { message: { weight: ['must be less than or equal to 2147483647'] } },
  })
  expect((await owner.post(`/projects/${id}/issues`, { title: 'next' })).body.iid).toBe(2)
})
