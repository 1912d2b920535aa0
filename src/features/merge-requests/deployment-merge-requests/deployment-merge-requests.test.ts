import { expect, test } from 'vitest'
import { HOUR } from '../../../clock.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

async function deployable(forge: TestForge) {
  const { administrator: root } = forge
  const project = await forge.project({ visibility: 'public' })
  await forge.seed(project, { README: 'x' })
  const url = `/projects/${project.id}`
  const merge = async (branch: string) => {
    await forge.seed(project, { [branch]: branch }, { branch })
    const { body: made } = await root.post(`${url}/merge_requests`, {
      source_branch: branch,
      target_branch: 'master',
      title: branch,
    })
    expect((await root.put(`${url}/merge_requests/${made.iid}/merge`)).status).toBe(200)
    return (await root.get(`${url}/repository/branches/master`)).body.commit.id as string
  }
  const deploy = async (sha: string, environment = 'live', status = 'success') => {
    const input = { environment, sha, ref: 'master', tag: false, status }
    return (await root.post(`${url}/deployments`, input)).body.id as number
  }
  return { url, merge, deploy }
}

const titlesOf = (body: { title: string }[]) => body.map(({ title }) => title)

test('a deployment brings what was merged since the one before', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const { url, merge, deploy } = await deployable(forge)
  const brought = async (id: number) => titlesOf((await root.get(`${url}/deployments/${id}/merge_requests`)).body)

  const first = await deploy(await merge('one'))
  await merge('two')
  const second = await deploy(await merge('three'))
  expect(await brought(first)).toEqual(['one'])
  expect(await brought(second)).toEqual(['three', 'two'])
})

test('lists are narrowed by where and when merge requests were deployed', async () => {
  await using forge = await startForge()
  const { administrator: root, clock } = forge
  const { url, merge, deploy } = await deployable(forge)
  const [reporter, guest] = [await forge.user(), await forge.user()]
  await root.post(`${url}/members`, { user_id: reporter.id, access_level: 20 })
  const group = await forge.group({ visibility: 'public' })
  const listed = async (who: Person, input: Record<string, unknown>) => {
    const answers: unknown[] = []
    for (const path of [`${url}/merge_requests`, '/merge_requests']) {
      const { body, headers } = await who.get(path, { scope: 'all', sort: 'asc', ...input })
      expect(headers.get('x-total')).toBe(String(body.length))
      answers.push(titlesOf(body))
    }
    expect(answers[0]).toEqual(answers[1])
    expect((await who.get(`/groups/${group.id}/merge_requests`, input)).body).toEqual([])
    return answers[0]
  }

  const one = await merge('one')
  await deploy(one)
  const between = clock.now().toISOString()
  clock.advance(HOUR)
  const two = await merge('two')
  await deploy(two)
  await deploy(two, 'test')
  await merge('three')
  await deploy(await merge('four'), 'broken', 'failed')
  await forge.settle()
  for (const [input, titles] of [
    [{ environment: 'live' }, ['one', 'two']],
    [{ environment: 'test' }, ['one', 'two']],
    [{ environment: 'LIVE' }, []],
    [{ environment: 'broken' }, []],
    [{ deployed_before: between, environment: 'test' }, []],
    [{ deployed_after: between, environment: 'live' }, ['two']],
    [{ deployed_after: between }, ['one', 'two']],
    [{ deployed_before: between }, ['one']],
    [{ environment: 'live', search: 'two' }, ['two']],
  ] as const) {
    expect(await listed(root, input), JSON.stringify(input)).toEqual(titles)
    expect(await listed(reporter, input)).toEqual(titles)
    // Users who may not see deployments get an empty list.
    expect(await listed(guest, input)).toEqual([])
  }
  await root.put(url, { builds_access_level: 'disabled' })
  expect(await listed(reporter, { environment: 'live' })).toEqual([])
  expect(await forge.app.db.selectFrom('deployments').select('id').where('linked', '=', true).execute()).toHaveLength(3)
})

test('deployments of before there were links are linked by the hour', async () => {
  await using forge = await startForge()
  const { administrator: root, clock } = forge
  const { url, merge, deploy } = await deployable(forge)
  await deploy(await merge('one'))
  await forge.settle()
  const { db } = forge.app
  await db.deleteFrom('deployment_merge_requests').execute()
  await db.updateTable('deployments').set({ linked: false }).execute()
  const listed = async () => titlesOf((await root.get(`${url}/merge_requests`, { environment: 'live' })).body)
  expect(await listed()).toEqual([])
  clock.advance(HOUR)
  await forge.settle()
  expect(await listed()).toEqual(['one'])
})
