import { expect, test } from 'vitest'
import { openProposals } from '../../../../test/proposals.ts'
import { startForge } from '../../../forge.ts'

test('what cannot be proposed is refused, and nothing moves', async () => {
  await using forge = await startForge()
  const [jane, stranger] = [await forge.user(), await forge.user()]
  const { project, url, propose } = await openProposals(forge, jane)
  const known = await propose('Known')
  const [own, hidden] = [await forge.project({}, jane), await forge.project({ visibility: 'private' }, stranger)]
  const { body: fork } = await jane.post(`/projects/${project.id}/fork`, { name: 'Fork', path: 'fork' })
  await forge.settle()
  await jane.put(`/projects/${project.id}`, { merge_requests_enabled: false })
  const ofFork = `/projects/${fork.id}/merge_requests`
  const disabled = await jane.post(ofFork, {
    source_branch: 'branch-1',
    target_branch: 'master',
    title: 'x',
    target_project_id: project.id,
  })
  expect(disabled).toMatchObject({ status: 422, body: { error: ['Target project has disabled merge requests'] } })
  await jane.put(`/projects/${project.id}`, { merge_requests_enabled: true })

  const input = { source_branch: 'branch-1', target_branch: 'master', title: 'x' }
  const events = await forge.events()
  const refusals: [Record<string, unknown>, number, unknown][] = [
    [{ title: ' ' }, 400, { message: { title: ["can't be blank"] } }],
    [{ title: 'x'.repeat(256) }, 400, { message: { title: ['is too long (maximum is 255 characters)'] } }],
    [{ target_branch: 'branch-1' }, 422, { error: ['You can not use same project/branch for source and target'] }],
    [{ source_branch: 'nowhere' }, 422, { error: ['Source branch "nowhere" does not exist'] }],
    [{ target_branch: 'nowhere' }, 422, { error: ['Target branch "nowhere" does not exist'] }],
    [{}, 409, { message: ['Cannot Create: This merge request already exists: ["Known"]'] }],
    [{ target_project_id: own.id }, 422, { error: ['Source project is not a fork of the target project'] }],
    [{ target_project_id: hidden.id }, 404, { message: '404 Not found' }],
  ]
  for (const [more, status, body] of refusals)
    expect([more, await jane.post(url, { ...input, ...more })]).toMatchObject([more, { status, body }])
  for (const name of ['title', 'target_branch']) {
    const refusal = { message: `${name} is empty`, error: `${name} is empty` }
    expect(await jane.put(known.url, { [name]: '' })).toMatchObject({ status: 400, body: refusal })
  }
  expect(await forge.events()).toEqual(events)
  expect((await jane.get(url)).body).toMatchObject([{ title: 'Known', target_branch: 'master' }])
  expect((await jane.get(ofFork)).body).toEqual([])
})

test('arrays come in every spelling, and an empty filter is none', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { url, propose } = await openProposals(forge, jane)
  for (const title of ['one', 'two', 'three']) await propose(title)
  const found = async (query: Record<string, unknown>) =>
    (await jane.get(url, query)).body.map(({ title }: { title: string }) => title)
  for (const query of [{ 'iids[0]': 1, 'iids[1]': 3 }, { iids: [1, 3] }, { iids: '1,3' }])
    expect([query, await found(query)]).toEqual([query, ['three', 'one']])
  const all = ['three', 'two', 'one']
  for (const name of ['iids', 'iids[]', 'author_id', 'created_after', 'updated_before', 'not[author_id]'])
    expect([name, await found({ [name]: '' })]).toEqual([name, all])
  expect((await jane.get(url, { 'iids[a]': 1 })).status).toBe(400)
})
