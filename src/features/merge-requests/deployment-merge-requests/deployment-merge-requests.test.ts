import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('a deployment brings what was merged since the one before', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const project = await forge.project()
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
  const deploy = async (sha: string) => {
    const wish = { environment: 'live', sha, ref: 'master', tag: false, status: 'success' }
    return (await root.post(`${url}/deployments`, wish)).body.id as number
  }
  const brought = async (id: number) =>
    (await root.get(`${url}/deployments/${id}/merge_requests`)).body.map(({ title }: { title: string }) => title)

  const first = await deploy(await merge('one'))
  await merge('two')
  const second = await deploy(await merge('three'))
  expect(await brought(first)).toEqual(['one'])
  expect(await brought(second)).toEqual(['three', 'two'])
})
