import { expect, test } from 'vitest'
import { startForge, type Person } from '../../../forge.ts'

test('viewers see the mentioned issues that they have access to', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const owner = await forge.user()
  const project = await forge.project({ visibility: 'public' }, owner)
  const hidden = await forge.project({ visibility: 'private' }, owner)
  const [assignee, guest, reporter, stranger] = [
    await forge.user(),
    await forge.user(),
    await forge.user(),
    await forge.user(),
  ]
  await owner.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
  await owner.post(`/projects/${project.id}/members`, { user_id: reporter.id, access_level: 20 })
  const issue = async (at: { id: number }, more = {}) =>
    (await owner.post(`/projects/${at.id}/issues`, { title: 'One', ...more })).body as { id: number; iid: number }
  const [open, closing] = [await issue(project, { assignee_ids: [owner.id] }), await issue(project)]
  const secret = await issue(project, { assignee_ids: [assignee.id] })
  await owner.put(`/projects/${project.id}/issues/${secret.iid}`, { confidential: true })
  const elsewhere = await issue(hidden)
  await issue(project)
  const { path_with_namespace } = (await owner.get(`/projects/${hidden.id}`)).body
  const description = `Closes #${closing.iid}, see #${secret.iid} and ${path_with_namespace}#${elsewhere.iid}`
  const { iid } = await forge.mergeRequest(project, { description }, owner)
  const url = `/projects/${project.id}/merge_requests/${iid}`
  await owner.post(`${url}/notes`, { body: `Also #${open.iid}, once more #${closing.iid}` })
  await forge.settle()

  const seenBy = async (who: Person) => {
    const { status, body } = await who.get(`${url}/related_issues`)
    expect(status).toBe(200)
    return body.map((one: { id: number }) => one.id)
  }
  const all = [open.id, closing.id, secret.id, elsewhere.id]
  expect(await seenBy(owner)).toEqual(all)
  expect(await seenBy(root)).toEqual(all)
  expect(await seenBy(reporter)).toEqual(all.slice(0, 3))
  expect(await seenBy(assignee)).toEqual(all.slice(0, 3))
  expect(await seenBy(guest)).toEqual(all.slice(0, 2))
  expect(await seenBy(stranger)).toEqual(all.slice(0, 2))
  const [first] = (await owner.get(`${url}/related_issues`, { per_page: 1 })).body
  expect(first).toMatchObject({ iid: open.iid, references: { short: `#${open.iid}` } })
  const cost = (per_page: number) => forge.queries(() => owner.get(`${url}/related_issues`, { per_page }))
  // The first issue is about the owner alone, whom the request has read by then.
  await cost(2)
  expect(await cost(4)).toBe(await cost(3))

  await owner.put(`/projects/${project.id}`, { issues_access_level: 'disabled' })
  expect(await seenBy(owner)).toEqual([elsewhere.id])
  expect(await seenBy(stranger)).toEqual([])
})
